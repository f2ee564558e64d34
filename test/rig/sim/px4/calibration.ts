import { MavSeverity } from '../../../../bin/sim/flight/craft.ts';
import {
  type Answer,
  type Calibration,
  type CalibrationCommand,
  type CalibrationTools,
  type CompassCalibration,
  speedOf,
} from '../../../../bin/sim/mavlink/calibration.ts';
import { MavResult } from '../../../../bin/sim/mavlink-values.ts';

const { ACCEPTED, TEMPORARILY_REJECTED, DENIED, UNSUPPORTED } = MavResult;
const { CRITICAL, INFO } = MavSeverity;

/** As PX4 lists them, by what points down: tail, nose, left, right, the upper side, the lower side. */
const SIDES = ['back', 'front', 'left', 'right', 'up', 'down'] as const;
type Side = (typeof SIDES)[number];
/** How the person at the vehicle goes about it. */
const TURNS: readonly Side[] = ['down', 'up', 'left', 'right', 'front', 'back'];
const FALLS: Readonly<Record<Side, string>> = {
  back: '[9.807 0.000 0.000]',
  front: '[-9.807 0.000 0.000]',
  left: '[0.000 9.807 0.000]',
  right: '[0.000 -9.807 0.000]',
  up: '[0.000 0.000 9.807]',
  down: '[0.000 0.000 -9.807]',
};
const GYRO_TRIES = 20;
const MAX_FAILURES = 4;

type End = 'ok' | 'error' | 'cancelled';
/** Each value is a time in simulated seconds that passes. */
type Course<T = void> = Generator<number, T>;

/**
 * PX4 1.15: a worker thread calibrates and speaks in texts that begin with `[cal]`; it looks for a cancellation between two steps
 * only, and the Commander answers meanwhile that it is busy.
 */
export class Px4Calibration implements Calibration {
  readonly #tools: CalibrationTools;
  #course: Course | null = null;
  /** The newest command while it is busy, not seen by the worker yet. */
  #unseen: { readonly cancels: boolean; readonly answer: Answer } | null = null;

  constructor(tools: CalibrationTools) {
    this.#tools = tools;
  }

  perform({ p1, p2, p3, p4, lat: p5, lon: p6 }: CalibrationCommand, answer: Answer): MavResult {
    if (this.#tools.craft.vehicle.armed) return TEMPORARILY_REJECTED;
    if (this.#course !== null) {
      this.#unseen = { cancels: [p1, p2, p3, p4, p5, p6].every((param) => Math.trunc(param) === 0), answer };
      return TEMPORARILY_REJECTED;
    }
    if (p1 === 1) return this.#begin(this.#gyro());
    if (p2 === 1) return this.#begin(this.#mag());
    if (p3 === 1) return this.#begin(this.#baro());
    if (p5 === 1) return this.#begin(this.#accel());
    if (p5 === 2) return this.#begin(this.#level());
    return p4 === 0 ? ACCEPTED : UNSUPPORTED; // the end of a calibration of the remote control
  }

  compasses(): readonly CompassCalibration[] {
    return [];
  }

  reasons(): readonly string[] {
    return [];
  }

  reset(): void {
    this.#course = null;
    this.#unseen = null;
  }

  #begin(course: Course): MavResult {
    this.#course = course;
    this.#unseen = null;
    this.#wait(0.05, course);
    return ACCEPTED;
  }

