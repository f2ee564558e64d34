import { BAD_PERCENT, POOR_PERCENT, RADIO_QUALITIES } from '../radio/quality.ts';
import type { JsonSchema } from './json-schema.ts';

/** Bodies and answers of the radio routes. */

const nullable = <const T extends 'string' | 'integer' | 'number'>(type: T, description: string) =>
  ({ type: [type, 'null'], description }) as const;

const STATES = ['active', 'searching', 'mis_keyed', 'stale', 'down', 'absent'] as const;

/** What every surface shows of a link by its colour. */
const radioQualitySchema = {
  enum: RADIO_QUALITIES,
  description: `how good the link is: good; poor above ${POOR_PERCENT} % of the video lost after FEC, or while nothing is heard; bad above ${BAD_PERCENT} %, mis_keyed or down; none: absent`,
} as const;

const linkFigures = {
  rssi_dbm: nullable('number', 'of the best antenna, mean of the last second'),
  snr_db: nullable('number', 'of that antenna'),
  noise_dbm: nullable('number', 'of that antenna'),
  packets_all: nullable(
    'integer',
    'frames of all cards since wfb-ng started, also those that do not decrypt',
  ),
  packets_received: nullable('integer', 'distinct packets since wfb-ng started'),
  packets_lost: nullable('integer', 'missing after FEC'),
  fec_recovered: nullable('integer', 'rebuilt by FEC'),
  fec_failed: nullable('integer', 'the same as packets_lost'),
  decrypt_errors: nullable('integer', 'frames that did not decrypt; a few at each start are normal'),
  packets_bad: nullable('integer', 'malformed frames'),
  loss_percent: nullable('number', 'after FEC, over the last three seconds'),
  loss_before_fec_percent: nullable('number', 'before FEC, over the last three seconds'),
  bitrate_kbps: nullable('integer', 'of the video; on a drone of what it sends, with FEC'),
  tx_dropped_percent: nullable('number', 'of what was to be sent, what the card did not take'),
  fec_k: nullable('integer', 'of the stream that the figures are of'),
  fec_n: nullable('integer', 'of that stream'),
  mcs_index: nullable('integer', 'of what is received'),
} as const;

export const radioStatus = {
  title: 'RadioStatus',
  type: 'object',
  required: [
    'state',
    'quality',
    'mode',
    'camera_silent',
    'cards',
    'antennas',
    'diagnosis',
    'problem',
    'links',
  ],
  properties: {
    state: { enum: STATES },
    quality: radioQualitySchema,
    mode: { enum: ['off', 'managed', 'external'] },
    profile: { type: 'string' },
    interface: nullable('string', 'the first card'),
    channel: nullable(
      'integer',
      'that the first card is on, read back from it; where it cannot be asked, the one on which the other end is heard',
    ),
    configured_channel: { type: 'integer' },
    region: { type: 'string' },
    frequency_mhz: nullable('integer', 'MHz'),
    bandwidth_mhz: nullable('integer', 'MHz'),
    tx_power_dbm: nullable('number', 'read back from the first card'),
    ...linkFigures,
    tx_card: nullable('integer', 'index of the card that sends'),
    rx_silent_seconds: nullable('number', 'since the other end was heard; null if it never was'),
    camera_silent: { type: 'boolean', description: 'the link is active and no video comes' },
    antennas: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'card', 'antenna', 'rssi_dbm', 'snr_db'],
        properties: {
          id: { type: 'string', description: "wfb-ng's own number, decimal" },
          card: { type: 'integer' },
          antenna: { type: 'integer' },
          host: nullable('string', 'in cluster mode the machine that has the card'),
          frequency_mhz: { type: 'integer' },
          mcs: { type: 'integer' },
          bandwidth_mhz: { type: 'integer' },
          packets: { type: 'integer', description: 'in the last second' },
          rssi_dbm: { type: 'number' },
          snr_db: { type: 'number' },
        },
      },
    },
    cards: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'driver', 'sends'],
        properties: {
          name: { type: 'string' },
          driver: { type: 'string' },
          channel: nullable('integer', 'read back'),
          frequency_mhz: nullable('integer', 'MHz'),
          tx_power_dbm: nullable('number', 'read back'),
          sends: { type: 'boolean' },
          packets: nullable('integer', 'received in the last second'),
          rssi_dbm: nullable('number', 'of its best antenna'),
        },
      },
    },
    missing_cards: { type: 'array', items: { type: 'string' } },
    diagnosis: {
      type: ['object', 'null'],
      required: ['kind', 'sentence', 'figures'],
      properties: {
        kind: {
          enum: [
            'card_missing',
            'wrong_key',
            'wrong_channel',
            'channel_change',
            'peer_silent',
            'one_way',
            'overload',
            'weak_signal',
            'camera_silent',
          ],
        },
        sentence: { type: 'string' },
        figures: { type: 'object', description: 'what shows it' },
      },
    },
    problem: nullable('string', 'why wfb-ng does not run, or does not answer'),
    unread_lines: { type: 'integer', description: "lines of wfb-ng's API that were not reports" },
    links: {
      type: 'array',
      items: {
        type: 'object',
        required: ['slot', 'device_id', 'name', 'state', 'quality'],
        properties: {
          slot: { type: 'integer' },
          device_id: nullable('string', 'the other end'),
          name: nullable('string', 'of the other end'),
          state: { enum: STATES },
          quality: radioQualitySchema,
          rssi_dbm: linkFigures.rssi_dbm,
          loss_before_fec_percent: linkFigures.loss_before_fec_percent,
          bitrate_kbps: linkFigures.bitrate_kbps,
        },
      },
    },
  },
} as const satisfies JsonSchema;

