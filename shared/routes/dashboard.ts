import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { LIMITS, media, PARAM } from './row-parts.ts';

const { row, later } = domain({
  lane: 'residual',
  feature: 'dashboard',
  profiles: 'DG',
  params: { name: PARAM.file },
});

export const dashboardRows = [
  row('root.get', 'GET /', 'public none ok -', 'browser dashboard shell', {
    responses: media('a page', 'text/html'),
  }),
  row('assets.path.get', 'GET /assets/{*path}', 'public none ok -', 'its assets', {
    responses: media('a script, a style sheet or a picture', 'application/octet-stream'),
  }),
  later('maps.get', 'GET /api/maps', 'key read ok -', 'offline map files'),
  later('maps.name.get', 'GET /api/maps/{name}', 'key read ok -', 'one, by range', {
    readTicket: 'query',
    limits: LIMITS.stream,
  }),
  later('maps.name.put', 'PUT /api/maps/{name}', 'key admin ok - config', 'store a map file', {
    limits: LIMITS.upload,
    bodyKind: 'stream',
  }),
  later('maps.name.delete', 'DELETE /api/maps/{name}', 'key destructive ok - config', 'delete one'),
] as const satisfies readonly Row[];
