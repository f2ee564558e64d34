import * as maps from '../schemas/maps.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { BYTES, json, LIMITS, media, PARAM } from './row-parts.ts';

const { row } = domain({
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
  row('maps.get', 'GET /api/maps', 'key read ok -', 'offline map files', {
    responses: json('the maps that can be used, by name', maps.mapList),
  }),
  row('maps.name.get', 'GET /api/maps/{name}', 'key read ok -', 'one, by range', {
    readTicket: 'query',
    limits: LIMITS.stream,
    fails: ['E_RANGE_NOT_SATISFIABLE', 'E_PRECONDITION'],
    responses: media('the file', 'application/vnd.pmtiles'),
  }),
  row('maps.name.put', 'PUT /api/maps/{name}', 'key admin ok - config', 'store a map file', {
    limits: LIMITS.map,
    bodyKind: 'stream',
    streamed: { 'application/octet-stream': BYTES },
    fails: ['E_INVALID_VALUE', 'E_DISK_FULL', 'E_STORE'],
    responses: json('it is stored, and replaces one of the same name', maps.mapFile),
  }),
  row('maps.name.delete', 'DELETE /api/maps/{name}', 'key destructive ok - config', 'delete one', {
    responses: json('it is gone', maps.mapRemoved),
  }),
] as const satisfies readonly Row[];
