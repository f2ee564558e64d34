import { flightLogList, flightLogsErased } from '../schemas/flight-logs.ts';
import {
  missionAnswer,
  missionGetQuery,
  missionPutQuery,
  missionWrite,
  missionWritten,
} from '../schemas/mission.ts';
import type { Naming } from './classes.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS, media } from './row-parts.ts';

const { row } = domain({ lane: 'front', feature: 'flight', profiles: 'DG' });

const FAILS = ['E_NO_FC', 'E_UPSTREAM_DOWN', 'E_UPSTREAM', 'E_TIMEOUT', 'E_BUSY'] as const;

const get = {
  long: true,
  limits: LIMITS.missionRead,
  query: missionGetQuery,
  fails: FAILS,
  responses: {
    200: {
      description: 'the items, a plan file, or QGC WPL 110',
      mediaType: 'application/json,text/plain',
      schema: missionAnswer,
    },
  },
} as const;

/** A plan may have a mission whatever the route. */
const NAMES = [{ kind: 'mission', in: 'document', member: '' }] as const satisfies readonly Naming[];

const put = {
  long: true,
  names: NAMES,
  limits: LIMITS.mission,
  query: missionPutQuery,
  body: missionWrite,
  bodyMedia: 'text/plain',
  fails: [...FAILS, 'E_MISSION_ITEM', 'E_MISSION_REJECTED', 'E_TOO_FAR', 'E_STICKS'],
  responses: json('the vehicle holds this', missionWritten),
} as const;

const clear = {
  long: true,
  limits: LIMITS.missionRead,
  fails: [...FAILS, 'E_MISSION_REJECTED'],
  responses: json('the vehicle holds none', missionWritten),
} as const;

export const missionRows = [
  row('mission.get', 'GET /api/mission', 'key read ok -', 'the mission', get),
  row('mission.put', 'PUT /api/mission', 'key flight ok - aircraft', 'replace the mission', put),
  row('mission.delete', 'DELETE /api/mission', 'key flight ok - aircraft', 'clear the mission', clear),
  row('fence.get', 'GET /api/fence', 'key read ok -', 'the fence', get),
  row('fence.put', 'PUT /api/fence', 'key flight ok - aircraft', 'replace the fence', put),
  row('fence.delete', 'DELETE /api/fence', 'key destructive ok - aircraft', 'clear the fence', clear),
  row('rally.get', 'GET /api/rally', 'key read ok -', 'rally points', get),
  row('rally.put', 'PUT /api/rally', 'key flight ok - aircraft', 'replace the rally points', put),
  row('rally.delete', 'DELETE /api/rally', 'key flight ok - aircraft', 'clear the rally points', clear),
  row('flight-logs.get', 'GET /api/flight-logs', 'key read ok -', 'logs on the vehicle', {
    limits: { ...LIMITS.read, timeoutMs: LIMITS.slow.timeoutMs },
    fails: ['E_NO_FC', 'E_UPSTREAM_DOWN', 'E_UPSTREAM', 'E_TIMEOUT'],
    responses: json('by their numbers', flightLogList),
  }),
  row('flight-logs.id.get', 'GET /api/flight-logs/{id}', 'key read ok -', 'download one log', {
    readTicket: 'query',
    limits: LIMITS.stream,
    fails: [
      'E_ARMED',
      'E_BUSY',
      'E_RANGE_NOT_SATISFIABLE',
      'E_NO_FC',
      'E_UPSTREAM_DOWN',
      'E_DISK_FULL',
      'E_STORE',
      'E_TIMEOUT',
    ],
    responses: media('the log as it comes, whole or a range of it', 'application/octet-stream'),
  }),
  row(
    'flight-logs.delete',
    'DELETE /api/flight-logs',
    'key destructive ok guard config',
    'erase all logs on the vehicle',
    {
      limits: LIMITS.slow,
      fails: ['E_NO_FC', 'E_UPSTREAM_DOWN', 'E_UPSTREAM', 'E_TIMEOUT'],
      responses: json('the vehicle lists fewer logs now', flightLogsErased),
    },
  ),
] as const satisfies readonly Row[];
