import { ApiError } from '../../shared/errors.ts';
import type { CommandAck } from '../../shared/mavlink/decode.ts';
import type { Clock, Timer } from './clock.ts';
import { OWN_COMPONENT } from './encode.ts';
import type { Part } from './part.ts';

const SENDS = 3;
const RESEND_MS = 1200;
/** A vehicle that says IN_PROGRESS gets this long to say it again, or how it ended. */
const IN_PROGRESS_MS = 8000;
/** ... and is followed for so long in all, counted from the first send, where the caller set no time. */
const FOLLOWED_MS = 300_000;
/** How late an ack may come after its send: a radio that repeats lost packets delays them by seconds. */
const LATE_ACK_MS = 8000;
/** How late the second ack may come that nobody waits for any more, from a vehicle that acknowledges twice. */
const DOUBLE_ACK_MS = 250;
/** How long the second ack is waited for: until then two of PX4's heartbeats have come, one of which may be lost. */
const VERDICT_MS = 2500;
/** A timer may fire this much too early. */
const MARGIN_MS = 5;
const MAX_WAITING = 8;

/** By MAV_RESULT. */
const RESULT_NAMES = [
  'ACCEPTED',
  'TEMPORARILY_REJECTED',
  'DENIED',
  'UNSUPPORTED',
  'FAILED',
  'IN_PROGRESS',
  'CANCELLED',
  'COMMAND_LONG_ONLY',
  'COMMAND_INT_ONLY',
  'COMMAND_UNSUPPORTED_MAV_FRAME',
] as const;

/** As MAV_RESULT names it. */
export function resultName(result: number): string {
  return RESULT_NAMES[result] ?? 'UNKNOWN';
}

export const RESULT_ACCEPTED = 0;
export const RESULT_TEMPORARILY_REJECTED = 1;
export const RESULT_DENIED = 2;
export const RESULT_UNSUPPORTED = 3;
export const RESULT_FAILED = 4;
export const RESULT_IN_PROGRESS = 5;
export const RESULT_LONG_ONLY = 7;
export const RESULT_INT_ONLY = 8;
export const RESULT_UNSUPPORTED_FRAME = 9;

export interface ExchangeJob {
  /** MAV_CMD */
  readonly command: number;
  /** Identifies the request: an ack of an older job with the same key answers this one too. */
  readonly key: string;
  /** @param confirmation 0 for the first send, then counting */
  readonly encode: (confirmation: number) => Buffer;
  /** Monotonic ms; the job ends without an answer then. */
  readonly deadline: number;
  /** ... unless the vehicle goes on saying IN_PROGRESS. */
  readonly follows?: boolean;
  readonly sends?: number;
  /**
   * Goes before all other jobs of the same command, and ends the one under way without an ack. If the same urgent job is under
   * way already, it is sent once more and both get the same answer.
   */
  readonly urgent?: boolean;
  /** Once aborted, it is not sent (again) and has no ack. */
  readonly signal?: AbortSignal;
  /**
   * The vehicle acknowledges it twice, as PX4 does with DO_SET_MODE: first ACCEPTED by its receiver, whatever becomes of it
   * (MavlinkReceiver::handle_message_command_both), then the commander's verdict (Commander::handle_command). The first says
   * nothing: it ends with the second, with a heartbeat that `shows`, or 2.5 s later as ACCEPTED, for the caller to check.
   */
  readonly doubleAck?: boolean;
  /** ms from a send to the next one, and from the last one to the end; for a vehicle that acts before it answers. 1200 if absent. */
  readonly patience?: number;
  /** Accepts any ack of the command: the caller checks the effect itself. */
  readonly trusting?: boolean;
  /**
   * True once the vehicle's state shows that it carries out the command. For a command that must not be carried out twice, or
   * that is refused the second time: it is not repeated then, and a refusal of a repetition is ignored.
   */
  readonly underway?: () => boolean;
  /**
   * Whether the newest heartbeat shows the state that was asked for. An ACCEPTED that may belong to an older request counts
   * once a later heartbeat confirms it.
   */
  readonly shows?: () => boolean;
}

