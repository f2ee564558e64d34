import { higher } from '../../../shared/auth/scopes.ts';
import { ApiError } from '../../../shared/errors.ts';
import { MASK } from '../../../shared/mask.ts';
import { toolClass } from '../../../shared/plugins/capabilities.ts';
import { requestedPermissions } from '../../../shared/plugins/manifest.ts';
import { PluginRefusal } from '../../../shared/plugins/refusal.ts';
import { type Call, FileReply, type Handler, type HandlersOf } from '../../../shared/routes/handler.ts';
import type { logsRows } from '../../../shared/routes/logs.ts';
import type { pluginsRows } from '../../../shared/routes/plugins.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { PassedCall, PassThrough } from './http/pass-through.ts';
import { downloadArchive } from './install/download.ts';
import type { Installer } from './install/installer.ts';
import { receiveArchive, withIncoming } from './install/upload.ts';
import type { Lifecycle, Source } from './lifecycle.ts';
import { grantedOf, type InstallRecord } from './record.ts';
import type { PluginStore } from './store.ts';
import { toolFailure } from './tool-failure.ts';
import { FRAME_POLICY, halvesOf, manifestView, mediaTypeOf, openFile, settingsView } from './views.ts';

interface PluginDeps {
  readonly store: PluginStore;
  readonly installer: Installer;
  readonly lifecycle: Lifecycle;
  readonly passThrough: PassThrough;
  /** The folder of the installed extensions. */
  readonly folder: string;
  readonly urlHosts: readonly string[];
  /** GET /api/logs. */
  readonly logs: Handler<(typeof logsRows)[0]>;
}

type PluginHandlers = HandlersOf<typeof pluginsRows, 'residual'>;

const TOOL_MS = 5000;
const TRUE: ReadonlySet<string> = new Set(['1', 'true', 't', 'yes', 'y', 'on']);

