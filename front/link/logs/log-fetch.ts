import { ApiError, messageOf } from '../../../shared/errors.ts';
import { LOG_DATA_BYTES, type LogData } from '../../../shared/mavlink/decode-logs.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import { armedRefusal, type Guard } from '../vehicle/guard.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { type Gap, LogWindow } from './log-window.ts';

/** A window takes about this long without loss; then the line is the telemetry's for a while. */
const WINDOW_MS = 400;
/** Share of the time that a download has the line. */
const SHARE = 0.6;
const MIN_BLOCKS = 8;
/** 64 KB: what is in memory of a log. */
const MAX_BLOCKS = 720;
/** What is missing is requested after so much silence: three round trips, within these bounds. */
const MIN_QUIET_MS = 150;
const MAX_QUIET_MS = 1000;
const ROUND_TRIPS = 3;
/** Requests in a row that brought nothing new. */
const MAX_SILENT = 25;
/** Two requests are never closer: whatever the vehicle sends, it is asked at most 25 times a second. */
const ASK_MS = 40;
/** So often in a row a vehicle has to say that a log ends before its listed size. */
const ENDS = 2;

/** The file that a log is written to; bytes are only ever added at its end. */
export interface LogSink {
  /** Bytes that are in the file: here the download goes on. */
  readonly length: number;
  append(bytes: Buffer): Promise<void>;
}

interface LogFetchOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  readonly encoder: Encoder;
  readonly ask: (bytes: Buffer) => void;
  readonly id: number;
  readonly size: number;
  readonly sink: LogSink;
  /** @param error null: the log is complete */
  readonly onEnd: (error: ApiError | null) => void;
}

/**
 * Reads one log by LOG_REQUEST_DATA in windows that follow each other with pauses. How many bytes make a window is measured, so
 * that the share of the line is the same on a slow radio and on USB. (MAVLink FTP has larger frames, but ArduPilot sends all
 * telemetry at a quarter of its rate while it serves a file.)
 */
export class LogFetch {
  readonly #options: LogFetchOptions;
  #window: LogWindow | null = null;
  /** What was requested last. */
  #asked: Gap = { start: 0, end: 0 };
  #blocks = MIN_BLOCKS;
  #askedAt = 0;
  /** When the newest block of this request came; null before the first one. */
  #heardAt: number | null = null;
  /** Longest of the newest waits for the first block of a request, slowly forgotten, ms. */
  #roundTrip = MIN_QUIET_MS;
  /** How long blocks of this window came, ms, and when it began. */
  #busy = 0;
  #begunAt = 0;
  #watch: Timer | null = null;
  #silent = 0;
  /** Bytes of the log: as it was listed, or where the vehicle says that it ends. */
  #size: number;
  /** Answers without a byte to the present gap. */
  #ends = 0;
  #pause: Timer | null = null;
  #over = false;

  constructor(options: LogFetchOptions) {
    this.#options = options;
    this.#size = options.size;
  }

  start(): void {
    this.#next();
  }

