import type { JsonSchema } from './json-schema.ts';

/** Parameters of the helper's radio operations. Nothing of them is text that reaches a file or an argument unchecked. */

const CARD = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$' } as const;
const CHANNEL = { type: 'integer', minimum: 1, maximum: 196 } as const;
const WIDTH = { enum: [20, 40] } as const;
/** 8812au takes the power as a negative number. */
const MBM = { type: 'integer', minimum: -3000, maximum: 3000 } as const;
/** Dotted, each part 0 to 255. */
const IPV4 = '^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)$';
const MAX_CARDS = 8;
/** As many slots as `10.5.<slot>.0/24` and the ports leave room for. */
export const MAX_SLOTS = 8;

export const RADIO_APPLY_SCHEMA = {
  type: 'object',
  required: [
    'profile',
    'region',
    'channel',
    'bandwidth_mhz',
    'mcs',
    'fec_k',
    'fec_n',
    'cards',
    'slots',
    'api_port',
    'restart',
  ],
  properties: {
    profile: { enum: ['drone', 'ground-station'] },
    region: { type: 'string', pattern: '^(?:[A-Z]{2}|00)$' },
    channel: CHANNEL,
    bandwidth_mhz: WIDTH,
    mcs: { type: 'integer', minimum: 0, maximum: 7 },
    fec_k: { type: 'integer', minimum: 1, maximum: 255 },
    fec_n: { type: 'integer', minimum: 1, maximum: 255 },
    cards: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_CARDS,
      items: {
        type: 'object',
        required: ['name', 'mbm'],
        properties: { name: CARD, mbm: { anyOf: [MBM, { type: 'null' }] } },
        additionalProperties: false,
      },
    },
    slots: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_SLOTS,
      items: {
        type: 'object',
        required: ['slot', 'link', 'tunnel', 'key'],
        properties: {
          slot: { type: 'integer', minimum: 0, maximum: MAX_SLOTS - 1 },
          link: { type: 'string', pattern: '^[0-9a-f]{32}$', description: 'the same on both ends' },
          tunnel: { type: 'string', pattern: IPV4, description: "this end's address" },
          key: {
            type: 'string',
            pattern: '^[0-9a-f]{128}$',
            description: "own secret, the peer's public key",
          },
        },
        additionalProperties: false,
      },
    },
    api_port: { type: 'integer', minimum: 1, maximum: 65_000, description: 'of slot 0' },
    restart: { enum: ['changed', 'never'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const RADIO_TUNE_SCHEMA = {
  type: 'object',
  required: ['card', 'channel', 'bandwidth_mhz'],
  properties: { card: CARD, channel: CHANNEL, bandwidth_mhz: WIDTH },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const RADIO_POWER_SCHEMA = {
  type: 'object',
  required: ['card', 'mbm'],
  properties: { card: CARD, mbm: MBM },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const NOTHING_SCHEMA = { type: 'object', additionalProperties: false } as const satisfies JsonSchema;
