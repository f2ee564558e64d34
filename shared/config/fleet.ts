import { SCOPES } from '../auth/scopes.ts';
import { GUARDED, section } from './leaf.ts';

const FLEET = { 'x-restart': ['svc-fleet'] } as const;
/** Local by intent: whoever holds a credential of the fleet cannot widen what the fleet may do. */
const AUTHORITY = {
  'x-class': 'keyonly',
  'x-reason': 'decides what the fleet may do on this node',
  'x-restart': ['svc-control'],
  ...GUARDED,
} as const;

/** The section `fleet`: what an enrolled node tells, and whom it obeys. */
export const fleetConfig = section('Hub and fleet', 'fleet', {
  telemetry_hz: {
    title: 'Telemetry to the fleet',
    type: 'number',
    minimum: 0,
    maximum: 10,
    default: 1,
    'x-unit': '1/s',
    description: 'telemetry messages a second to the fleet; 0: none',
    'x-restart': ['svc-fleet', 'svc-control'],
  },
  watched_hz: {
    title: 'Telemetry while watched',
    type: 'number',
    minimum: 0,
    maximum: 10,
    default: 5,
    'x-unit': '1/s',
    description:
      'telemetry messages a second while somebody looks at this node on the hub’s page; 0: no more than else',
    'x-restart': ['svc-control'],
  },
  pictures: {
    title: 'Pictures to the fleet',
    type: 'boolean',
    default: true,
    description:
      'whether small pictures go to the fleet while somebody looks at them on the hub’s page; fleet.scopes must have read',
    'x-restart': ['svc-control'],
  },
  telemetry_fields: {
    title: 'Telemetry values sent',
    type: 'array',
    maxItems: 32,
    items: { type: 'string', pattern: '^[a-z_]{1,32}$' },
    // Without mavlink_alive nobody sees that the others are of a vehicle that has gone silent.
    default: ['mavlink_alive', 'mode', 'armed', 'position', 'velocity', 'attitude', 'battery', 'gps', 'rc'],
    description: 'the members of telemetry sent to the fleet',
    ...FLEET,
  },
  flight_tracks: {
    title: 'Tracks of flights',
    type: 'boolean',
    default: true,
    description: 'whether the flights that this node reports to the fleet have their tracks',
    'x-restart': ['svc-residual'],
  },
  queue_mb: {
    title: 'Space while the hub is away',
    type: 'integer',
    minimum: 1,
    maximum: 1024,
    default: 32,
    'x-unit': 'MB',
    description: 'disk space for events and telemetry kept while the hub is away',
    ...FLEET,
  },
  scopes: {
    title: 'Rights of the fleet',
    type: 'array',
    maxItems: SCOPES.length,
    items: { enum: SCOPES.filter((scope) => scope !== 'secret_read') },
    uniqueItems: true,
    default: ['read', 'safe_write', 'admin'],
    description: 'the scopes that fleet calls may use; flight and destructive also need an operator',
    ...AUTHORITY,
  },
  operators: {
    title: 'Operators',
    type: 'array',
    maxItems: 64,
    items: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,31} [A-Za-z0-9_-]{43}$',
      format: 'fleet-operator',
    },
    default: [],
    description: 'whose confirmation counts: a name and the public half of their Ed25519 key, base64url',
    ...AUTHORITY,
  },
});
