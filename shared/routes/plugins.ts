import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { LIMITS, PARAM } from './row-parts.ts';

const { later } = domain({
  lane: 'residual',
  feature: 'plugins',
  profiles: 'DG',
  params: { lang: PARAM.lang, perm: PARAM.perm, tool: PARAM.id },
});

export const pluginsRows = [
  later('plugins.get', 'GET /api/plugins', 'key read ok -', 'extensions'),
  later('plugins.id.get', 'GET /api/plugins/{id}', 'key read ok -', 'one extension'),
  later(
    'plugins.parse.post',
    'POST /api/plugins/parse',
    'key admin ok - config',
    'inspect an archive, install nothing',
    { limits: LIMITS.upload, bodyKind: 'stream' },
  ),
  later(
    'plugins.install.post',
    'POST /api/plugins/install',
    'key admin forbid guard config',
    'install an archive',
    { limits: LIMITS.upload, bodyKind: 'stream' },
  ),
  later(
    'plugins.install-from-url.post',
    'POST /api/plugins/install_from_url',
    'key admin forbid guard config',
    'install from a URL with a pinned sha256',
    { bodyKind: 'json' },
  ),
  later(
    'plugins.id.grant.post',
    'POST /api/plugins/{id}/grant',
    'key none forbid guard config',
    'grant a permission',
    { bodyKind: 'json' },
  ),
  later(
    'plugins.id.perms.perm.delete',
    'DELETE /api/plugins/{id}/perms/{perm}',
    'key admin ok guard config',
    'revoke a permission',
  ),
  later(
    'plugins.id.enable.post',
    'POST /api/plugins/{id}/enable',
    'key admin forbid guard config',
    'enable',
    { bodyKind: 'json' },
  ),
  later('plugins.id.disable.post', 'POST /api/plugins/{id}/disable', 'key admin ok guard config', 'disable', {
    bodyKind: 'json',
  }),
  later('plugins.id.delete', 'DELETE /api/plugins/{id}', 'key destructive ok guard config', 'remove'),
  later(
    'plugins.id.config.put',
    'PUT /api/plugins/{id}/config',
    'key admin ok - config',
    'set one config key of an extension',
    { bodyKind: 'json' },
  ),
  later('plugins.id.state.get', 'GET /api/plugins/{id}/state', 'key read ok -', 'published state'),
  later(
    'plugins.id.locales.lang.get',
    'GET /api/plugins/{id}/locales/{lang}',
    'key read ok -',
    'locale bundle',
  ),
  later(
    'plugins.id.gcs.path.get',
    'GET /api/plugins/{id}/gcs/{*path}',
    'key read ok -',
    "ground half's files",
  ),
  later(
    'plugins.id.tools.tool.invoke.post',
    'POST /api/plugins/{id}/tools/{tool}/invoke',
    'key admin ok - config',
    "run an extension's tool",
    { bodyKind: 'json' },
  ),
  later(
    'plugins.id.x.path.get',
    'GET /api/plugins/{id}/x/{*path}',
    'key read ok -',
    'pass through to the extension',
  ),
  later(
    'plugins.id.x.path.post',
    'POST /api/plugins/{id}/x/{*path}',
    'key none ok - config',
    'pass through',
    { limits: LIMITS.upload, bodyKind: 'stream' },
  ),
  later('plugins.id.x.path.put', 'PUT /api/plugins/{id}/x/{*path}', 'key none ok - config', 'pass through', {
    limits: LIMITS.upload,
    bodyKind: 'stream',
  }),
  later(
    'plugins.id.x.path.patch',
    'PATCH /api/plugins/{id}/x/{*path}',
    'key none ok - config',
    'pass through',
    { limits: LIMITS.upload, bodyKind: 'stream' },
  ),
  later(
    'plugins.id.x.path.delete',
    'DELETE /api/plugins/{id}/x/{*path}',
    'key none ok - config',
    'pass through',
    { limits: LIMITS.upload, bodyKind: 'stream' },
  ),
  later('plugins.id.x.path.ws', 'WS /api/plugins/{id}/x/{*path}', 'ws none ok -', 'pass through', {
    ticket: 'plugins.http:{id}',
  }),
  later('plugins.id.logs.get', 'GET /api/plugins/{id}/logs', 'key read ok -', 'its output'),
  later('plugins.id.readiness.get', 'GET /api/plugins/{id}/readiness', 'key read ok -', 'its services'),
] as const satisfies readonly Row[];
