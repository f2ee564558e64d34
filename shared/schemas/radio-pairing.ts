import type { JsonSchema } from './json-schema.ts';
import { forceQuery } from './no-body.ts';
import { MAX_SLOTS } from './radio-unit.ts';
import { shownName } from './shown-name.ts';

const publicKey = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  examples: ['9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f'],
  description: 'X25519 public key, hexadecimal',
} as const;
const deviceId = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' } as const;
const fingerprint = {
  type: 'string',
  description: 'of both public keys; the same on both ends, in groups of four hexadecimal digits',
} as const;
const proved = {
  type: 'boolean',
  description: 'whether the link has carried data with this key; until then an older key is kept too',
} as const;

/** On a ground station: which drone to bind. On a drone: the ground station's half. */
export const radioPairRequest = {
  title: 'RadioPairRequest',
  examples: [{ host: '192.168.1.20', code: 'K7M2QX' }],
  type: 'object',
  properties: {
    host: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description: "the drone's address on LAN, hotspot or USB, host or host:port",
    },
    key: {
      type: 'string',
      minLength: 8,
      maxLength: 128,
      description: "the drone's pairing key; it is not kept",
    },
    code: {
      type: 'string',
      minLength: 6,
      maxLength: 6,
      description: 'instead of the key: the pairing code of an unpaired drone, which is claimed first',
    },
    ground_id: deviceId,
    slot: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_SLOTS - 1,
      description: 'which of its drones this one is; 0 unless given',
    },
    ground_name: { ...shownName, maxLength: 64 },
    public_key: publicKey,
  },
  additionalProperties: false,
  minProperties: 2,
  'x-says': 'needs host and key, or host and code, on a ground station; ground_id and public_key on a drone',
} as const satisfies JsonSchema;

export const radioPairAnswer = {
  title: 'RadioPairAnswer',
  type: 'object',
  required: ['device_id', 'public_key', 'fingerprint', 'proved'],
  properties: {
    device_id: { type: 'string', description: 'the drone' },
    public_key: { ...publicKey, description: "the answering end's half" },
    fingerprint,
    proved,
    drone_key: {
      type: 'string',
      description: 'the pairing key of a drone claimed for this; shown only once, not kept',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const radioPairs = {
  title: 'RadioPairs',
  type: 'object',
  required: ['paired', 'pairs'],
  properties: {
    paired: { type: 'boolean' },
    pairs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['slot', 'device_id', 'name', 'fingerprint', 'paired_at', 'proved'],
        properties: {
          slot: { type: 'integer', description: '0 is the single drone' },
          device_id: { type: 'string', description: 'the other end' },
          name: { type: 'string' },
          fingerprint,
          paired_at: { type: 'string', format: 'date-time' },
          proved,
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const radioUnpairQuery = {
  type: 'object',
  required: ['device_id'],
  properties: {
    device_id: { ...deviceId, description: 'the other end, as named in GET /api/wfb/pair' },
    force: forceQuery,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const radioUnpaired = {
  title: 'RadioUnpaired',
  type: 'object',
  required: ['paired', 'device_id'],
  properties: {
    paired: { type: 'boolean', description: 'whether another radio is still bound' },
    device_id: { type: 'string' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
