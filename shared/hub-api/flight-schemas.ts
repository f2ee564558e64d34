import type { FromSchema } from 'json-schema-to-ts';
import { UPLOAD_KINDS } from '../fleet/flight.ts';
import { nodeEntry, STORED_TEXT } from '../fleet/hub-api.ts';
import { flightReport } from '../schemas/flight-report.ts';
import { formerly } from '../schemas/json-schema.ts';
import { ID_PATTERN } from './openapi.ts';

/** Of one node, those that flew last: what it names is its own invention. */
export const MAX_BATTERIES = 200;

/** Bodies and answers about flights. Times are ms since 1970; what was not measured is null. */

function object<const P, const R extends readonly (keyof P & string)[]>(properties: P, required: R) {
  return { type: 'object', required, properties, additionalProperties: false } as const;
}
function list<const I>(items: I) {
  return { type: 'array', items } as const;
}

const node = nodeEntry.properties.id;
const count = { type: 'integer', minimum: 0 } as const;
const time = { type: 'integer', description: 'ms since 1970' } as const;
const seconds = { type: 'number', minimum: 0 } as const;
const measured = { type: ['number', 'null'] } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const battery = { type: 'string', pattern: ID_PATTERN, description: 'id of a battery' } as const;
const when = { type: 'integer', minimum: 0, maximum: 253_402_300_800_000 } as const;
const filters = {
  node,
  battery,
  from: { ...when, description: 'flights that began then or later, ms since 1970' },
  to: { ...when, description: 'flights that began before, ms since 1970' },
} as const;

export const flightsQuery = object(
  {
    ...filters,
    cursor: {
      type: 'string',
      pattern: '^[0-9]{1,15}-[0-9]{1,15}$',
      description: '`next` of the page before',
    },
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
  ['limit'],
);
export const flightsCsvQuery = object(filters, []);

const flight = {
  id: { ...count, description: 'of the hub' },
  node,
  flight: { type: 'string', description: 'of the node: the same for the same flight' },
  received_at: time,
  started_at: { ...time, description: "by the node's clock, ms since 1970" },
  ended_at: time,
  armed_s: { ...seconds, description: 'by a clock that does not jump' },
  airborne_s: measured,
  distance_m: measured,
  max_height_m: measured,
  max_speed_mps: measured,
  max_speed_ms: formerly(measured, '`max_speed_mps`'),
  battery: object({ id: textOrNull, used_mah: measured, start_v: measured, end_v: measured }, [
    'id',
    'used_mah',
    'start_v',
    'end_v',
  ]),
  pilots: { ...list({ type: 'string' }), description: 'who is known to have flown' },
  findings: { ...count, description: 'how many' },
  worst: { enum: ['info', 'warning', 'critical', null], description: 'severity of the worst finding' },
} as const;
const REQUIRED = [
  'id',
  'node',
  'flight',
  'received_at',
  'started_at',
  'ended_at',
  'armed_s',
  'airborne_s',
  'distance_m',
  'max_height_m',
  'max_speed_mps',
  'max_speed_ms',
  'battery',
  'pilots',
  'findings',
  'worst',
] as const;

export const flightList = object(
  {
    flights: list(object(flight, REQUIRED)),
    next: { ...textOrNull, description: '`cursor` of the next page; null on the last' },
  },
  ['flights', 'next'],
);
const { modes, findings } = flightReport.properties;
const feature = {
  type: ['object', 'null'],
  required: ['type', 'geometry', 'properties'],
  description: 'a Feature of GeoJSON (RFC 7946); null: there is none',
  properties: {
    type: { const: 'Feature' },
    geometry: object(
      {
        type: { const: 'LineString' },
        coordinates: {
          ...list({ type: 'array', items: { type: 'number' } }),
          description: 'degrees east, degrees north',
        },
      },
      ['type', 'coordinates'],
    ),
    properties: object(
      {
        times_s: { ...list(seconds), description: 'of each point, since arming' },
        heights_m: { ...list(measured), description: 'of each point, above home' },
      },
      ['times_s', 'heights_m'],
    ),
  },
  additionalProperties: false,
} as const;
const file = object(
  {
    kind: { enum: UPLOAD_KINDS, description: 'flight-logs: that of the vehicle itself' },
    name: { type: 'string' },
    url: {
      ...textOrNull,
      description:
        'where the node has uploaded it: the store says who may read it; null: as far as the hub knows nowhere',
    },
    bytes: { type: ['integer', 'null'], minimum: 0 },
  },
  ['kind', 'name', 'url', 'bytes'],
);
export const flightAnswer = object(
  { ...flight, vehicle: textOrNull, modes, findings, log: textOrNull, files: list(file), track: feature },
  [...REQUIRED, 'vehicle', 'modes', 'log', 'files', 'track'],
);

export const airframesQuery = object(
  {
    after: { ...node, description: 'the id after which the list goes on' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'at most so many; fewer where they have many batteries',
    },
  },
  ['limit'],
);
const due = object(
  {
    rule: { type: 'string' },
    battery: { ...textOrNull, description: 'which one; null: the airframe itself' },
    due: { type: 'boolean' },
    hours_left: { ...measured, description: 'hours' },
    flights_left: { ...measured, description: 'flights' },
    days_left: { ...measured, description: 'days' },
    done_at: { ...time, type: ['integer', 'null'] },
    done_by: textOrNull,
    note: textOrNull,
  },
  ['rule', 'battery', 'due', 'hours_left', 'flights_left', 'days_left', 'done_at', 'done_by', 'note'],
);
const sums = {
  flights: count,
  hours: { ...seconds, description: 'armed' },
  airborne_hours: { ...seconds, description: 'as far as it was measured' },
} as const;
export const airframe = object(
  {
    id: { ...node, description: 'of the node on it' },
    name: { ...textOrNull, description: 'null: it is not in the fleet any more' },
    ...sums,
    distance_m: { ...seconds, description: 'as far as it was measured' },
    last_at: { ...time, description: 'when the hub heard of the newest flight, ms since 1970' },
    batteries: {
      ...list(
        object({ id: { type: 'string' }, ...sums, cycles: { ...count, description: 'one a flight' } }, [
          'id',
          'flights',
          'hours',
          'airborne_hours',
          'cycles',
        ]),
      ),
      maxItems: MAX_BATTERIES,
      description: 'those that flew last; the hub forgets the others',
    },
    maintenance: list(due),
  },
  ['id', 'name', 'flights', 'hours', 'airborne_hours', 'distance_m', 'last_at', 'batteries', 'maintenance'],
);
export const airframeList = object(
  {
    airframes: list(airframe),
    next: { ...textOrNull, description: '`after` of the next page; null on the last' },
  },
  ['airframes', 'next'],
);
export const maintenanceRequest = object(
  {
    rule: { type: 'string', minLength: 1, maxLength: 128, pattern: STORED_TEXT, description: 'its name' },
    battery,
    note: { type: 'string', maxLength: 500, pattern: STORED_TEXT },
  },
  ['rule'],
);

export type FlightsQuery = FromSchema<typeof flightsQuery>;
export type FlightFilters = FromSchema<typeof flightsCsvQuery>;
export type FlightEntry = FromSchema<typeof flightList>['flights'][number];
export type FlightAnswer = FromSchema<typeof flightAnswer>;
export type AirframesQuery = FromSchema<typeof airframesQuery>;
export type Airframe = FromSchema<typeof airframe>;
export type MaintenanceRequest = FromSchema<typeof maintenanceRequest>;
