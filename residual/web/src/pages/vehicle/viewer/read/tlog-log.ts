import { familyOf } from '../../../../../../../shared/flight/modes.ts';
import type { LogBytes } from '../../../../../../../shared/logs/log-bytes.ts';
import { LogClock } from '../../../../../../../shared/logs/log-clock.ts';
import { type GetNumber, NUMBERS, textAt } from '../../../../../../../shared/logs/numbers.ts';
import {
  headAt,
  type Sender,
  STAMP_BYTES,
  vehicleIn,
  walkTlog,
} from '../../../../../../../shared/logs/tlog.ts';
import { STX_V2 } from '../../../../../../../shared/mavlink/frame-head.ts';
import { plainText } from '../../../../../../../shared/plain-text.ts';
import type { LogField, LogGroup, LogIndex } from './log-index.ts';
import { toneOf } from './marks.ts';
import type { MavlinkField, MavlinkMessage } from './mavlink-message.ts';

/** Start byte to payload. */
const HEAD_V1 = 6;
const HEAD_V2 = 10;
const MAX_FRAME = 280;
const MAX_PAYLOAD = 255;

const HEARTBEAT = 0;
const STATUSTEXT = 253;
const ARMED = 128;
const TEXT_BYTES = 50;

/** Reads a telemetry log into an index. @param messages all that MAVLink has */
export function readTlogLog(log: LogBytes, index: LogIndex, messages: readonly MavlinkMessage[]): void {
  const reader = new TlogLog(log, index, messages);
  walkTlog(log, (at) => reader.frame(at));
}

class TlogLog {
  readonly #log: LogBytes;
  readonly #index: LogIndex;
  readonly #messages: ReadonlyMap<number, MavlinkMessage>;
  readonly #clock: LogClock;
  readonly #vehicle: Sender | null;
  readonly #fields = new Map<number, readonly LogField[]>();
  /** By message, system and component; null: too many. */
  readonly #groups = new Map<number, LogGroup | null>();

  constructor(log: LogBytes, index: LogIndex, messages: readonly MavlinkMessage[]) {
    this.#log = log;
    this.#index = index;
    this.#messages = new Map(messages.map((message) => [message[0], message]));
    index.utcOfZero = 0;
    this.#vehicle = vehicleIn(log.again());
    this.#clock = LogClock.of((onTime) => walkTlog(log.again(), onTime));
  }

  /** @returns whether more is wanted */
  frame(told: number): boolean {
    const start = this.#log.start + STAMP_BYTES;
    const { id, system, component } = headAt(this.#log);
    const group = this.#groupOf(id, { system, component });
    const at = this.#clock.timeOf(told);
    if (at !== null && (id === HEARTBEAT || id === STATUSTEXT))
      this.#mark(at, id, start, { system, component });
    if (group === null) return true;
    if (at !== null) return this.#index.add(group, this.#log.position + STAMP_BYTES, at);
    group.seen++;
    return true;
  }

  #groupOf(id: number, { system, component }: Sender): LogGroup | null {
    const key = (id * 256 + system) * 256 + component;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const name = `${this.#messages.get(id)?.[1] ?? `MESSAGE_${id}`} ${system}/${component}`;
    const group = this.#index.full ? null : this.#index.group(name, this.#fieldsOf(id), MAX_FRAME);
    if (group !== null) this.#groups.set(key, group);
    return group;
  }

  #fieldsOf(id: number): readonly LogField[] {
    const known = this.#fields.get(id);
    if (known !== undefined) return known;
    const fields = (this.#messages.get(id)?.[2] ?? []).flatMap(fieldsOf);
    this.#fields.set(id, fields);
    return fields;
  }

  /** What the autopilot says of itself; others on the link tell nothing. */
  #mark(at: number, id: number, start: number, sender: Sender): void {
    const { view } = this.#log;
    const { marks } = this.#index;
    const u8 = (place: number): number => numberAt('uint8_t', place)(view, start);
    if (this.#vehicle?.system !== sender.system || this.#vehicle.component !== sender.component) return;
    if (id === HEARTBEAT) marks.family ??= familyOf(u8(5), u8(4));
    if (id === STATUSTEXT) {
      const head = view.getUint8(start) === STX_V2 ? HEAD_V2 : HEAD_V1;
      const there = Math.min(TEXT_BYTES, Math.max(0, view.getUint8(start + 1) - 1));
      marks.event(at, plainText(textAt(view, start + head + 1, there)), toneOf(u8(0)));
    } else {
      marks.mode(at, numberAt('uint32_t', 0)(view, start));
      marks.armed(at, (u8(6) & ARMED) !== 0);
    }
  }
}

function fieldsOf([name, type, at, count, unit]: MavlinkField): readonly LogField[] {
  if (type === 'char') return [{ name, unit, get: null }];
  const size = NUMBERS[type][0];
  return Array.from({ length: count }, (_, index) => ({
    name: count === 1 ? name : `${name}[${index}]`,
    unit,
    get: numberAt(type, at + index * size),
  }));
}

const padded = new Uint8Array(MAX_PAYLOAD + 8);
const paddedView = new DataView(padded.buffer);

/** Of the frame that begins at a place. Zeros at the end of a payload are not sent (MAVLink 2). */
function numberAt(type: keyof typeof NUMBERS, at: number): GetNumber {
  const [size, get] = NUMBERS[type];
  return (view, start) => {
    const from = start + (view.getUint8(start) === STX_V2 ? HEAD_V2 : HEAD_V1);
    const there = view.getUint8(start + 1) - at;
    if (there >= size) return get(view, from + at);
    for (let index = 0; index < size; index++)
      padded[index] = index < there ? view.getUint8(from + at + index) : 0;
    return get(paddedView, 0);
  };
}
