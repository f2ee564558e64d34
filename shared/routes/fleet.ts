import { domain } from './domain.ts';
import type { Row } from './row.ts';

const { later } = domain({ lane: 'front', feature: 'fleet', profiles: 'DG' });

export const fleetRows = [
  later('fleet.get', 'GET /api/fleet', 'key read ok -', 'enrolment and peers in one document'),
  later('fleet.enrollment.get', 'GET /api/fleet/enrollment', 'key read ok -', "this node's enrolment"),
  later('fleet.peers.get', 'GET /api/fleet/peers', 'key read ok -', 'peers'),
  later('fleet.enroll.post', 'POST /api/fleet/enroll', 'key none forbid - config', 'enrol with a broker', {
    bodyKind: 'json',
  }),
  later(
    'fleet.enrollment.delete',
    'DELETE /api/fleet/enrollment',
    'key destructive forbid - config',
    'leave the fleet',
  ),
] as const satisfies readonly Row[];
