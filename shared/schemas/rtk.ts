import type { JsonSchema } from './json-schema.ts';

const count = { type: 'integer', minimum: 0 } as const satisfies JsonSchema;

/** Corrections, as `GET /api/rtk` shows them. */
export const rtkState = {
  title: 'RtkState',
  type: 'object',
  required: [
    'state',
    'source',
    'mountpoint',
    'bytes',
    'frames',
    'bad_frames',
    'dropped',
    'messages',
    'rate_bps',
    'age_s',
    'problem',
    'mountpoints',
  ],
  properties: {
    state: {
      enum: ['off', 'connecting', 'streaming', 'stale', 'failed'],
      description: 'stale: connected, and no frame for 10 s; failed: tried again after a pause',
    },
    source: { type: 'string', description: 'as configured; of a caster its host and port too' },
    mountpoint: { type: ['string', 'null'], description: 'null: not from a caster' },
    bytes: { ...count, description: 'that came' },
    frames: { ...count, description: 'with the right checksum' },
    bad_frames: { ...count, description: 'with a wrong checksum' },
    dropped: {
      ...count,
      description:
        'frames that did not go to the vehicle: longer than 720 bytes, or the link was closed or full',
    },
    messages: {
      type: 'object',
      additionalProperties: count,
      description: 'frames by the number of their RTCM message',
    },
    rate_bps: { type: 'number', minimum: 0, description: 'of the last five seconds' },
    age_s: { type: ['number', 'null'], minimum: 0, description: 'of the newest frame; null: none has come' },
    problem: { type: ['string', 'null'], description: 'what is wrong, and what helps' },
    mountpoints: {
      type: ['array', 'null'],
      maxItems: 200,
      description:
        'what the caster has to choose from, the nearest first, where the mountpoint is not set or not there; null else',
      items: {
        type: 'object',
        required: ['name', 'place', 'format', 'lat', 'lon', 'distance_km', 'wants_position'],
        properties: {
          name: { type: 'string' },
          place: { type: 'string', description: 'as the caster calls it' },
          format: { type: 'string' },
          lat: { type: ['number', 'null'], description: 'degrees; null: the caster does not say' },
          lon: { type: ['number', 'null'] },
          distance_km: {
            type: ['number', 'null'],
            description: 'from the vehicle; null: one of both is not known',
          },
          wants_position: { type: 'boolean', description: 'a virtual station: set rtk.ntrip.send_position' },
        },
      },
    },
  },
} as const satisfies JsonSchema;
