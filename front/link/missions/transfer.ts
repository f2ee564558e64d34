import type { MissionMessage } from '../../../shared/mavlink/decode-mission.ts';
import type { Clock, Timer } from '../clock.ts';
import type { MissionFrames } from './mission-frames.ts';
import type { RetryTime } from './retry-time.ts';

/** Without anything new for so long, a transfer has failed. ArduPilot gives up an upload after 8 s, PX4 after 5 s. */
const SILENT_MS = 10_000;
/** However slowly it goes on: 700 items over a telemetry radio take two minutes. */
const TOTAL_MS = 240_000;

export interface TransferOptions {
  readonly clock: Clock;
  readonly frames: MissionFrames;
  readonly send: (bytes: Buffer) => void;
  /** Of all transfers with this vehicle: what one has learned of the link the next one knows. */
  readonly retryTime: RetryTime;
  readonly onProgress: (done: number, total: number) => void;
}

/** One transfer: asks again when an answer takes too long, and ends after silence, after its total time, or by `end`. */
export abstract class Transfer<End> {
  protected readonly options: TransferOptions;
  /** How often the newest question was asked without an answer. */
  protected tries = 0;
  readonly #result: Promise<End | 'silent'>;
  #resolve: (end: End | 'silent') => void = () => undefined;
  #timer: Timer | null = null;
  #askedAt = 0;
  #newAt: number;
  readonly #startedAt: number;
  #over = false;

  constructor(options: TransferOptions) {
    this.options = options;
    this.#startedAt = options.clock.now();
    this.#newAt = this.#startedAt;
    this.#result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** How it ended; `silent`: the vehicle did not answer. */
  async run(): Promise<End | 'silent'> {
    this.begin();
    return this.#result;
  }

  /** A message of the vehicle to us about this list. */
  abstract onMessage(message: MissionMessage): void;

  /** The link is gone, or the node stops. */
  abort(): void {
    this.#finish('silent');
  }

  /** Asks the first question. */
  protected abstract begin(): void;
  /** Asks the newest question again. */
  protected abstract askAgain(): void;

  /** Sends questions, and waits for the answer. */
  protected ask(...questions: readonly Buffer[]): void {
    const { clock, send, retryTime } = this.options;
    this.#askedAt = clock.now();
    for (const question of questions) send(question);
    this.#timer?.cancel();
    this.#timer = clock.after(retryTime.wait, () => this.#onLate());
  }

  /** The answer to the newest question, or to one of them, has come. */
  protected answered(): void {
    const { clock, retryTime } = this.options;
    if (this.tries === 0) retryTime.seen(clock.now() - this.#askedAt);
    this.tries = 0;
    this.#newAt = clock.now();
  }

  /** Whether what was asked last can have been heard and answered by now. */
  protected get isDue(): boolean {
    const { clock, retryTime } = this.options;
    return clock.now() - this.#askedAt >= retryTime.roundTrip;
  }

  protected end(how: End): void {
    this.#finish(how);
  }

  #onLate(): void {
    if (this.#over) return;
    const now = this.options.clock.now();
    if (now - this.#newAt > SILENT_MS || now - this.#startedAt > TOTAL_MS) {
      this.#finish('silent');
      return;
    }
    this.tries++;
    this.options.retryTime.late(this.tries);
    this.askAgain();
  }

  #finish(how: End | 'silent'): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#resolve(how);
  }
}
