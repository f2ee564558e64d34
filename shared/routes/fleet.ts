import { fleetDocument, fleetEnroll, fleetEnrollment, fleetLeft, fleetPeers } from '../schemas/fleet.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS } from './row-parts.ts';

const { row } = domain({ lane: 'front', feature: 'fleet', profiles: 'DG' });

export const fleetRows = [
  row('fleet.get', 'GET /api/fleet', 'key read ok -', 'enrolment, connection and peers in one document', {
    responses: json('enrolment, connection and peers', fleetDocument),
  }),
  row('fleet.enrollment.get', 'GET /api/fleet/enrollment', 'key read ok -', "this node's enrolment", {
    responses: json('without its secrets', fleetEnrollment),
  }),
  row('fleet.peers.get', 'GET /api/fleet/peers', 'key read ok -', 'the bound radios', {
    responses: json('the bound radios', fleetPeers),
  }),
  row('fleet.enroll.post', 'POST /api/fleet/enroll', 'key none forbid - config', 'enrol with a hub', {
    limits: LIMITS.slow,
    body: fleetEnroll,
    fails: [
      'E_ENROLLED',
      'E_BUSY',
      'E_CODE',
      'E_CLOCK',
      'E_STORE',
      'E_UPSTREAM',
      'E_UPSTREAM_DOWN',
      'E_TIMEOUT',
    ],
    responses: json('enrolled; GET /api/fleet shows the connection', fleetEnrollment),
  }),
  row(
    'fleet.enrollment.delete',
    'DELETE /api/fleet/enrollment',
    'key destructive forbid - config',
    'leave the fleet',
    { fails: ['E_NOT_FOUND', 'E_STORE'], responses: json('left; the hub is not told', fleetLeft) },
  ),
] as const satisfies readonly Row[];
