import { ApiError } from '../../../shared/errors.ts';
import {
  type CalibrationResult,
  type CalibrationSensor,
  MAX_STEPS,
} from '../../../shared/flight/calibration.ts';
import type { CalibrationSnapshot } from '../../../shared/rpc/link-answers.ts';
import type { CalibrationState } from '../../../shared/schemas/calibration.ts';
import type { Clock } from '../clock.ts';

/** Bounds against a hostile or broken vehicle, and against readers. */
const MAX_TEXT = 200;
const MAX_READERS = 32;
/** A reader who waits for news gets an answer at least this often. */
const WAIT_MS = 10_000;

const NONE: CalibrationState = {
  running: false,
  sensor: null,
  step: null,
  poses: [],
  confirm: false,
  text: null,
  percent: null,
  result: null,
  steps: [],
  started_at: null,
  ended_at: null,
  reboot_required: false,
};

/** What clients see of one calibration, and who waits for its next change. */
export class CalibrationRecord {
  readonly #clock: Clock;
  #state = NONE;
  #revision: number;
  #readers: (() => void)[] = [];
  /** Monotonic ms of the vehicle's newest word. */
  #heardAt: number;
  readonly #startedAt: number;
  readonly #end = new AbortController();
  #isOld = false;

  constructor(clock: Clock, revision = 0) {
    this.#clock = clock;
    this.#revision = revision;
    this.#startedAt = clock.now();
    this.#heardAt = this.#startedAt;
  }

  get state(): CalibrationState {
    return this.#state;
  }

  get snapshot(): CalibrationSnapshot {
    return { revision: this.#revision, state: this.#state };
  }

  /** ms since the vehicle's newest word, or the beginning. */
  get silence(): number {
    return this.#clock.now() - this.#heardAt;
  }

  /** ms since the beginning. */
  get age(): number {
    return this.#clock.now() - this.#startedAt;
  }

  /** Aborted when it has ended. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  /** A newer calibration has begun. */
  get isOld(): boolean {
    return this.#isOld;
  }

  /** The record of the next calibration, which begins: what is still written to this one has no effect. */
  next(sensor: CalibrationSensor): CalibrationRecord {
    const record = new CalibrationRecord(this.#clock, this.#revision + 1);
    record.#state = {
      ...NONE,
      running: true,
      sensor,
      step: 'starting',
      started_at: this.#wall(),
      reboot_required: this.#state.reboot_required,
    };
    this.#isOld = true;
    this.#wake();
    return record;
  }

  /** A line for people. The vehicle repeats some at once. */
  say(words: string): void {
    this.#heardAt = this.#clock.now();
    const text = words.slice(0, MAX_TEXT);
    const { steps, running } = this.#state;
    if (running && steps.at(-1) !== text) this.#put({ text, steps: [...steps, text].slice(-MAX_STEPS) });
  }

  /** Something that the vehicle told. */
  set(changes: Partial<Pick<CalibrationState, 'step' | 'percent' | 'reboot_required'>>): void {
    this.#heardAt = this.#clock.now();
    if (!this.#state.running) return;
    // Only step `pose` has poses, and `ask` sets it.
    this.#put(changes.step === undefined ? changes : { poses: [], confirm: false, ...changes });
  }

  /** The vehicle wants to lie in one of these poses. */
  ask(poses: CalibrationState['poses'], confirm: boolean): void {
    this.#heardAt = this.#clock.now();
    if (this.#state.running) this.#put({ step: 'pose', poses, confirm });
  }

  /** The vehicle has rebooted, or is another one. */
  rebooted(reason: string): void {
    this.end('failed', reason);
    this.#put({ reboot_required: false });
  }

  /** Once; later ends of the same calibration say nothing new. @param reason a sentence, or the vehicle's words */
  end(result: CalibrationResult, reason?: string): void {
    if (!this.#state.running) return;
    if (reason !== undefined) this.say(reason);
    const percent = result === 'done' ? 100 : this.#state.percent;
    const over = { running: false, step: null, poses: [], confirm: false } as const;
    this.#put({ ...over, result, percent, ended_at: this.#wall() });
    this.#end.abort();
  }

  /** Resolves when the state is not that of `revision` any more, or after 10 s. @throws ApiError E_RATE_LIMITED: 32 wait already */
  async changed(revision: number): Promise<void> {
    if (revision !== this.#revision) return;
    if (this.#readers.length >= MAX_READERS) throw new ApiError('E_RATE_LIMITED');
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(WAIT_MS, () => {
        this.#readers = this.#readers.filter((reader) => reader !== wake);
        resolve();
      });
      const wake = (): void => {
        timer.cancel();
        resolve();
      };
      this.#readers.push(wake);
    });
  }

  #put(changes: Partial<CalibrationState>): void {
    const before = this.#state;
    const next = { ...before, ...changes };
    if (JSON.stringify(next) === JSON.stringify(before)) return;
    this.#state = next;
    this.#revision++;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#readers.splice(0)) wake();
  }

  #wall(): string {
    return new Date(this.#clock.wall()).toISOString();
  }
}
