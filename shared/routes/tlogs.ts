import { tlogRemoved, tlogs } from '../schemas/tlogs.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS, media, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'residual',
  feature: 'flight',
  profiles: 'DG',
  params: { name: PARAM.file },
});

export const tlogRows = [
  row('tlogs.get', 'GET /api/tlogs', 'key read ok -', 'telemetry logs of the node', {
    responses: json('telemetry logs', tlogs),
  }),
  row('tlogs.name.get', 'GET /api/tlogs/{name}', 'key read ok -', 'one, HTTP range', {
    readTicket: 'query',
    limits: LIMITS.stream,
    fails: ['E_RANGE_NOT_SATISFIABLE', 'E_PRECONDITION'],
    responses: media(
      'every frame, each after 8 bytes of microseconds since 1970',
      'application/octet-stream',
    ),
  }),
  row('tlogs.name.delete', 'DELETE /api/tlogs/{name}', 'key destructive ok - config', 'delete one', {
    fails: ['E_BUSY'],
    responses: json('deleted', tlogRemoved),
  }),
] as const satisfies readonly Row[];
