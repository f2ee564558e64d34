import type { Row } from './row.ts';
import { BARE_WRITE, READ, WRITE } from './row-parts.ts';

const BASE = { lane: 'front', feature: 'fleet', profiles: 'DG' } as const;

export const fleetRows = [
  {
    ...BASE,
    ...READ,
    id: 'fleet.get',
    path: '/api/fleet',
    summary: 'enrolment and peers in one document',
  },
  {
    ...BASE,
    ...READ,
    id: 'fleet.enrollment.get',
    path: '/api/fleet/enrollment',
    summary: "this node's enrolment",
  },
  {
    ...BASE,
    ...READ,
    id: 'fleet.peers.get',
    path: '/api/fleet/peers',
    summary: 'peers',
  },
  {
    ...BASE,
    ...WRITE,
    id: 'fleet.enroll.post',
    method: 'POST',
    path: '/api/fleet/enroll',
    access: 'key',
    scope: 'none',
    relay: 'forbid',
    armed: '-',
    summary: 'enrol with a broker',
    blast: 'config',
  },
  {
    ...BASE,
    ...BARE_WRITE,
    id: 'fleet.enrollment.delete',
    method: 'DELETE',
    path: '/api/fleet/enrollment',
    access: 'key',
    scope: 'destructive',
    relay: 'forbid',
    armed: '-',
    summary: 'leave the fleet',
    blast: 'config',
  },
] as const satisfies readonly Row[];
