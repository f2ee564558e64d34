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
  row('root.get', 'GET /', 'public none ok -', "the node's page", {
    responses: media('a page', 'text/html'),
  }),
  row(
    'sw.get',
    'GET /sw.js',
    'public none ok -',
    'what keeps the page in a browser, so that it opens without the node',
    {
      responses: media('the script of its service worker', 'text/javascript'),
    },
  ),
  row('assets.path.get', 'GET /assets/{*path}', 'public none ok -', 'files of the page', {
    responses: media('a script, a style sheet or a picture', 'application/octet-stream'),
  }),
  row('maps.get', 'GET /api/maps', 'key read ok -', 'offline map files', {
    responses: json('the usable maps, by name', maps.mapList),
  }),
  row('maps.tiles.get', 'GET /api/maps/tiles/{source}/{z}/{x}/{y}', 'key read ok -', 'one map tile, cached', {
    params: {
      source: {
        pattern: '[a-z0-9][a-z0-9_-]{0,31}',
        description: 'id of a source in maps.sources',
        example: 'aerial',
      },
      z: { pattern: '[0-9]{1,2}', description: 'zoom', example: '15' },
      x: { pattern: '[0-9]{1,8}', description: 'column, from the west', example: '29957' },
      y: { pattern: '[0-9]{1,8}', description: 'row, from the north', example: '19775' },
    },
    limits: LIMITS.tile,
    fails: ['E_NOT_FOUND', 'E_INVALID_VALUE', 'E_BUSY', 'E_UPSTREAM', 'E_TIMEOUT'],
    responses: media('a picture', 'image/png'),
  }),
  row(
    'maps.download.post',
    'POST /api/maps/download',
    'key admin ok - config',
    'make an offline map of an area',
    {
      limits: LIMITS.area,
      long: true,
      body: maps.areaRequest,
      fails: [
        'E_NOT_FOUND',
        'E_INVALID_VALUE',
        'E_MAP_EXISTS',
        'E_BUSY',
        'E_STOPPED',
        'E_DISK_FULL',
        'E_STORE',
        'E_UPSTREAM',
      ],
      responses: json('the map, or with dry_run what it would be', maps.areaAnswer),
    },
  ),
  row('maps.name.get', 'GET /api/maps/{name}', 'key read ok -', 'a map file, by range', {
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
    responses: json('stored; replaces one of the same name', maps.mapFile),
  }),
  row('maps.name.delete', 'DELETE /api/maps/{name}', 'key destructive ok - config', 'delete a map file', {
    responses: json('deleted', maps.mapRemoved),
  }),
] as const satisfies readonly Row[];
