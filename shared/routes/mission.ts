import { flightLogList, flightLogsErased } from '../schemas/flight-logs.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS, media } from './row-parts.ts';

const { row, later } = domain({
  lane: 'front',
  feature: 'flight',
  profiles: 'DG',
});

export const missionRows = [
  later('mission.get', 'GET /api/mission', 'key read ok -', 'the mission'),
  later('mission.put', 'PUT /api/mission', 'key flight ok - aircraft', 'replace it', {
    limits: LIMITS.slow,
    bodyKind: 'json',
  }),
  later('mission.delete', 'DELETE /api/mission', 'key flight ok - aircraft', 'clear it', {
    limits: LIMITS.slow,
  }),
  later('fence.get', 'GET /api/fence', 'key read ok -', 'the fence'),
  later('fence.put', 'PUT /api/fence', 'key flight ok - aircraft', 'replace it', {
    limits: LIMITS.slow,
    bodyKind: 'json',
  }),
  later('fence.delete', 'DELETE /api/fence', 'key destructive ok - aircraft', 'clear it', {
    limits: LIMITS.slow,
  }),
  later('rally.get', 'GET /api/rally', 'key read ok -', 'rally points'),
  later('rally.put', 'PUT /api/rally', 'key flight ok - aircraft', 'replace them', {
    limits: LIMITS.slow,
    bodyKind: 'json',
  }),
  later('rally.delete', 'DELETE /api/rally', 'key flight ok - aircraft', 'clear them', {
    limits: LIMITS.slow,
  }),
  row('flight-logs.get', 'GET /api/flight-logs', 'key read ok -', 'logs on the vehicle', {
    limits: { ...LIMITS.read, timeoutMs: LIMITS.slow.timeoutMs },
    fails: ['E_NO_FC', 'E_UPSTREAM_DOWN', 'E_UPSTREAM', 'E_TIMEOUT'],
    responses: json('by their numbers', flightLogList),
  }),
  row('flight-logs.id.get', 'GET /api/flight-logs/{id}', 'key read ok -', 'one log', {
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
  row('flight-logs.delete', 'DELETE /api/flight-logs', 'key destructive ok guard config', 'erase all', {
    limits: LIMITS.slow,
    fails: ['E_NO_FC', 'E_UPSTREAM_DOWN', 'E_UPSTREAM', 'E_TIMEOUT'],
    responses: json('the vehicle lists fewer logs now', flightLogsErased),
  }),
] as const satisfies readonly Row[];