interface Running {
  readonly job: ExchangeJob;
  readonly startedAt: number;
  /** Whom the answer is for. */
  readonly resolves: ((result: number | null) => void)[];
  readonly onAbort: () => void;
  /** How often it may be sent in all. */
  sends: number;
  sent: number;
  sentAt: number;
  inProgress: boolean;
  /** An ACCEPTED came that may be for an older request. */
  perhaps: boolean;
  /** The first of two acks has come, and how many in all. */
  received: boolean;
  acks: number;
  timer: Timer;
}

interface QueuedJob {
  readonly job: ExchangeJob;
  readonly resolve: (result: number | null) => void;
  readonly reject: (error: ApiError) => void;
  readonly timer: Timer;
  readonly onAbort: () => void;
}

/** Acks that may still come for what was asked before. */
interface Doubt {
  readonly until: number;
  /** How many. */
  readonly owed: number;
  /** Key of the job that they belong to; null if there are several, or another request came since. */
  readonly key: string | null;
}

/**
 * Sends commands and waits for their COMMAND_ACK: up to three sends 1.2 s apart. An ack carries nothing but the command's id,
 * so there is one exchange at a time for each id, others wait (eight in all).
 *
 * A late ack of an older exchange must not answer the next one. Each send without an ack (or with perhaps two) may still be
 * acknowledged for 8 s. So that many of the first acks in the next exchange are doubtful: a doubtful refusal is ignored, and a
 * doubtful acceptance counts only if a later heartbeat shows the requested state. The first ack after those, or after the 8 s,
 * is its own; therefore one send is kept for the time after. If that time is nearly over, the first send waits for it.
 */
export class Exchange implements Part {
  readonly #clock: Clock;
  readonly #send: (bytes: Buffer) => void;
  readonly #ownSystem: () => number;
  readonly #running = new Map<number, Running>();
  readonly #doubts = new Map<number, Doubt>();
  #waiting: QueuedJob[] = [];
  /** Acks that matched no job: late, double, or for another sender. */
  strayAcks = 0;

  /** @param ownSystem the system id that we send as */
  constructor(clock: Clock, send: (bytes: Buffer) => void, ownSystem: () => number) {
    this.#clock = clock;
    this.#send = send;
    this.#ownSystem = ownSystem;
  }

