import type { FieldValue } from '../../../shared/rpc/link-answers.ts';

type Kind = 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'u64' | 'float' | 'char';

/** Name, kind, place in the payload, how many of it (one if absent). */
type Field = readonly [name: string, kind: Kind, at: number, count?: number];

/** A message of common.xml that the library of dialects does not have yet. */
export interface NewerMessage {
  readonly MSG_NAME: string;
  readonly length: number;
  readonly fields: readonly Field[];
}

const ADDRESS = (at: number): readonly Field[] => [
  ['target_system', 'u8', at],
  ['target_component', 'u8', at + 1],
];

/** By id. */
export const NEWER_MESSAGES: ReadonlyMap<number, NewerMessage> = new Map<number, NewerMessage>([
  [
    8,
    {
      MSG_NAME: 'LINK_NODE_STATUS',
      length: 36,
      fields: [
        ['timestamp', 'u64', 0],
        ['tx_rate', 'u32', 8],
        ['rx_rate', 'u32', 12],
        ['messages_sent', 'u32', 16],
        ['messages_received', 'u32', 20],
        ['messages_lost', 'u32', 24],
        ['rx_parse_err', 'u16', 28],
        ['tx_overflows', 'u16', 30],
        ['rx_overflows', 'u16', 32],
        ['tx_buf', 'u8', 34],
        ['rx_buf', 'u8', 35],
      ],
    },
  ],
  [
    290,
    {
      MSG_NAME: 'ESC_INFO',
      length: 46,
      fields: [
        ['time_usec', 'u64', 0],
        ['error_count', 'u32', 8, 4],
        ['counter', 'u16', 24],
        ['failure_flags', 'u16', 26, 4],
        ['temperature', 'i16', 34, 4],
        ['index', 'u8', 42],
        ['count', 'u8', 43],
        ['connection_type', 'u8', 44],
        ['info', 'u8', 45],
      ],
    },
  ],
  [
    291,
    {
      MSG_NAME: 'ESC_STATUS',
      length: 57,
      fields: [
        ['time_usec', 'u64', 0],
        ['rpm', 'i32', 8, 4],
        ['voltage', 'float', 24, 4],
        ['current', 'float', 40, 4],
        ['index', 'u8', 56],
      ],
    },
  ],
  [
    345,
    {
      MSG_NAME: 'PARAM_ERROR',
      length: 21,
      fields: [['param_index', 'i16', 0], ...ADDRESS(2), ['param_id', 'char', 4, 16], ['error', 'u8', 20]],
    },
  ],
  [
    380,
    {
      MSG_NAME: 'TIME_ESTIMATE_TO_TARGET',
      length: 20,
      fields: [
        ['safe_return', 'i32', 0],
        ['land', 'i32', 4],
        ['mission_next_item', 'i32', 8],
        ['mission_end', 'i32', 12],
        ['commanded_action', 'i32', 16],
      ],
    },
  ],
  [
    397,
    {
      MSG_NAME: 'COMPONENT_METADATA',
      length: 108,
      fields: [
        ['time_boot_ms', 'u32', 0],
        ['file_crc', 'u32', 4],
        ['uri', 'char', 8, 100],
      ],
    },
  ],
  [
    410,
    {
      MSG_NAME: 'EVENT',
      length: 53,
      fields: [
        ['id', 'u32', 0],
        ['event_time_boot_ms', 'u32', 4],
        ['sequence', 'u16', 8],
        ['destination_component', 'u8', 10],
        ['destination_system', 'u8', 11],
        ['log_levels', 'u8', 12],
        ['arguments', 'u8', 13, 40],
      ],
    },
  ],
  [
    411,
    {
      MSG_NAME: 'CURRENT_EVENT_SEQUENCE',
      length: 3,
      fields: [
        ['sequence', 'u16', 0],
        ['flags', 'u8', 2],
      ],
    },
  ],
  [
    412,
    {
      MSG_NAME: 'REQUEST_EVENT',
      length: 6,
      fields: [['first_sequence', 'u16', 0], ['last_sequence', 'u16', 2], ...ADDRESS(4)],
    },
  ],
  [
    413,
    {
      MSG_NAME: 'RESPONSE_EVENT_ERROR',
      length: 7,
      fields: [
        ['sequence', 'u16', 0],
        ['sequence_oldest_available', 'u16', 2],
        ...ADDRESS(4),
        ['reason', 'u8', 6],
      ],
    },
  ],
]);

const SIZES: Readonly<Record<Kind, number>> = {
  u8: 1,
  i16: 2,
  u16: 2,
  i32: 4,
  u32: 4,
  u64: 8,
  float: 4,
  char: 1,
};

/** @param whole the payload with its zeros, at least as long as the message */
export function newerFields({ fields }: NewerMessage, whole: Buffer): Readonly<Record<string, FieldValue>> {
  return Object.fromEntries(fields.map((field) => [field[0], valueOf(field, whole)]));
}

function valueOf([, kind, at, count]: Field, whole: Buffer): FieldValue {
  if (kind === 'char') return whole.toString('utf8', at, at + (count ?? 1)).replace(/\0.*$/s, '');
  if (count === undefined) return oneOf(kind, whole, at);
  return Array.from({ length: count }, (_, index) => oneOf(kind, whole, at + index * SIZES[kind]));
}

function oneOf(kind: Exclude<Kind, 'char'>, whole: Buffer, at: number): number | string | null {
  switch (kind) {
    case 'u8':
      return whole.readUInt8(at);
    case 'i16':
      return whole.readInt16LE(at);
    case 'u16':
      return whole.readUInt16LE(at);
    case 'i32':
      return whole.readInt32LE(at);
    case 'u32':
      return whole.readUInt32LE(at);
    case 'float': {
      const value = whole.readFloatLE(at);
      return Number.isFinite(value) ? value : null;
    }
    case 'u64': {
      const value = whole.readBigUInt64LE(at);
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : String(value);
    }
  }
}
