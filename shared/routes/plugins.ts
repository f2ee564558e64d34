import { logList } from '../schemas/logs.ts';
import * as plugins from '../schemas/plugins.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { BYTES, form, json, LIMITS, media, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'residual',
  feature: 'plugins',
  refusals: 'lifecycle',
  profiles: 'DG',
  params: { lang: PARAM.lang, perm: PARAM.perm, tool: PARAM.id },
});

/** To start one waits until its processes run, or have ended again. */
const starting = { limits: LIMITS.slow } as const;
/** What is not its lifecycle: what it publishes, its tools, its own API. */
const PLAIN = { refusals: 'plain' } as const;
/** An upload: up to 64 MiB in, streamed; the extension answers as it likes. */
const PASSED = {
  ...media('its own answer', '*/*'),
  503: { description: 'it does not serve', mediaType: 'application/json', schema: plugins.notServing },
} as const;
const PASSED_PATH = { ...PLAIN, params: { id: PARAM.id, path: PARAM.passed } } as const;
const through = {
  ...PASSED_PATH,
  limits: LIMITS.upload,
  bodyKind: 'stream',
  streamed: { 'application/octet-stream': BYTES },
  responses: PASSED,
} as const;
const ARCHIVE = { bodyKind: 'stream', streamed: form('the archive, a .svcplug') } as const;

export const pluginsRows = [
  row('plugins.get', 'GET /api/plugins', 'key read ok -', 'extensions', {
    responses: json('by id', plugins.installs),
  }),
  row('plugins.id.get', 'GET /api/plugins/{id}', 'key read ok -', 'one extension', {
    responses: json('its record, grants and manifest', plugins.detail),
  }),
  row(
    'plugins.parse.post',
    'POST /api/plugins/parse',
    'key admin ok - config',
    'inspect an archive without installing it',
    {
      limits: LIMITS.upload,
      ...ARCHIVE,
      responses: json(
        'its manifest and the permissions it wants; multipart, the archive as `file`',
        plugins.parsed,
      ),
    },
  ),
  row(
    'plugins.install.post',
    'POST /api/plugins/install',
    'key admin forbid guard config',
    'install an extension',
    {
      limits: LIMITS.upload,
      ...ARCHIVE,
      query: plugins.installQuery,
      long: true,
      responses: json('installed, not running; multipart, the archive as `file`', plugins.installed),
    },
  ),
  row(
    'plugins.install-from-url.post',
    'POST /api/plugins/install_from_url',
    'key admin forbid guard config',
    'install an extension from a URL with a pinned sha256',
    {
      limits: LIMITS.download,
      body: plugins.installFromUrl,
      long: true,
      responses: json('installed, not running', plugins.installed),
    },
  ),
  row(
    'plugins.id.grant.post',
    'POST /api/plugins/{id}/grant',
    'key none forbid guard config',
    'grant a permission to an extension',
    { ...starting, body: plugins.grantRequest, responses: json('granted', plugins.done) },
  ),
  row(
    'plugins.id.perms.perm.delete',
    'DELETE /api/plugins/{id}/perms/{perm}',
    'key admin ok guard config',
    'revoke a permission of an extension',
    { ...starting, responses: json('what is still granted', plugins.revoked) },
  ),
  row(
    'plugins.id.enable.post',
    'POST /api/plugins/{id}/enable',
    'key admin forbid guard config',
    'enable an extension',
    {
      ...starting,
      bodyKind: 'json',
      responses: json('it runs, if it has an agent half', plugins.done),
    },
  ),
  row(
    'plugins.id.disable.post',
    'POST /api/plugins/{id}/disable',
    'key admin ok guard config',
    'disable an extension',
    {
      ...starting,
      bodyKind: 'json',
      responses: json('no part of it runs', plugins.done),
    },
  ),
  row(
    'plugins.id.delete',
    'DELETE /api/plugins/{id}',
    'key destructive ok guard config',
    'remove an extension',
    {
      ...starting,
      query: plugins.removeQuery,
      responses: json('removed', plugins.done),
    },
  ),
  row(
    'plugins.id.config.put',
    'PUT /api/plugins/{id}/config',
    'key admin ok - config',
    'set one config key of an extension',
    {
      body: plugins.configWrite,
      fails: ['E_INVALID_VALUE', 'E_TOO_LARGE', 'E_STORE'],
      responses: json('stored, and sent to it if it runs', plugins.configWritten),
    },
  ),
  row(
    'plugins.id.state.get',
    'GET /api/plugins/{id}/state',
    'key read ok -',
    'the state an extension publishes',
    {
      ...PLAIN,
      responses: json('what it published in the last 10 s', plugins.state),
    },
  ),
  row(
    'plugins.id.locales.lang.get',
    'GET /api/plugins/{id}/locales/{lang}',
    'key read ok -',
    'texts of an extension in one language',
    { responses: json('its locales/<lang>.json', { type: 'object' }) },
  ),
  row(
    'plugins.id.gcs.path.get',
    'GET /api/plugins/{id}/gcs/{*path}',
    'key read ok -',
    "files of an extension's page",
    { readTicket: 'segment', responses: media('the file', '*/*') },
  ),
  row(
    'plugins.id.tools.tool.invoke.post',
    'POST /api/plugins/{id}/tools/{tool}/invoke',
    'key admin ok - config',
    "run an extension's tool",
    {
      ...starting,
      ...PLAIN,
      body: plugins.invoke,
      fails: ['E_INTERNAL', 'E_BAD_REQUEST', 'E_CAPABILITY', 'E_TIMEOUT'],
      responses: json('what the tool returned', plugins.invoked),
    },
  ),
  row(
    'plugins.id.x.path.get',
    'GET /api/plugins/{id}/x/{*path}',
    'key read ok -',
    'pass through to the extension',
    { ...PASSED_PATH, limits: LIMITS.stream, responses: PASSED },
  ),
  row(
    'plugins.id.x.path.post',
    'POST /api/plugins/{id}/x/{*path}',
    'key none ok - config',
    'pass through to the extension',
    through,
  ),
  row(
    'plugins.id.x.path.put',
    'PUT /api/plugins/{id}/x/{*path}',
    'key none ok - config',
    'pass through to the extension',
    through,
  ),
  row(
    'plugins.id.x.path.patch',
    'PATCH /api/plugins/{id}/x/{*path}',
    'key none ok - config',
    'pass through to the extension',
    through,
  ),
  row(
    'plugins.id.x.path.delete',
    'DELETE /api/plugins/{id}/x/{*path}',
    'key none ok - config',
    'pass through to the extension',
    through,
  ),
  row(
    'plugins.id.x.path.ws',
    'WS /api/plugins/{id}/x/{*path}',
    'ws none ok -',
    'pass through to the extension',
    {
      ...PASSED_PATH,
      ticket: 'plugins.http:{id}',
      responses: media('whatever the two say', 'application/octet-stream'),
      limits: LIMITS.stream,
    },
  ),
  row('plugins.id.logs.get', 'GET /api/plugins/{id}/logs', 'key read ok -', 'output of an extension', {
    query: plugins.logQuery,
    fails: ['E_STORE'],
    responses: json('newest first', logList),
  }),
  row(
    'plugins.id.readiness.get',
    'GET /api/plugins/{id}/readiness',
    'key read ok -',
    "whether an extension's parts run",
    {
      responses: json('each of its parts that runs', plugins.readiness),
    },
  ),
] as const satisfies readonly Row[];
