import { type Craft, MavSeverity } from '../flight/craft.ts';
import type { Channel } from './channel.ts';
import { LogData, LogEntry } from './messages.ts';

const DATA = 90;
const ALL = 0xffff;
const HEARD_MS = 3000;
const FIRST_TIME = 1_760_000_000;

/** In what the two firmwares differ. */
export type LogDialect = 'ardupilot' | 'px4';

export interface LogOptions {
  /** How many logs there are at the start. */
  readonly count: number;
  /** Bytes of each. */
  readonly size: number;
  /** Bytes of logs a second. */
  readonly rate: number;
}

/** A log of a flight of this run. */
interface StoredLog {
  readonly bytes: Buffer;
  /** When it began, seconds since 1970. */
  readonly utc: number;
}

/** Of flights of this run; older ones go first, as on a full card. */
const MOST_WRITTEN = 20;

interface Sending {
  readonly id: number;
  offset: number;
  /** Where the request ends. */
  readonly end: number;
}

/**
 * The log protocol (https://mavlink.io/en/services/log_transfer.html), from ArduPilot's AP_Logger_MAVLinkLogTransfer and PX4's
 * mavlink_log_handler. ArduPilot counts from 1, does nothing while armed, drops requests while it sends, says "0 logs" with one
 * entry, and sends nothing 3 s after the last heartbeat. PX4 counts from 0, sends nothing before a list was asked for, says
 * nothing when there is none, and a new request takes the place of the last.
 */
export class LogLink {
  readonly #craft: Craft;
  readonly #channel: Channel;
  readonly #dialect: LogDialect;
  readonly #options: LogOptions;
  #count: number;
  readonly #written = new Map<number, StoredLog>();
  #listing: { next: number; readonly last: number } | undefined;
  #sending: Sending | undefined;
  #listed = false;
  #warned = false;
  #heard = -Infinity;
  #credit = 0;
  #last = 0;

  constructor(craft: Craft, channel: Channel, dialect: LogDialect, options: LogOptions) {
    this.#craft = craft;
    this.#channel = channel;
    this.#dialect = dialect;
    this.#options = options;
    this.#count = options.count;
  }

  get busy(): boolean {
    return this.#listing !== undefined || this.#sending !== undefined;
  }

  reset(): void {
    this.#listing = undefined;
    this.#sending = undefined;
    this.#listed = false;
  }

  /** HEARTBEAT of anybody. @param now wall clock, ms */
  heard(now: number): void {
    this.#heard = now;
  }

  /** LOG_REQUEST_LIST. */
  list(start: number, end: number, now: number): void {
    if (!this.#takes()) return;
    this.#last = now;
    if (this.#dialect === 'px4') {
      this.#listed = true;
      this.#sending = undefined;
      this.#listing = this.#count === 0 ? undefined : { next: start, last: this.#count - 1 };
      return;
    }
    if (this.busy) return;
    this.#listing =
      this.#count === 0
        ? { next: 0, last: 0 }
        : { next: Math.max(1, start), last: Math.min(end, this.#count) };
  }

  /** LOG_REQUEST_DATA. */
  data(id: number, offset: number, count: number, now: number): void {
    if (!this.#takes()) return;
    if (this.#dialect === 'px4' ? !this.#listed : this.busy) return;
    this.#last = now;
    this.#listing = undefined;
    const size = this.#sizeOf(id);
    if (size === undefined || (this.#dialect === 'px4' && offset >= size)) this.#sending = undefined;
    else this.#sending = { id, offset, end: Math.min(size, offset + count) };
  }

  /** A flight is over. @param utc when it began, seconds since 1970 */
  add(bytes: Buffer, utc: number): void {
    const id = this.#first + this.#count;
    this.#count += 1;
    this.#written.set(id, { bytes, utc });
    for (const old of [...this.#written.keys()].slice(0, -MOST_WRITTEN))
      this.#written.set(old, { bytes: Buffer.alloc(0), utc: 0 });
  }

  /** LOG_ERASE. */
  erase(): void {
    if (!this.#takes()) return;
    this.reset();
    this.#count = 0;
    this.#written.clear();
  }

  /** LOG_REQUEST_END. */
  end(): void {
    if (!this.#takes()) return;
    this.#listing = undefined;
    this.#sending = undefined;
  }

  /** @param now wall clock, ms */
  tick(now: number): void {
    if (!this.busy) return;
    const { rate } = this.#options;
    this.#credit = Math.min(
      Math.max(20 * DATA, rate / 20),
      this.#credit + ((now - this.#last) * rate) / 1000,
    );
    this.#last = now;
    if (this.#dialect === 'ardupilot' && (this.#craft.vehicle.armed || now - this.#heard > HEARD_MS)) return;
    for (; this.#credit >= DATA && this.busy; this.#credit -= DATA) this.#step();
  }

  #takes(): boolean {
    if (this.#dialect === 'px4') return true;
    const { armed } = this.#craft.vehicle;
    if (armed && !this.#warned) this.#craft.text(MavSeverity.ERROR, 'Disarm for log download');
    this.#warned = armed;
    return !armed;
  }

  #step(): void {
    const listing = this.#listing;
    if (listing !== undefined) {
      const id = listing.next;
      if (id > listing.last) {
        this.#listing = undefined;
        return;
      }
      const known = this.#sizeOf(id);
      this.#channel.send(LogEntry, {
        timeUtc: known === undefined ? 0 : (this.#written.get(id)?.utc ?? FIRST_TIME + id * 600),
        size: known ?? 0,
        id,
        numLogs: this.#count,
        lastLogNum: this.#dialect === 'px4' ? this.#count : listing.last,
      });
      if (id === listing.last) this.#listing = undefined;
      else listing.next++;
      return;
    }
    const sending = this.#sending;
    if (sending === undefined) return;
    const length = Math.min(DATA, sending.end - sending.offset);
    const bytes = this.#written.get(sending.id)?.bytes;
    const data = Array.from({ length: DATA }, (_, i) => {
      const at = sending.offset + i;
      return i >= length ? 0 : bytes === undefined ? simulatedLogByte(sending.id, at) : (bytes[at] ?? 0);
    });
    this.#channel.send(LogData, { ofs: sending.offset, id: sending.id, count: Math.max(0, length), data });
    sending.offset += DATA;
    if (sending.offset >= sending.end) this.#sending = undefined;
  }

  /** Undefined: there is no such log. */
  #sizeOf(id: number): number | undefined {
    const known = id >= this.#first && id < this.#first + this.#count && id !== ALL;
    return known ? (this.#written.get(id)?.bytes.length ?? this.#options.size) : undefined;
  }

  /** The id of the first log. */
  get #first(): number {
    return this.#dialect === 'px4' ? 0 : 1;
  }
}

/** What the simulated logs have in them: nothing that repeats soon, and every log something else. */
export function simulatedLogByte(id: number, offset: number): number {
  return ((Math.imul(offset + 1, 0x9e3779b1) >>> 13) + id * 7) & 0xff;
}