  onData(data: LogData): void {
    const window = this.#window;
    if (this.#over || window === null || data.id !== this.#options.id) return;
    const now = this.#options.clock.now();
    if (window.add(data)) {
      if (this.#heardAt === null) this.#roundTrip = Math.max(now - this.#askedAt, this.#roundTrip * 0.9);
      this.#heardAt = now;
      this.#silent = 0;
      this.#ends = 0;
    } else if (data.data.length === 0 && data.offset === this.#asked.start) this.#onEnd(window);
    if (window.complete) this.#flush(window);
    // The end of what was asked for: what is missing now was lost. Without a new byte it is not asked again before its time.
    else if (this.#heardAt !== null && data.offset + data.data.length >= this.#asked.end)
      this.#askSoon(window);
  }

  /** No bytes where some were asked for: the log is shorter than listed (LOG_DATA.count is 0 at its end), if that is said again. */
  #onEnd(window: LogWindow): void {
    if (++this.#ends < ENDS) {
      this.#askSoon(window);
      return;
    }
    this.#size = this.#asked.start;
    window.cut(this.#size);
  }

  /** Called a few times a second. */
  tick(): void {
    const { vehicle, guard } = this.#options;
    if (!guard.mustEnd(vehicle.target?.system ?? null)) return;
    const why = 'The vehicle was armed. The download goes on when it is disarmed.';
    this.#end(armedRefusal('fetch a log', true, why));
  }

  /** Ends without a call of `onEnd`. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#pause?.cancel();
    this.#watch?.cancel();
    const { encoder, ask, vehicle } = this.#options;
    if (vehicle.target !== null) ask(encoder.logRequestEnd(vehicle.target));
  }

  #next(): void {
    const { clock, sink } = this.#options;
    if (this.#over) return;
    if (sink.length >= this.#size) {
      this.#end(null);
      return;
    }
    const window = new LogWindow(
      sink.length,
      Math.min(this.#size, sink.length + this.#blocks * LOG_DATA_BYTES),
    );
    this.#window = window;
    this.#begunAt = clock.now();
    this.#busy = 0;
    this.#ask(window);
  }

  /** Asks when the last request is `ASK_MS` old. */
  #askSoon(window: LogWindow): void {
    const { clock } = this.#options;
    this.#watch?.cancel();
    this.#watch = clock.after(Math.max(0, this.#askedAt + ASK_MS - clock.now()), () => {
      if (!this.#over && this.#window === window) this.#ask(window);
    });
  }

  #ask(window: LogWindow): void {
    const { clock, encoder, id, ask, vehicle } = this.#options;
    this.#settle();
    const gap = window.gap();
    this.#askedAt = clock.now();
    this.#watchOver(window);
    if (gap === null || vehicle.target === null) return;
    this.#asked = gap;
    ask(encoder.logRequestData(vehicle.target, id, gap.start, gap.end - gap.start));
  }

  /** Ends the account of a request. */
  #settle(): void {
    if (this.#heardAt !== null) this.#busy += this.#heardAt - this.#askedAt;
    this.#heardAt = null;
  }

  /** Looks again when the present silence would be long enough. */
  #watchOver(window: LogWindow): void {
    const { clock } = this.#options;
    this.#watch?.cancel();
    const limit = Math.min(MAX_QUIET_MS, Math.max(MIN_QUIET_MS, this.#roundTrip * ROUND_TRIPS));
    const silence = clock.now() - (this.#heardAt ?? this.#askedAt);
    this.#watch = clock.after(Math.max(1, limit - silence), () => {
      if (this.#over || this.#window !== window) return;
      if (clock.now() - (this.#heardAt ?? this.#askedAt) < limit) this.#watchOver(window);
      else if (++this.#silent <= MAX_SILENT) this.#ask(window);
      else {
        const why = 'The vehicle sends nothing of this log. The next request goes on where it ended.';
        this.#end(new ApiError('E_TIMEOUT', why));
      }
    });
  }

  #flush(window: LogWindow): void {
    const { clock, sink } = this.#options;
    this.#settle();
    this.#window = null;
    this.#watch?.cancel();
    const busy = Math.max(1, this.#busy);
    const wanted = Math.min(this.#blocks * 2, Math.floor((this.#blocks * WINDOW_MS) / busy));
    this.#blocks = Math.max(MIN_BLOCKS, Math.min(MAX_BLOCKS, wanted));
    // Silence after losses was the telemetry's already.
    const idle = clock.now() - this.#begunAt - busy;
    const rest = Math.max(0, (busy * (1 - SHARE)) / SHARE - idle);
    sink.append(window.bytes).then(
      () => {
        if (!this.#over) this.#pause = clock.after(sink.length >= this.#size ? 0 : rest, () => this.#next());
      },
      (error: unknown) =>
        this.#end(new ApiError('E_STORE', `The log could not be written: ${messageOf(error)}.`)),
    );
  }

  #end(error: ApiError | null): void {
    if (this.#over) return;
    this.stop();
    this.#options.onEnd(error);
  }
}
