import type { FromSchema } from 'json-schema-to-ts';
import { formerly, type JsonSchema } from './json-schema.ts';

/** What happened in a flight, from one log. What the log does not say is null. */

const measured = { type: ['number', 'null'] } as const satisfies JsonSchema;
const counted = { type: ['integer', 'null'], minimum: 0 } as const satisfies JsonSchema;
const seconds = { type: 'number', minimum: 0 } as const satisfies JsonSchema;

/** Of a report's track. */
export const MOST_POINTS = 120;

export const flightReport = {
  title: 'FlightReport',
  description:
    'Values are of the time while the vehicle was armed, or of the whole log where it does not say; s are since its first record.',
  type: 'object',
  required: [
    'vehicle',
    'start',
    'duration_s',
    'distance_m',
    'max',
    'battery',
    'gps',
    'vibration',
    'modes',
    'events',
    'findings',
    'track',
  ],
  properties: {
    vehicle: { type: ['string', 'null'], description: 'firmware and version' },
    start: { type: ['string', 'null'], description: 'RFC 3339, of the first record' },
    duration_s: {
      ...measured,
      description:
        'how long it was armed, all together; of a log that does not say, from the first record to the last',
    },
    distance_m: { ...measured, description: 'over ground' },
    max: {
      type: 'object',
      required: ['height_m', 'speed_mps', 'speed_ms', 'distance_home_m'],
      properties: {
        height_m: {
          ...measured,
          description: 'above home; where the log has none, above the first position while armed',
        },
        speed_mps: { ...measured, description: 'over ground' },
        speed_ms: formerly(measured, '`speed_mps`'),
        distance_home_m: { ...measured, description: 'from home, as the height' },
      },
    },
    battery: {
      type: 'object',
      required: ['start', 'end', 'min', 'min_at_s', 'used_mah', 'min_cell_v'],
      properties: {
        start: { ...measured, description: 'V, first while armed' },
        end: { ...measured, description: 'V, last while armed' },
        min: { ...measured, description: 'V, lowest while armed' },
        min_at_s: { ...measured, description: 'when it was so' },
        used_mah: measured,
        min_cell_v: { ...measured, description: 'of the cells, where each is measured' },
      },
    },
    gps: {
      type: 'object',
      required: ['min_satellites', 'worst_hdop', 'glitches'],
      properties: {
        min_satellites: counted,
        worst_hdop: { ...measured, description: 'without unit' },
        glitches: counted,
      },
    },
    vibration: {
      type: 'object',
      required: ['max', 'clips'],
      properties: {
        max: { ...measured, description: 'm/s² of the worst axis, as the firmware measures it' },
        clips: { ...counted, description: 'how often an accelerometer was at its limit' },
      },
    },
    modes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'from_s', 'to_s'],
        properties: { name: { type: 'string' }, from_s: seconds, to_s: seconds },
      },
    },
    events: {
      type: 'array',
      items: {
        type: 'object',
        required: ['at_s', 'kind', 'text'],
        properties: {
          at_s: seconds,
          kind: {
            enum: ['armed', 'disarmed', 'takeoff', 'landed', 'failsafe', 'error', 'message'],
          },
          text: { type: 'string' },
        },
      },
    },
    track: {
      type: 'array',
      maxItems: MOST_POINTS,
      description: 'where it was while armed, for a small picture; degrees',
      items: {
        type: 'object',
        required: ['lat', 'lon'],
        properties: { lat: { type: 'number' }, lon: { type: 'number' } },
      },
    },
    findings: {
      type: 'array',
      description:
        'what exceeds a documented limit, which the text names, in the order in which it began: the first is what began first, not what was worst',
      items: {
        type: 'object',
        required: ['severity', 'text', 'at_s'],
        properties: {
          severity: { enum: ['info', 'warning', 'critical'] },
          text: { type: 'string' },
          at_s: { type: ['number', 'null'], minimum: 0, description: 'when it was worst' },
          name: { type: 'string', description: 'of the rule' },
          from: { ...seconds, description: 'seconds, when it began' },
          to: { ...seconds, description: 'seconds, when it was over' },
          times: { type: 'integer', minimum: 1, description: 'how often it was so from then to then' },
          evidence: {
            type: 'object',
            required: ['message', 'field', 'value', 'bound', 'unit'],
            properties: {
              message: { type: 'string', description: 'of the log' },
              field: { type: 'string' },
              value: { type: 'number', description: 'worst' },
              bound: { type: 'number', description: 'beyond which it counts' },
              unit: { type: 'string' },
            },
          },
          source: {
            type: 'string',
            description:
              'address of the document that the rule follows; `ours, after` it: its number is not there',
          },
          advice: { type: 'string', description: 'what to do' },
        },
      },
    },
  },
} as const satisfies JsonSchema;

export type FlightReport = FromSchema<typeof flightReport>;
