import type { Random } from '../../../shared/random.ts';
import type { Faults } from '../faults.ts';
import { MavSeverity } from '../mavlink-values.ts';
import { type MessageType, StatusText } from './messages.ts';
import type { Signing } from './signing.ts';
import { encode, frame } from './wire.ts';

/** Bytes to the client; false when the client does not keep up. */
export type Sink = (bytes: Buffer) => void;

const TEXT = 50; // bytes of text in one STATUSTEXT
/** PX4: a ground station whose heartbeat is older has gone; texts wait for the next one, so many and so long. */
const STATION_MS = 2500;
const WAITING = 8;
const WAITING_MS = 5000;
const UNKNOWN_ID = 54321; // in no dialect of mavlink-mappings
const UNKNOWN_EVERY = 8;

interface ChannelOptions {
  readonly now: () => number;
  /** PX4 sends its texts only while it hears a ground station (streams/STATUSTEXT.hpp). */
  readonly textsForStations: boolean;
}

/** The vehicle's one telemetry channel. Numbers and frames messages, and spoils them as the faults say. */
export class Channel {
  readonly #options: ChannelOptions;
  readonly #faults: Faults;
  readonly #signing: Signing;
  readonly #random: Random;
  readonly #sysid: () => number;
  #sink: Sink | undefined;
  #seq = 0;
  #frames = 0;
  #textId = 0;
  #stationAt = -Infinity;
  #waiting: { readonly at: number; readonly severity: MavSeverity; readonly text: string }[] = [];

  constructor(
    sysid: () => number,
    signing: Signing,
    faults: Faults,
    random: Random,
    options: ChannelOptions,
  ) {
    this.#options = options;
    this.#signing = signing;
    this.#sysid = sysid;
    this.#faults = faults;
    this.#random = random;
  }

  /** The client that hears everything from now on; undefined: nobody does. */
  connect(sink: Sink | undefined): void {
    this.#sink = sink;
  }

  get connected(): boolean {
    return this.#sink !== undefined;
  }

  /** Sends one message; fields that are absent are zero. */
  send<T extends object>(type: MessageType<T>, values: Partial<T>): void {
    if (this.#sink === undefined || this.#faults.silence) return;
    const { garbage } = this.#faults;
    if (garbage > 0 && this.#random() < garbage) this.#sink(this.#garbage());
    this.#put(type.MSG_ID, encode(type, values), type.MAGIC_NUMBER);
    if (this.#faults.unknownIds && ++this.#frames % UNKNOWN_EVERY === 0) {
      const payload = Buffer.from(Array.from({ length: 24 }, () => Math.floor(this.#random() * 255) + 1));
      this.#put(UNKNOWN_ID, payload, 77);
    }
  }

  /** The heartbeat of a ground station has come. */
  heardStation(): void {
    const now = this.#options.now();
    this.#stationAt = now;
    const waiting = this.#waiting.splice(0);
    for (const { at, severity, text } of waiting) if (now - at < WAITING_MS) this.#text(severity, text);
  }

  /** STATUSTEXT, where it is sent at all. */
  text(severity: MavSeverity, text: string): void {
    const { now, textsForStations } = this.#options;
    if (!textsForStations || now() - this.#stationAt <= STATION_MS) this.#text(severity, text);
    else this.#waiting = [...this.#waiting, { at: now(), severity, text }].slice(-WAITING);
  }

  /** A text over 50 bytes goes out in numbered chunks, as MAVLink 2 allows. */
  #text(severity: MavSeverity, text: string): void {
    const chunks = text.match(/[\s\S]{1,50}/g) ?? [''];
    const id = chunks.length > 1 ? (this.#textId = (this.#textId % 65535) + 1) : 0;
    for (const [chunkSeq, part] of chunks.entries())
      this.send(StatusText, { severity, text: part, id, chunkSeq });
    // A last chunk that fills its frame does not say that it is the last: an empty one follows.
    if (id !== 0 && chunks.at(-1)?.length === TEXT) {
      this.send(StatusText, { severity, text: '', id, chunkSeq: chunks.length });
    }
  }

  /** A message that mavlink-mappings does not have. @param payload in full; its zeros at the end are cut off */
  raw(msgid: number, payload: Buffer, extra: number): void {
    if (this.#sink !== undefined && !this.#faults.silence) this.#put(msgid, payload, extra);
  }

  // A frame that gets lost has had its number: the gap is what the other end sees.
  #put(msgid: number, payload: Buffer, extra: number): void {
    const sign = this.#signing.active ? (bytes: Buffer) => this.#signing.sign(bytes) : undefined;
    const bytes = frame(this.#ids(msgid), payload, extra, sign);
    const { dropFrames } = this.#faults;
    if (dropFrames === 0 || this.#random() >= dropFrames) this.#sink?.(bytes);
  }

  #ids(msgid: number): { sysid: number; compid: number; seq: number; msgid: number } {
    const seq = this.#seq;
    this.#seq = (this.#seq + 1) & 0xff;
    return { sysid: this.#sysid(), compid: 1, seq, msgid };
  }

  #garbage(): Buffer {
    const bytes = Array.from({ length: 1 + Math.floor(this.#random() * 40) }, () =>
      this.#random() < 0.15 ? 0xfd : Math.floor(this.#random() * 256),
    );
    return Buffer.from(bytes);
  }
}