export const historyQuery = {
  type: 'object',
  properties: {
    seconds: { type: 'integer', minimum: 1, maximum: 300, default: 60, description: 'how far back' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const history = {
  title: 'RadioHistory',
  type: 'object',
  required: ['samples', 'count'],
  properties: {
    samples: {
      type: 'array',
      items: {
        type: 'object',
        required: ['timestamp'],
        properties: {
          timestamp: { type: 'string', description: 'RFC 3339' },
          rssi_dbm: linkFigures.rssi_dbm,
          snr_db: linkFigures.snr_db,
          loss_percent: linkFigures.loss_percent,
          loss_before_fec_percent: linkFigures.loss_before_fec_percent,
          bitrate_kbps: linkFigures.bitrate_kbps,
        },
      },
    },
    count: { type: 'integer' },
  },
} as const satisfies JsonSchema;

export const channelRequest = {
  title: 'RadioChannelRequest',
  examples: [{ channel: 161 }],
  type: 'object',
  required: ['channel'],
  properties: {
    channel: { type: 'integer', minimum: 1, maximum: 196, description: 'Wi-Fi channel' },
    phase: { enum: ['prepare', 'commit', 'confirm', 'done'], description: 'between two nodes only' },
    from: {
      type: 'integer',
      minimum: 1,
      maximum: 196,
      description: 'the previous channel, between two nodes',
    },
    id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'of the change, between two nodes' },
    in_ms: { type: 'integer', minimum: 0, maximum: 10_000, description: 'when the other end switches' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const channelAnswer = {
  title: 'RadioChannelAnswer',
  type: 'object',
  required: ['channel', 'frequency_mhz', 'proved', 'reverted', 'reason'],
  properties: {
    channel: { type: 'integer', description: 'that this node is on now' },
    frequency_mhz: nullable('integer', 'MHz'),
    proved: {
      type: 'boolean',
      description:
        'whether the other end has said that it is on this channel, too; to a phase: whether this node is, its tuning finished',
    },
    reverted: { type: 'boolean', description: 'whether this node went back' },
    reason: nullable('string', 'why it was not proved, or went back'),
  },
} as const satisfies JsonSchema;

export const powerRequest = {
  title: 'RadioPowerRequest',
  examples: [{ tx_power_dbm: 20 }],
  type: 'object',
  required: ['tx_power_dbm'],
  properties: {
    tx_power_dbm: { type: 'integer', minimum: 1, maximum: 30, description: 'dBm' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const powerAnswer = {
  title: 'RadioPowerAnswer',
  type: 'object',
  required: ['requested_dbm', 'effective_dbm', 'tx_power_max_dbm'],
  properties: {
    requested_dbm: { type: 'integer' },
    effective_dbm: nullable('number', 'read back from the first card'),
    tx_power_max_dbm: nullable('number', "the region's limit for its channel"),
  },
} as const satisfies JsonSchema;

export const surveyAnswer = {
  title: 'RadioSurvey',
  type: 'object',
  required: ['card', 'channels'],
  properties: {
    card: { type: 'string', description: 'that was used' },
    channels: {
      type: 'array',
      items: {
        type: 'object',
        required: ['channel', 'frequency_mhz', 'allowed', 'frames', 'noise_dbm', 'best'],
        properties: {
          channel: { type: 'integer' },
          frequency_mhz: { type: 'integer' },
          allowed: { type: 'boolean', description: 'whether this region lets a radio send there' },
          frames: nullable('integer', 'heard in a quarter of a second; null: not listened to'),
          noise_dbm: nullable('number', 'null where the driver does not measure it'),
          best: { type: 'boolean', description: 'the allowed channel with the fewest frames' },
        },
      },
    },
  },
} as const satisfies JsonSchema;
