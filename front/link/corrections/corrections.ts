import { Retry } from '../../../shared/async/retry.ts';
import { TokenBucket } from '../../../shared/async/token-bucket.ts';
import type { Place } from '../../../shared/flight/seen.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Mountpoint, RtkState } from '../../../shared/rpc/link-answers.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Methods, Part } from '../part.ts';
import { fragmentsOf, MAX_MESSAGE_BYTES } from './fragments.ts';
import { RtcmFramer } from './rtcm.ts';
import { nearest } from './source-table.ts';
import type { OpenStream, Stream } from './stream.ts';

const FIRST_RETRY_MS = 1000;
/** With the longest jitter a minute. */
const LAST_RETRY_MS = 48_000;
const JITTER = 0.25;
/** A stream that lasts so long works: the next pause is the first again. */
const WORKS_MS = 10_000;
const STALE_MS = 10_000;
const SILENT_MS = 30_000;
const SECOND_MS = 1000;
const RATE_SECONDS = 5;

/** Of all constellations ten times a second; a few seconds of it at once. What sends more is closed. */
const MAX_BYTES = { perSecond: 64 * 1024, burst: 256 * 1024 } as const;
/** Each costs the time of a whole frame. */
const MAX_BAD_FRAMES = { perSecond: 20, burst: 100 } as const;
/** Of a real stream: about ten. */
const MAX_TYPES = 128;

/** Of the line to the vehicle, what corrections may take: commands have to get through. */
const SHARE = 0.5;
const BITS_PER_BYTE = 10;
/** Of a line that is not serial. */
const USUAL_BAUD = 921_600;
/** STX, header, flags, length and checksum of each GPS_RTCM_DATA. */
const OVERHEAD_BYTES = 14;

interface CorrectionsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** From 0 to 1. */
  readonly random: () => number;
  /** As people read it. */
  readonly source: string;
  /** Null: not from a caster. */
  readonly mountpoint: string | null;
  readonly open: OpenStream;
  /** Where the vehicle is; null: not known. */
  readonly place: () => Place | null;
  /** Whether a caster waits for the place of the vehicle, and that is not known. */
  readonly lacksPlace: () => boolean;
  readonly vehicle: CorrectedVehicle;
}

/** Where corrections go. */
export interface CorrectedVehicle {
  /** One GPS_RTCM_DATA. @returns false when it was dropped */
  readonly send: (flags: number, data: Buffer) => boolean;
  /** Of the line to it; null: it is not serial. */
  readonly baud: () => number | null;
}

/** What of one connection is counted. */
interface Connection {
  readonly stream: Stream;
  readonly framer: RtcmFramer;
  readonly bytes: TokenBucket;
  readonly badFrames: TokenBucket;
  /** When it was open; null: not yet. */
  openAt: number | null;
  /** Of its newest frame. */
  frameAt: number | null;
  hasBytes: boolean;
}

/**
 * Corrections for the receiver of the vehicle: whole RTCM 3 frames of one source, as GPS_RTCM_DATA. The source is on the network and may send
 * anything, so what it costs is bounded: in bytes a second, in frames with a wrong checksum, and in what goes to the vehicle.
 */
export class Corrections implements Part {
  readonly methods = { rtk: () => this.state } satisfies Methods;
  readonly #options: CorrectionsOptions;
  readonly #retry: Retry;
  #connection: Connection | null = null;
  #timer: Timer | null = null;
  #sequence = 0;
  #toVehicle: TokenBucket;
  #bytes = 0;
  #frames = 0;
  #badFrames = 0;
  #dropped = 0;
  readonly #messages = new Map<number, number>();
  #frameAt: number | null = null;
  /** When the vehicle's line had no room. */
  #fullAt = -Infinity;
  /** The newest one that MAVLink does not carry. */
  #tooLong = { at: -Infinity, type: 0, bytes: 0 };
  /** Bytes at the last seconds, the newest last. */
  #seconds: readonly number[] = [0];
  #problem: string | null = null;
  /** Of the last refusal. */
  #mountpoints: readonly Mountpoint[] | null = null;

  constructor(options: CorrectionsOptions) {
    this.#options = options;
    const { clock, random } = options;
    const after = (ms: number, run: () => void): Timer => clock.after(ms * (1 + JITTER * random()), run);
    this.#retry = new Retry(() => this.#connect(), { firstMs: FIRST_RETRY_MS, capMs: LAST_RETRY_MS, after });
    // In ms of the vehicle's line.
    this.#toVehicle = new TokenBucket({ perSecond: 1000 * SHARE, burst: 1000 * SHARE }, clock.now());
  }