  #wait(seconds: number, course: Course): void {
    this.#tools.timers.after((seconds * 1000) / speedOf(this.#tools), () => {
      if (this.#course !== course) return;
      const next = course.next();
      if (next.done === true) this.#course = null;
      else this.#wait(next.value, course);
    });
  }

  *#gyro(): Course {
    this.#info('calibration started: 2 gyro');
    let end: End = 'error';
    for (let tries = 0; tries <= GYRO_TRIES && end === 'error'; tries++) {
      end = yield* this.#progress(10, 0.05);
      if (end === 'ok' && this.#tools.faults.clumsy) {
        end = 'error';
        this.#text(CRITICAL, 'motion, retrying..');
      }
    }
    if (end === 'error') this.#text(CRITICAL, 'ERROR: Motion during calibration');
    yield* this.#over(end, 'gyro');
  }

  *#level(): Course {
    this.#info('calibration started: 2 level');
    const { clumsy } = this.#tools.faults;
    for (let tries = 0; tries < (clumsy ? 50 : 1); tries++) {
      for (let percent = 0; percent < 100; percent += 20) {
        this.#info(`progress <${percent}>`);
        yield 0.1;
      }
    }
    this.#info('progress <100>');
    if (clumsy) this.#text(CRITICAL, 'motion during calibration');
    yield* this.#over(clumsy ? 'error' : 'ok', 'level');
  }

  *#baro(): Course {
    this.#info('calibration started: 2 baro');
    yield 3;
    if (this.#tools.craft.positionOk()) this.#info('calibration done: baro');
    else this.#text(CRITICAL, '[cal] calibration failed: GPS required for baro cal');
  }

  *#accel(): Course {
    this.#info('calibration started: 2 accel');
    const end = yield* this.#sides((side, done) => this.#measure(side, done));
    yield* this.#over(end, 'accel');
  }

  *#measure(side: Side, done: number): Course<End> {
    this.#info(`Hold still, measuring ${side} side`);
    yield 1;
    this.#info(`${side} side result: ${FALLS[side]}`);
    this.#info(`progress <${17 * (done + 1)}>`);
    return 'ok';
  }

  *#mag(): Course {
    this.#info('calibration started: 2 mag');
    const end = yield* this.#sides((side, done) => this.#turn(side, done));
    if (end === 'cancelled') return;
    if (end === 'ok') {
      yield 0.2;
      this.#info('progress <100>');
    }
    yield* this.#over(end, 'mag');
  }

  *#turn(side: Side, done: number): Course<End> {
    this.#info('Rotate vehicle');
    if (this.#tools.faults.clumsy) {
      yield 35;
      this.#text(CRITICAL, 'Failed: This calibration requires rotation.');
      return 'error';
    }
    const percent = (sides: number): number => Math.floor((100 / SIDES.length) * sides);
    for (const part of [0.25, 0.5, 0.75]) {
      if (this.#isCancelled()) return 'cancelled';
      yield 0.5;
      this.#info(`${side} side calibration: progress <${percent(done + part)}>`);
    }
    this.#info(`${side} side done, rotate to a different side`);
    yield 0.02;
    this.#info(`progress <${percent(done + 1)}>`);
    return 'ok';
  }

  /** Leads through all sides; only here, and where a worker looks, it can be cancelled. */
  *#sides(worker: (side: Side, done: number) => Course<End>): Course<End> {
    const pending = new Set<Side>(SIDES);
    let failures = 0;
    for (;;) {
      if (this.#isCancelled()) return 'cancelled';
      if (failures > MAX_FAILURES) {
        this.#text(CRITICAL, '[cal] calibration failed: timeout: no motion');
        return 'error';
      }
      if (pending.size === 0) return 'ok';
      this.#info(`pending: ${SIDES.filter((side) => pending.has(side)).join(' ')}`);
      yield 0.02;
      this.#info('hold vehicle still on a pending side');
      yield 1; // the person turns it
      this.#info('detected rest position, hold still...');
      yield 1.3;
      const side = this.#tools.faults.clumsy ? 'down' : (TURNS.find((each) => pending.has(each)) ?? 'down');
      if (!pending.has(side)) {
        failures++;
        this.#info(`${side} side already completed`);
        yield 0.02;
        continue;
      }
      failures = 0;
      // Twice, as PX4 does: a text may be lost.
      for (let count = 0; count < 2; count++) {
        this.#info(`${side} orientation detected`);
        yield 0.02;
      }
      const end = yield* worker(side, SIDES.length - pending.size);
      if (end !== 'ok') return end;
      for (let count = 0; count < 2; count++) {
        this.#info(`${side} side done, rotate to a different side`);
        yield 0.02;
      }
      pending.delete(side);
      yield 0.2;
    }
  }

  *#progress(step: number, seconds: number): Course<End> {
    for (let percent = 0; percent <= 100; percent += step) {
      if (this.#isCancelled()) return 'cancelled';
      this.#info(`progress <${percent}>`);
      yield seconds;
    }
    return 'ok';
  }

  *#over(end: End, sensor: string): Course {
    if (end === 'ok') this.#info(`calibration done: ${sensor}`);
    else this.#text(CRITICAL, `[cal] calibration failed: ${sensor}`);
    yield 0.6;
  }

  /** The worker answers what it sees, besides the Commander. */
  #isCancelled(): boolean {
    const command = this.#unseen;
    this.#unseen = null;
    if (command === null) return false;
    if (command.cancels) {
      this.#text(CRITICAL, '[cal] calibration cancelled');
      command.answer(ACCEPTED);
      return true;
    }
    this.#text(CRITICAL, 'command denied during calibration: 241');
    command.answer(DENIED);
    return false;
  }

  #info(text: string): void {
    this.#text(INFO, `[cal] ${text}`);
  }

  /** Without the mark of those that come as events too. */
  #text(severity: MavSeverity, text: string): void {
    this.#tools.channel.text(severity, text);
  }
}
