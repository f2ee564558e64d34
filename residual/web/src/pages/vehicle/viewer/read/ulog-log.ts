import type { LogBytes } from '../../../../../../../shared/logs/log-bytes.ts';
import { LogClock } from '../../../../../../../shared/logs/log-clock.ts';
import { type GetNumber, NUMBERS, textAt } from '../../../../../../../shared/logs/numbers.ts';
import { loggedWords, ulogStart, walkUlog } from '../../../../../../../shared/logs/ulog.ts';
import { type FlatField, UlogFormats } from '../../../../../../../shared/logs/ulog-format.ts';
import { ULOG_ARMED, ulogModeName } from '../../../../../../../shared/logs/ulog-names.ts';
import { plainText } from '../../../../../../../shared/plain-text.ts';
import { viewerWords } from '../viewer-words.ts';
import type { LogField, LogGroup, LogIndex } from './log-index.ts';
import { toneOf } from './marks.ts';

const HEAD_BYTES = 3;
/** Head and number of the subscription: the data is behind them. */
const DATA = HEAD_BYTES + 2;
const MAX_SUBSCRIPTIONS = 1024;
const MAX_ROW = 65_535 + HEAD_BYTES;
const LEVEL_0 = '0'.charCodeAt(0);
const FIX_3D = 3;
const GPS: readonly string[] = ['vehicle_gps_position', 'sensor_gps'];

interface Subscription {
  readonly topic: string;
  readonly group: LogGroup | null;
  readonly time: GetNumber | null;
  readonly get: (field: string, view: DataView, start: number) => number;
}

/** Reads a ULog into an index. @returns false for one that is written in a way that is not known */
export function readUlogLog(log: LogBytes, index: LogIndex): boolean {
  const reader = new UlogLog(log, index);
  return walkUlog(log, (type, at, size) => reader.message(type, at, size));
}

class UlogLog {
  readonly #log: LogBytes;
  readonly #index: LogIndex;
  readonly #clock: LogClock;
  readonly #formats = new UlogFormats();
  readonly #subscriptions = new Map<number, Subscription>();
  /** By topic and number: one that is subscribed to again goes on. */
  readonly #groups = new Map<string, LogGroup | null>();
  #failsafe: boolean | null = null;

  constructor(log: LogBytes, index: LogIndex) {
    this.#log = log;
    this.#index = index;
    this.#clock = new LogClock(ulogStart(log));
  }

  /** @returns whether more is wanted */
  message(type: string, at: number, size: number): boolean {
    const { view } = this.#log;
    if (type === 'D') return size < 2 || this.#data(view, at, size);
    if (type === 'F') this.#formats.define(textAt(view, at, size));
    else if (type === 'A') this.#subscribe(view, at, size);
    else if (type === 'L') this.#text(view, at, 9, size);
    else if (type === 'C') this.#text(view, at, 11, size);
    return true;
  }

  #subscribe(view: DataView, at: number, size: number): void {
    if (size < 4 || this.#subscriptions.size >= MAX_SUBSCRIPTIONS) return;
    const [instance, id] = [view.getUint8(at), view.getUint16(at + 1, true)];
    const topic = textAt(view, at + HEAD_BYTES, size - HEAD_BYTES);
    const fields = this.#formats.flatFieldsOf(topic);
    const getters = new Map(fields.map((field) => [field.name, getOf(field)]));
    const name = instance === 0 ? topic : `${topic}[${instance}]`;
    const group = this.#groups.has(name)
      ? (this.#groups.get(name) ?? null)
      : this.#index.group(plainText(name), fields.map(fieldOf), MAX_ROW);
    this.#groups.set(name, group);
    this.#subscriptions.set(id, {
      topic: instance === 0 ? topic : '',
      group,
      time: getters.get('timestamp') ?? null,
      get: (field, bytes, start) => getters.get(field)?.(bytes, start) ?? Number.NaN,
    });
  }

  #data(view: DataView, at: number, size: number): boolean {
    const subscription = this.#subscriptions.get(view.getUint16(at, true));
    if (subscription === undefined || size < 2) return true;
    const { topic, group, time: timeOf } = subscription;
    const start = at - HEAD_BYTES;
    const told = timeOf === null ? Number.NaN : timeOf(view, start) / 1e6;
    const time = this.#clock.timeOf(told);
    if (time === null) {
      if (group !== null) group.seen++;
      return true;
    }
    const number = (field: string): number => subscription.get(field, view, start);
    if (topic === 'vehicle_status') this.#status(time, number);
    else if (this.#index.utcOfZero === null && GPS.includes(topic) && number('fix_type') >= FIX_3D) {
      const utc = number('time_utc_usec');
      if (utc > 0) this.#index.utcOfZero = (utc - told * 1e6) / 1000;
    }
    return group === null || this.#index.add(group, this.#log.position, time);
  }

  #status(time: number, number: (field: string) => number): void {
    const { marks } = this.#index;
    const [arming, nav, failsafe] = [number('arming_state'), number('nav_state'), number('failsafe')];
    if (Number.isFinite(nav)) marks.mode(time, ulogModeName(nav));
    if (Number.isFinite(arming)) marks.armed(time, arming === ULOG_ARMED);
    if (!Number.isFinite(failsafe)) return;
    const isOn = failsafe === 1;
    if (isOn !== (this.#failsafe ?? false))
      marks.event(
        time,
        isOn ? viewerWords.events.failsafeOn : viewerWords.events.failsafeOff,
        isOn ? 'bad' : 'info',
      );
    this.#failsafe = isOn;
  }

  /** @param head bytes before the words, the last eight of which are the time */
  #text(view: DataView, at: number, head: number, size: number): void {
    if (size <= head) return;
    const time = this.#clock.timeOf(NUMBERS.uint64_t[1](view, at + head - 8) / 1e6);
    if (time === null) return;
    const words = loggedWords(new Uint8Array(view.buffer, at + head, size - head));
    this.#index.marks.event(time, plainText(words), toneOf(view.getUint8(at) - LEVEL_0));
  }
}

/** Behind the end of a message that is shorter than its format nothing is read. */
function getOf({ at, get, size }: FlatField): GetNumber {
  if (get === null) return () => Number.NaN;
  const end = DATA + at + size - HEAD_BYTES;
  return (view, start) => (view.getUint16(start, true) < end ? Number.NaN : get(view, start + DATA + at));
}

function fieldOf(field: FlatField): LogField {
  return { name: field.name, unit: '', get: field.get === null ? null : getOf(field) };
}
