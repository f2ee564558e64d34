import { ApiError } from '../../shared/errors.ts';
import type { CommandAck } from '../../shared/mavlink/decode.ts';
import type { Clock, Timer } from './clock.ts';
import { OWN_COMPONENT } from './encode.ts';

const SENDS = 3;
const RESEND_MS = 1200;
/** A vehicle that says IN_PROGRESS gets this long in all, counted from the first send. */
const IN_PROGRESS_MS = 8000;
/** How long after an exchange without an ack that ack may still come and be taken for the next one's. */
const LATE_ACK_MS = 3000;
const MAX_WAITING = 8;

export const RESULT_ACCEPTED = 0;
export const RESULT_UNSUPPORTED = 3;
export const RESULT_IN_PROGRESS = 5;

export interface ExchangeJob {
  /** MAV_CMD */
  readonly command: number;
  /** @param confirmation 0 for the first send, then counting */
  readonly encode: (confirmation: number) => Buffer;
  /** On the clock: no answer after it. */
  readonly deadline: number;
  readonly sends?: number;
  /** Goes before everything of the same command, also before what is under way (which then has no ack). */
  readonly urgent?: boolean;
  readonly signal?: AbortSignal;
}

interface Running {
  readonly job: ExchangeJob;
  readonly startedAt: number;
  /** An ack may belong to an exchange before this one until we have sent a second time. */
  readonly doubtful: boolean;
  readonly resolve: (result: number | null) => void;
  readonly onAbort: () => void;
  sent: number;
  inProgress: boolean;
  timer: Timer;
}

interface Waiting {
  readonly job: ExchangeJob;
  readonly resolve: (result: number | null) => void;
  readonly reject: (error: ApiError) => void;
  readonly timer: Timer;
}

/**
 * Sends commands and waits for their COMMAND_ACK: up to three sends 1.2 s apart. An ack carries nothing but the command's
 * id, so there is one exchange at a time for each id, others wait (eight in all); and after one that was left without its
 * ack, the next one believes only what comes after its own second send.
 */
export class Exchange {
  readonly #clock: Clock;
  readonly #send: (bytes: Buffer) => void;
  readonly #ownSystem: () => number;
  readonly #running = new Map<number, Running>();
  readonly #unanswered = new Map<number, number>();
  #waiting: Waiting[] = [];
  /** Acks that nobody waited for: late, double, or for somebody else. */
  strayAcks = 0;

  /** @param ownSystem the system id we speak as */
  constructor(clock: Clock, send: (bytes: Buffer) => void, ownSystem: () => number) {
    this.#clock = clock;
    this.#send = send;
    this.#ownSystem = ownSystem;
  }

  /**
   * @returns MAV_RESULT of the final ack; IN_PROGRESS when the vehicle said so and then no more; null when no ack came
   * @throws ApiError E_RATE_LIMITED when too many wait; E_TIMEOUT when the deadline passed before anything was sent
   */
  async run(job: ExchangeJob): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const running = this.#running.get(job.command);
      if (running !== undefined && job.urgent === true) this.#finish(running, null, false);
      if (!this.#running.has(job.command)) {
        this.#begin(job, resolve);
        return;
      }
      if (this.#waiting.length >= MAX_WAITING) {
        reject(
          new ApiError('E_RATE_LIMITED', 'Too many commands are waiting for the vehicle. Try again shortly.'),
        );
        return;
      }
      const timer = this.#clock.after(Math.max(0, job.deadline - this.#clock.now()), () => {
        this.#waiting = this.#waiting.filter((entry) => entry !== waiting);
        reject(
          new ApiError('E_TIMEOUT', 'The vehicle was busy with a command before this one. It was not sent.'),
        );
      });
      const waiting: Waiting = { job, resolve, reject, timer };
      this.#waiting.push(waiting);
    });
  }

  /** An ack of the vehicle (the caller has checked that it comes from it). */
  onAck(ack: CommandAck): void {
    const running = this.#running.get(ack.command);
    const forUs =
      ack.targetSystem === 0 ||
      (ack.targetSystem === this.#ownSystem() &&
        (ack.targetComponent === 0 || ack.targetComponent === OWN_COMPONENT));
    if (running === undefined || !forUs || (running.doubtful && running.sent < 2)) {
      this.strayAcks++;
      return;
    }
    if (ack.result !== RESULT_IN_PROGRESS) {
      this.#finish(running, ack.result, true);
      return;
    }
    if (running.inProgress) return;
    running.inProgress = true;
    running.timer.cancel();
    const end = Math.min(running.startedAt + IN_PROGRESS_MS, running.job.deadline);
    running.timer = this.#clock.after(Math.max(0, end - this.#clock.now()), () =>
      this.#finish(running, RESULT_IN_PROGRESS, true),
    );
  }

  stop(): void {
    for (const { reject, timer } of this.#waiting) {
      timer.cancel();
      reject(new ApiError('E_DRAINING'));
    }
    this.#waiting = [];
    for (const running of this.#running.values()) this.#finish(running, null, false);
  }

  #begin(job: ExchangeJob, resolve: (result: number | null) => void): void {
    const now = this.#clock.now();
    const running: Running = {
      job,
      startedAt: now,
      doubtful: (this.#unanswered.get(job.command) ?? -Infinity) > now,
      resolve,
      onAbort: () => this.#finish(running, null, false),
      sent: 0,
      inProgress: false,
      timer: { cancel: () => undefined },
    };
    this.#running.set(job.command, running);
    job.signal?.addEventListener('abort', running.onAbort, { once: true });
    if (job.signal?.aborted === true) this.#finish(running, null, true);
    else this.#transmit(running);
  }

  #transmit(running: Running): void {
    const { job } = running;
    const now = this.#clock.now();
    if (running.sent >= (job.sends ?? SENDS) || now >= job.deadline) {
      this.#finish(running, null, false);
      return;
    }
    this.#send(job.encode(running.sent));
    running.sent++;
    running.timer = this.#clock.after(Math.min(RESEND_MS, job.deadline - now), () => this.#transmit(running));
  }

  /** @param answered false: an ack of this exchange may still come */
  #finish(running: Running, result: number | null, answered: boolean): void {
    const { job } = running;
    if (this.#running.get(job.command) !== running) return;
    this.#running.delete(job.command);
    running.timer.cancel();
    job.signal?.removeEventListener('abort', running.onAbort);
    if (answered) this.#unanswered.delete(job.command);
    else this.#unanswered.set(job.command, this.#clock.now() + LATE_ACK_MS);
    running.resolve(result);
    // An urgent one that ended us begins before those that wait.
    queueMicrotask(() => this.#next(job.command));
  }

  #next(command: number): void {
    if (this.#running.has(command)) return;
    const next = this.#waiting.find((entry) => entry.job.command === command);
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((entry) => entry !== next);
    next.timer.cancel();
    this.#begin(next.job, next.resolve);
  }
}
