import { crc32 } from 'node:zlib';
import type { Channel } from '../mavlink/channel.ts';

/** EVENT and COMPONENT_METADATA, which mavlink-mappings does not have: id, CRC_EXTRA, bytes. */
const EVENT = { id: 410, extra: 160, bytes: 53 } as const;
const METADATA = { id: 397, extra: 182, bytes: 108 } as const;
export const COMPONENT_METADATA = METADATA.id;

const COMPONENT = 1;
const CONTENTS_PATH = 'etc/extras/component_general.json.xz';
const EVENTS_PATH = 'etc/extras/all_events.json.xz';
const ALL_MODES = 0xffffffff;
const [ERROR, PROTOCOL] = [3, 8];

const ARMING_SUMMARY = 11_047_904;
const HEALTH_SUMMARY = 1_914_663;
const NOT_LANDED = 9_091_509;
/** What the vehicle finds by itself, with numbers of our own; PX4 makes its own from the names. */
const CHECKS: ReadonlyMap<string, number> = new Map([
  ['ekf2 missing data', 1001],
  ['GPS fix too low', 1002],
  ['Low battery', 1003],
  ['No valid position estimate', 1004],
]);

/** Whether the vehicle says it as an event, and not as a text. */
export function isEvent(reason: string): boolean {
  return CHECKS.has(reason);
}

/** PX4's events: what keeps it from arming is said in them alone. */
export class Px4Events {
  readonly #channel: Channel;
  readonly #bootMs: () => number;
  #sequence = 0;
  #told = '';

  constructor(channel: Channel, bootMs: () => number) {
    this.#channel = channel;
    this.#bootMs = bootMs;
  }

  /** Reports all checks that fail, when they have changed. */
  update(reasons: readonly string[]): void {
    if (this.#told !== reasons.join('\n')) this.report(reasons);
  }

  report(reasons: readonly string[]): void {
    this.#told = reasons.join('\n');
    this.#send(ARMING_SUMMARY, PROTOCOL, Buffer.alloc(25));
    for (const reason of reasons) {
      const number = CHECKS.get(reason);
      const args = Buffer.alloc(5);
      args.writeUInt32LE(ALL_MODES, 0);
      if (number !== undefined) this.#send(number, ERROR, args);
    }
    this.#send(HEALTH_SUMMARY, PROTOCOL, Buffer.alloc(25));
  }

  notLanded(): void {
    this.#send(NOT_LANDED, ERROR, Buffer.alloc(0));
  }

  metadata(): void {
    const payload = Buffer.alloc(METADATA.bytes);
    payload.writeUInt32LE(crc32(fileOf(CONTENTS_PATH) ?? ''), 4);
    payload.write(`mftp://${CONTENTS_PATH}`, 8, 'latin1');
    this.#channel.raw(METADATA.id, payload, METADATA.extra);
  }

  #send(number: number, level: number, args: Buffer): void {
    const payload = Buffer.alloc(EVENT.bytes);
    payload.writeUInt32LE(COMPONENT * 2 ** 24 + number, 0);
    payload.writeUInt32LE(this.#bootMs() >>> 0, 4);
    payload.writeUInt16LE(this.#sequence, 8);
    payload.writeUInt8((level << 4) | level, 12);
    args.copy(payload, 13);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#channel.raw(EVENT.id, payload, EVENT.extra);
  }
}

/** A file of the vehicle's metadata, undefined where there is none at that path. */
export function fileOf(path: string): Buffer | undefined {
  switch (path.replace(/^\//, '')) {
    case CONTENTS_PATH:
      return xz({ version: 1, metadataTypes: [{ type: 4, uri: `mftp://${EVENTS_PATH}`, fileCrc: 0 }] });
    case EVENTS_PATH:
      return xz(eventsFile());
    default:
      return undefined;
  }
}

function eventsFile(): object {
  const args = [
    { name: 'modes', type: 'uint32_t' },
    { name: 'health_component_index', type: 'uint8_t' },
  ];
  const checks = [...CHECKS].map(([message, number]) => [
    number,
    { name: `check_${number}`, message, arguments: args },
  ]);
  const summary = (name: string): object => ({ name, message: name, type: 'summary' });
  return {
    version: 2,
    components: {
      [COMPONENT]: {
        namespace: 'px4',
        event_groups: {
          arming_check: {
            events: {
              ...Object.fromEntries(checks),
              [ARMING_SUMMARY]: summary('commander_arming_check_summary'),
            },
          },
          health: { events: { [HEALTH_SUMMARY]: summary('commander_health_summary') } },
          default: {
            events: {
              [NOT_LANDED]: {
                name: 'commander_disarm_denied_not_landed',
                message: 'Disarming denied: not landed',
              },
            },
          },
        },
      },
    },
  };
}

/** JSON in an .xz file whose LZMA2 chunk is stored as it is. */
function xz(content: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(content));
  const flags = Buffer.from([0, 1]); // the check is CRC32
  const header = Buffer.from([2, 0, 0x21, 1, 0x16, 0, 0, 0]);
  const chunk = Buffer.from([1, (bytes.length - 1) >> 8, (bytes.length - 1) & 0xff]);
  const data = Buffer.concat([chunk, bytes, Buffer.of(0)]);
  const padding = Buffer.alloc((4 - (data.length % 4)) % 4);
  const unpadded = header.length + 4 + data.length + 4;
  const index = Buffer.concat([Buffer.from([0, 1]), vli(unpadded), vli(bytes.length)]);
  const padded = Buffer.concat([index, Buffer.alloc((4 - (index.length % 4)) % 4)]);
  const backward = Buffer.alloc(4);
  backward.writeUInt32LE((padded.length + 4) / 4 - 1);
  const foot = Buffer.concat([backward, flags]);
  return Buffer.concat([
    Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]),
    flags,
    sum(flags),
    header,
    sum(header),
    data,
    padding,
    sum(bytes),
    padded,
    sum(padded),
    sum(foot),
    foot,
    Buffer.from('YZ'),
  ]);
}

function sum(bytes: Buffer): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(crc32(bytes));
  return out;
}

/** A number in sevens of bits, the lowest first. */
function vli(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