export function pluginHandlers(deps: PluginDeps): PluginHandlers {
  const { store, installer, lifecycle, passThrough, folder } = deps;

  const through = (method: string) => async (call: PassedCall) => passThrough.send(method, call);

  const handlers: PluginHandlers = {
    'plugins.get': async () => {
      const plugins = await store.all();
      return { plugins, installs: plugins };
    },

    'plugins.id.get': async ({ params }) => {
      const record = await store.get(params.id);
      const manifest = await lifecycle.manifestOf(record).catch((error: unknown) => {
        if (error instanceof PluginRefusal) return null; // its record can still be seen, and it can be removed
        throw error;
      });
      return {
        install: record,
        granted_capabilities: [...grantedOf(record)].toSorted(),
        manifest: manifest === null ? null : manifestView(manifest, record),
        settings:
          manifest === null ? {} : settingsView(manifest, await lifecycle.settingsOf(params.id).read()),
      };
    },

    'plugins.parse.post': async ({ body, headers }) =>
      withIncoming(folder, async (path) => {
        await receiveArchive(body, headers, path);
        return installer.parsed(path, ({ manifest, warnings }, signer, problem) => ({
          ok: true,
          plugin_id: manifest.id,
          version: manifest.version,
          name: manifest.name,
          description: manifest.description,
          author: manifest.author,
          license: manifest.license,
          risk: manifest.risk,
          signer_id: signer,
          signed: signer !== null,
          signature_problem: problem,
          halves: halvesOf(manifest),
          permissions: requestedPermissions(manifest),
          warnings,
        }));
      }),

    'plugins.install.post': async (call) => {
      const { requested_permissions: wanted = '', job_id: job = null } = parseQuery(call.query) ?? {};
      const permissions = wanted.split(',').filter((id) => id !== '');
      checkMayGrant(call, permissions);
      return withIncoming(folder, async (path) => {
        call.progress({ done: 0, total: null, text: 'receiving' });
        await receiveArchive(call.body, call.headers, path);
        return install(path, { source: 'local_file', uri: null, permissions }, job, call);
      });
    },

    'plugins.install-from-url.post': async (call) => {
      const {
        url,
        expected_sha256: sha256,
        requested_permissions: permissions = [],
        job_id: job = null,
      } = call.body;
      checkMayGrant(call, permissions);
      return withIncoming(folder, async (path) => {
        await downloadArchive({ url, sha256, hosts: deps.urlHosts, path, progress: call.progress });
        const installed = await install(path, { source: 'git_url', uri: url, permissions }, job, call);
        return { ...installed, sha256: sha256.toLowerCase() };
      });
    },

    'plugins.id.grant.post': async ({ params, body }) => {
      await lifecycle.grant(params.id, body.permission_id);
      return { ok: true };
    },

    'plugins.id.perms.perm.delete': async ({ params }) => ({
      ok: true,
      plugin_id: params.id,
      granted: await lifecycle.revoke(params.id, params.perm),
      requires_restart: false,
    }),

    'plugins.id.enable.post': async ({ params }) => {
      await lifecycle.enable(params.id);
      return { ok: true };
    },

    'plugins.id.disable.post': async ({ params }) => {
      await lifecycle.disable(params.id);
      return { ok: true };
    },

    'plugins.id.delete': async ({ params, query }) => {
      await lifecycle.remove(params.id, TRUE.has(parseQuery(query)?.['keep_data'] ?? ''));
      return { ok: true };
    },

    'plugins.id.config.put': async ({ params, body: { key, value, scope = 'drone' } }) => {
      await store.get(params.id);
      if (value === MASK) throw new ApiError('E_INVALID_VALUE', `${key}: the mask is not a value`);
      const values = await lifecycle.settingsOf(params.id).write(key, value, scope);
      lifecycle.running(params.id)?.tell('config', { values });
      return { set: true, plugin_id: params.id, key, scope };
    },

    'plugins.id.state.get': ({ params }) => {
      const state = lifecycle.publishedOf(params.id)?.fresh() ?? null;
      if (state === null)
        throw new ApiError(
          'E_NOT_FOUND',
          `The extension ${params.id} has published nothing in the last 10 s.`,
        );
      return state;
    },

    'plugins.id.locales.lang.get': async ({ params }) => {
      const file = await fileOf(params.id, `locales/${params.lang}.json`);
      return new FileReply(file, 'application/json');
    },

    'plugins.id.gcs.path.get': async ({ params }) => {
      const path = `gcs/${params.path}`;
      const file = await fileOf(params.id, path);
      return new FileReply(file, mediaTypeOf(path), {
        'content-security-policy': FRAME_POLICY,
        'cross-origin-resource-policy': 'same-origin',
      });
    },

    'plugins.id.tools.tool.invoke.post': async ({ params: { id, tool }, body, principal }) => {
      const record = await store.get(id);
      const manifest = await lifecycle.manifestOf(record);
      const found = manifest.agent?.contributes.tools.find(({ name }) => name === tool);
      const granted = grantedOf(record);
      if (found === undefined) throw toolFailure(new Error('tool_not_found'), id, tool);
      if (!granted.has('mcp.expose')) throw toolFailure(new Error('capability_denied: mcp.expose'), id, tool);
      // The row's class is the least; what the extension was granted may need more (docs/contract/extensions.md).
      const needed = higher('admin', toolClass(found.safety_class, granted));
      if (principal.scopes !== null && !principal.scopes.includes(needed))
        throw new ApiError('E_SCOPE', undefined, { required: needed, granted: principal.scopes });
      try {
        const extension = lifecycle.running(id);
        if (extension === null) throw new Error('plugin_not_running');
        const args = { tool, arguments: body.arguments ?? {} };
        return {
          plugin_id: id,
          tool,
          result: await extension.ask('tool.invoke', args, body.timeout_ms ?? TOOL_MS),
        };
      } catch (error) {
        throw toolFailure(error, id, tool);
      }
    },

    'plugins.id.x.path.get': through('GET'),
    'plugins.id.x.path.post': through('POST'),
    'plugins.id.x.path.put': through('PUT'),
    'plugins.id.x.path.patch': through('PATCH'),
    'plugins.id.x.path.delete': through('DELETE'),

    'plugins.id.logs.get': async (call) => {
      const { params, query } = call;
      await store.get(params.id);
      return deps.logs({ ...call, query: `${query === '' ? '' : `${query}&`}service=${params.id}` });
    },

    'plugins.id.readiness.get': async ({ params: { id } }) => {
      const record = await store.get(id);
      const { agent } = await lifecycle.manifestOf(record);
      return {
        ok: true,
        plugin_id: id,
        services: agent === null ? [] : [{ name: 'agent', ...readinessOf(record) }],
      };
    },
  };

  function readinessOf({ plugin_id: id, status, failure_reason: failure }: InstallRecord) {
    const extension = lifecycle.running(id);
    if (extension?.ready === true) return { ready: true, reason: null };
    if (extension === null) return { ready: false, reason: failure ?? `it is ${status}` };
    return {
      ready: false,
      reason: extension.running ? 'it has not said hello' : 'it ended, and is started again',
    };
  }

  async function fileOf(id: string, path: string) {
    return openFile(installer.folderOf(await store.get(id)), path);
  }

  async function install(
    path: string,
    source: Source,
    job: string | null,
    call: Pick<Call<Row>, 'progress'>,
  ) {
    call.progress({ done: 0, total: null, text: 'checking' });
    return installer.checked(path, async (checked) => {
      const record = await lifecycle.install(checked, source, call.progress);
      const { manifest, archive } = checked;
      return {
        ok: true as const,
        plugin_id: record.plugin_id,
        version: record.version,
        signer_id: record.signer_id,
        risk: manifest.risk,
        permissions_requested: requestedPermissions(manifest).map(({ id }) => id),
        granted: [...grantedOf(record)].toSorted(),
        job_id: job,
        warnings: archive.warnings,
      };
    });
  }

  return handlers;
}

/** Granting is the business of who holds the pairing key or the PIN, also as part of an installation. */
function checkMayGrant({ principal }: Pick<Call<Row>, 'principal'>, permissions: readonly string[]): void {
  if (permissions.length > 0 && principal.scopes !== null)
    throw new PluginRefusal(
      'permission_deny',
      'A token cannot grant permissions. Install it without, and let a person grant them.',
    );
}
