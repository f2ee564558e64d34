import type { Channel } from '../../../../bin/sim/mavlink/channel.ts';
import type { VehicleEvents } from '../../../../bin/sim/mavlink/vehicle-events.ts';
import type { Param } from '../../../../bin/sim/params/params.ts';
import { CONTENTS_PATH, Px4Files } from './files.ts';

/** EVENT and COMPONENT_METADATA, which mavlink-mappings does not have: id, CRC_EXTRA, bytes. */
const EVENT = { id: 410, extra: 160, bytes: 53 } as const;
const METADATA = { id: 397, extra: 182, bytes: 108 } as const;
export const COMPONENT_METADATA = METADATA.id;

const COMPONENT = 1;
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
  ['Mode not suitable for arming', 1005],
]);

/** Whether the vehicle says it as an event, and not as a text. */
export function isEvent(reason: string): boolean {
  return CHECKS.has(reason);
}

/** PX4's events: what keeps it from arming is said in them alone. */
export class Px4Events implements VehicleEvents {
  readonly #channel: Channel;
  readonly #bootMs: () => number;
  readonly #params: () => readonly Param[];
  #files: Px4Files | null = null;
  #sequence = 0;
  #told = '';

  /** @param params those that it has: its files describe them */
  constructor(channel: Channel, bootMs: () => number, params: () => readonly Param[]) {
    this.#channel = channel;
    this.#bootMs = bootMs;
    this.#params = params;
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
    payload.writeUInt32LE(this.#rom().contentsCrc, 4);
    payload.write(`mftp://${CONTENTS_PATH}`, 8, 'latin1');
    this.#channel.raw(METADATA.id, payload, METADATA.extra);
  }

  file(path: string): Buffer | undefined {
    return this.#rom().get(path);
  }

  /** Made when somebody first asks. */
  #rom(): Px4Files {
    this.#files ??= new Px4Files(this.#params(), eventsFile());
    return this.#files;
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

/** What the events mean, as PX4 describes it. */
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