  /**
   * @returns MAV_RESULT of the final ack; IN_PROGRESS when no other ack followed it; null when no ack came
   * @throws ApiError E_RATE_LIMITED when too many wait; E_TIMEOUT when the deadline passed before anything was sent
   */
  async run(job: ExchangeJob): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const running = this.#running.get(job.command);
      if (running !== undefined && job.urgent === true) {
        if (
          running.job.urgent === true &&
          running.job.key === job.key &&
          running.resolves.length < MAX_WAITING
        ) {
          running.resolves.push(resolve);
          running.sends = running.sent + (job.sends ?? SENDS);
          running.timer.cancel();
          this.#transmit(running);
          return;
        }
        this.#finish(running, null);
      }
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
        this.#leave(waiting);
        reject(
          new ApiError('E_TIMEOUT', 'The vehicle was busy with a command before this one. It was not sent.'),
        );
      });
      const onAbort = (): void => {
        this.#leave(waiting);
        resolve(null);
      };
      const waiting: QueuedJob = { job, resolve, reject, timer, onAbort };
      this.#waiting.push(waiting);
      job.signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** An ack of the vehicle (the caller has checked that it comes from it). */
  onAck(ack: CommandAck): void {
    const running = this.#running.get(ack.command);
    const forUs =
      ack.targetSystem === 0 ||
      (ack.targetSystem === this.#ownSystem() &&
        (ack.targetComponent === 0 || ack.targetComponent === OWN_COMPONENT));
    if (!forUs || running === undefined || this.#doubtMs(running.job) > 0) {
      this.strayAcks++;
      if (forUs && ack.result !== RESULT_IN_PROGRESS) this.#pay(ack, running);
      return;
    }
    const { job } = running;
    if (ack.result !== RESULT_IN_PROGRESS) {
      running.acks++;
      if (job.doubleAck === true && ack.result === RESULT_ACCEPTED && !running.received) {
        this.#awaitVerdict(running);
        return;
      }
      const repeated = running.sent > 1 && ack.result !== RESULT_ACCEPTED && job.underway?.() === true;
      this.#finish(running, repeated ? null : ack.result);
      return;
    }
    const now = this.#clock.now();
    running.timer.cancel();
    const patience = Math.max(IN_PROGRESS_MS, job.patience ?? 0);
    const followed = running.inProgress && job.follows === true;
    const most = followed ? running.startedAt + FOLLOWED_MS : job.deadline;
    running.inProgress = true;
    running.timer = this.#clock.after(Math.max(0, Math.min(now + patience, most) - now), () =>
      this.#finish(running, RESULT_IN_PROGRESS),
    );
  }

  /** Another program with our ids has sent this command: one of the next acks is for that one. */
  othersCommand(command: number): void {
    const now = this.#clock.now();
    const before = this.#doubts.get(command);
    const owed = before === undefined || before.until <= now ? 0 : before.owed;
    this.#doubts.set(command, { until: now + LATE_ACK_MS, owed: owed + 1, key: null });
  }

  /** Called after a heartbeat of the vehicle has been processed. */
  onHeartbeat(): void {
    for (const running of this.#running.values()) {
      const { perhaps, received, job } = running;
      if ((perhaps || received) && job.shows?.() === true) this.#finish(running, RESULT_ACCEPTED);
    }
  }

  stop(): void {
    for (const waiting of this.#waiting) {
      this.#leave(waiting);
      waiting.reject(new ApiError('E_DRAINING'));
    }
    for (const running of this.#running.values()) this.#finish(running, null);
  }

  #leave(waiting: QueuedJob): void {
    this.#waiting = this.#waiting.filter((entry) => entry !== waiting);
    waiting.timer.cancel();
    waiting.job.signal?.removeEventListener('abort', waiting.onAbort);
  }

  #begin(job: ExchangeJob, resolve: (result: number | null) => void): void {
    if (job.signal?.aborted === true) {
      resolve(null);
      queueMicrotask(() => this.#next(job.command));
      return;
    }
    const running: Running = {
      job,
      startedAt: this.#clock.now(),
      resolves: [resolve],
      onAbort: () => this.#finish(running, null),
      sends: job.sends ?? SENDS,
      sent: 0,
      sentAt: 0,
      inProgress: false,
      perhaps: false,
      received: false,
      acks: 0,
      timer: { cancel: () => undefined },
    };
    if (job.trusting !== true) this.#othersBegun(job);
    this.#running.set(job.command, running);
    job.signal?.addEventListener('abort', running.onAbort, { once: true });
    const doubt = this.#doubtMs(job);
    if (doubt === 0 || doubt > DOUBLE_ACK_MS || job.urgent === true) this.#transmit(running);
    else running.timer = this.#clock.after(doubt + MARGIN_MS, () => this.#transmit(running));
  }

  /** It has arrived, so it is not sent again. */
  #awaitVerdict(running: Running): void {
    running.received = true;
    running.timer.cancel();
    const left = Math.max(0, running.job.deadline - this.#clock.now());
    running.timer = this.#clock.after(Math.min(VERDICT_MS, left), () =>
      this.#finish(running, RESULT_ACCEPTED),
    );
  }

  #transmit(running: Running): void {
    const { job } = running;
    const now = this.#clock.now();
    const over = running.sent >= running.sends || now >= job.deadline;
    if (over || (running.sent > 0 && job.underway?.() === true)) {
      this.#finish(running, null);
      return;
    }
    this.#send(job.encode(running.sent));
    running.sent++;
    running.sentAt = now;
    const pause = Math.min(this.#pause(running), job.deadline - now);
    running.timer = this.#clock.after(pause, () => this.#transmit(running));
  }

  /** ms to the next send. One send must come after the time in which acks are doubtful. */
  #pause({ job, sent, sends }: Running): number {
    const doubt = this.#doubtMs(job);
    const left = sends - sent;
    if (job.urgent === true) return RESEND_MS; // the vehicle's state shows the result
    if (doubt === 0 || left === 0) return (job.patience ?? RESEND_MS) + doubt;
    return doubt < RESEND_MS || left === 1 ? doubt + MARGIN_MS : RESEND_MS;
  }

  /** An ack that may be for an older request. */
  #pay({ command, result }: CommandAck, running: Running | undefined): void {
    const doubt = this.#doubts.get(command);
    if (doubt === undefined || doubt.until <= this.#clock.now()) return;
    if (running !== undefined && result === RESULT_ACCEPTED) running.perhaps = true;
    if (doubt.owed > 1) {
      this.#doubts.set(command, { ...doubt, owed: doubt.owed - 1 });
      return;
    }
    this.#doubts.delete(command);
    // The next ack is its own, so the send that was kept for later may go out.
    if (running === undefined || running.sent === 0) return;
    running.timer.cancel();
    const wait = Math.max(0, running.sentAt + RESEND_MS - this.#clock.now());
    running.timer = this.#clock.after(wait, () => this.#transmit(running));
  }

  /** This request separates older ones from their repetition: their acks do not answer it any more. */
  #othersBegun({ command, key }: ExchangeJob): void {
    for (const [other, doubt] of this.#doubts) {
      if (other !== command || doubt.key !== key) this.#doubts.set(other, { ...doubt, key: null });
    }
  }

  /** ms for which an ack may still belong to an older request. */
  #doubtMs(job: ExchangeJob): number {
    const doubt = this.#doubts.get(job.command);
    if (doubt === undefined || doubt.key === job.key || job.trusting === true) return 0;
    return Math.max(0, doubt.until - this.#clock.now());
  }

  #finish(running: Running, result: number | null): void {
    const { job } = running;
    if (this.#running.get(job.command) !== running) return;
    this.#running.delete(job.command);
    running.timer.cancel();
    job.signal?.removeEventListener('abort', running.onAbort);
    this.#remember(running, result);
    for (const resolve of running.resolves) resolve(result);
    // If an urgent job ended this one, it starts before those that wait.
    queueMicrotask(() => this.#next(job.command));
  }

  /** Remembers how many acks of the ended exchange may still come, and until when. */
  #remember({ job, sent, sentAt, acks }: Running, result: number | null): void {
    const now = this.#clock.now();
    let owed = result === null || result === RESULT_IN_PROGRESS ? sent : sent - 1;
    let until = (result === RESULT_IN_PROGRESS ? now : sentAt) + LATE_ACK_MS;
    if (job.doubleAck === true) {
      if (owed === 0) until = now + DOUBLE_ACK_MS;
      owed += sent - Math.max(0, acks - 1);
    }
    if (owed <= 0 || until <= now) return;
    const before = this.#doubts.get(job.command);
    const older = before === undefined || before.until <= now ? null : before;
    this.#doubts.set(job.command, {
      until: Math.max(until, older?.until ?? 0),
      owed: owed + (older?.owed ?? 0),
      key: older === null || older.key === job.key ? job.key : null,
    });
  }

  #next(command: number): void {
    if (this.#running.has(command)) return;
    const next = this.#waiting.find((entry) => entry.job.command === command);
    if (next === undefined) return;
    this.#leave(next);
    this.#begin(next.job, next.resolve);
  }
}