  get state(): RtkState {
    const { source, mountpoint, clock, place } = this.#options;
    const [first = 0] = this.#seconds;
    const seconds = Math.max(1, this.#seconds.length - 1);
    return {
      state: this.#phase(),
      source,
      mountpoint,
      bytes: this.#bytes,
      frames: this.#frames,
      bad_frames: this.#badFrames,
      dropped: this.#dropped,
      messages: Object.fromEntries([...this.#messages].toSorted(([a], [b]) => a - b)),
      rate_bps: Math.round(((this.#seconds.at(-1) ?? 0) - first) * (8 / seconds)),
      age_s: this.#frameAt === null ? null : Math.round(clock.now() - this.#frameAt) / 1000,
      problem: this.#complaint() ?? this.#problem ?? this.#crowding(),
      mountpoints: this.#mountpoints === null ? null : nearest(this.#mountpoints, place()),
    };
  }

  start(): void {
    this.#timer = this.#options.clock.every(SECOND_MS, () => this.#look());
    this.#retry.start();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#retry.stop();
    this.#connection?.stream.close();
    this.#connection = null;
  }

  #phase(): RtkState['state'] {
    if (this.#connection === null) return 'failed';
    const { openAt, frameAt } = this.#connection;
    if (openAt !== null && this.#silentMs(this.#connection) >= STALE_MS) return 'stale';
    return frameAt === null ? 'connecting' : 'streaming';
  }

  #silentMs({ openAt, frameAt }: Connection): number {
    const now = this.#options.clock.now();
    return now - (frameAt ?? openAt ?? now);
  }

  /** What is not as it should be although the source is connected. */
  #complaint(): string | null {
    const connection = this.#connection;
    if (connection === null || this.#silentMs(connection) < STALE_MS) return null;
    if (connection.hasBytes && connection.frameAt === null) return 'What comes from the source is no RTCM 3.';
    return this.#options.lacksPlace()
      ? 'Nothing comes. A virtual station waits for the place of the vehicle, which is not known.'
      : 'Nothing comes from the source.';
  }

  #crowding(): string | null {
    const now = this.#options.clock.now();
    if (now - this.#fullAt < STALE_MS)
      return 'The line to the vehicle has no room for all corrections. Take fewer messages, or a faster line.';
    const { at, type, bytes } = this.#tooLong;
    if (now - at >= SILENT_MS) return null;
    return `Message ${type} has ${bytes} bytes and is left out: MAVLink carries ${MAX_MESSAGE_BYTES}. Take a mountpoint with shorter ones (MSM4).`;
  }

  #connect(): void {
    const { clock, open } = this.#options;
    const now = clock.now();
    const connection: Connection = {
      stream: open({
        onOpen: () => {
          connection.openAt = clock.now();
          this.#mountpoints = null;
        },
        onData: (chunk) => this.#take(connection, chunk),
        onEnd: (problem, mountpoints) => this.#end(connection, problem, mountpoints),
      }),
      framer: new RtcmFramer({
        onFrame: (frame, type) => this.#frame(connection, frame, type),
        onBadFrame: () => {
          this.#badFrames++;
          return connection.badFrames.take(clock.now());
        },
      }),
      bytes: new TokenBucket(MAX_BYTES, now),
      badFrames: new TokenBucket(MAX_BAD_FRAMES, now),
      openAt: null,
      frameAt: null,
      hasBytes: false,
    };
    this.#connection = connection;
  }

  #take(connection: Connection, chunk: Buffer): void {
    if (connection !== this.#connection) return;
    this.#bytes += chunk.length;
    connection.hasBytes = true;
    if (!connection.bytes.take(this.#options.clock.now(), chunk.length))
      return this.#end(connection, 'The source sends more than 64 kB a second, which are no corrections.');
    if (!connection.framer.push(chunk))
      this.#end(
        connection,
        'Most of what comes is damaged, or no RTCM 3. Check the source, and the rate of a serial port.',
      );
  }

  #frame(connection: Connection, frame: Buffer, type: number | null): void {
    const now = this.#options.clock.now();
    if (connection.frameAt === null && this.#problem !== null) {
      this.#options.log.info(`corrections: they come from ${this.#options.source}`);
      this.#problem = null;
    }
    this.#frames++;
    this.#frameAt = now;
    connection.frameAt = now;
    if (now - (connection.openAt ?? now) >= WORKS_MS) this.#retry.worked();
    if (type === null) return; // it only fills the line
    if (this.#messages.has(type) || this.#messages.size < MAX_TYPES)
      this.#messages.set(type, (this.#messages.get(type) ?? 0) + 1);
    if (frame.length > MAX_MESSAGE_BYTES) this.#tooLong = { at: now, type, bytes: frame.length };
    if (!this.#send(frame, now)) this.#dropped++;
  }

  /** @returns false when not all of it has gone */
  #send(frame: Buffer, now: number): boolean {
    const { vehicle } = this.#options;
    const fragments = fragmentsOf(frame, this.#sequence);
    if (fragments === null) return false;
    const bytes = frame.length + fragments.length * OVERHEAD_BYTES;
    const lineMs = (bytes * BITS_PER_BYTE * 1000) / (vehicle.baud() ?? USUAL_BAUD);
    if (!this.#toVehicle.take(now, lineMs)) {
      this.#fullAt = now;
      return false;
    }
    this.#sequence++;
    return fragments.every(({ flags, data }) => vehicle.send(flags, data));
  }

  #end(connection: Connection, problem: string, mountpoints?: readonly Mountpoint[]): void {
    if (connection !== this.#connection) return;
    this.#connection = null;
    connection.stream.close();
    if (problem !== this.#problem) this.#options.log.warn(`corrections: ${problem}`);
    this.#problem = problem;
    if (mountpoints !== undefined) this.#mountpoints = mountpoints;
    this.#retry.again();
  }

  #look(): void {
    this.#seconds = [...this.#seconds, this.#bytes].slice(-RATE_SECONDS - 1);
    const connection = this.#connection;
    if (connection === null || this.#silentMs(connection) < SILENT_MS) return;
    const complaint = this.#complaint() ?? '';
    this.#end(connection, `${complaint} It is connected again.`);
  }
}
