import { ApiError, messageOf } from '../../../shared/errors.ts';
import { POSES, type Pose } from '../../../shared/flight/calibration.ts';
import { ACCELCAL_VEHICLE_POS, type CalibrationMessage } from '../../../shared/mavlink/decode-calibration.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Params7 } from '../encode.ts';
import { RESULT_ACCEPTED } from '../exchange.ts';
import type { StatusLine } from '../part.ts';
import { FAILED_CHECK } from '../vehicle/prearm.ts';
import {
  hasBegun,
  order,
  PREFLIGHT,
  PREFLIGHT_CALIBRATION,
  type Routine,
  type RoutineOptions,
  refusal,
  refused,
} from './routine.ts';

// MAV_CMD
const SET_MESSAGE_INTERVAL = 511;
const DO_START_MAG_CAL = 42_424;
const DO_ACCEPT_MAG_CAL = 42_425;
const DO_CANCEL_MAG_CAL = 42_426;

/** ACCELCAL_VEHICLE_POS */
const SUCCESS = 16_777_215;
const FAILED = 16_777_216;
/** MAG_CAL_STATUS */
const MAG_SUCCESS = 4;
const MAG_FAILURES: ReadonlyMap<number, string> = new Map([
  [5, 'failed'],
  [6, 'wrong orientation'],
  [7, 'wrong field strength: it may be disturbed'],
]);

/** All compasses. Start: no retry, no saving by itself (it is told to, once all have succeeded), no delay, no reboot. */
const ALL: Params7 = [0, 0, 0, 0, 0, 0, 0];
/** Messages about the compasses, µs between two. ArduPilot sends them on request only. */
const INTERVALS: readonly (readonly [message: number, us: number])[] = [
  [MSG.MAG_CAL_PROGRESS, 250_000],
  [MSG.MAG_CAL_REPORT, 500_000],
];
const ANSWER_MS = 8000;
/** It calibrates before it answers, for up to 30 s, and would calibrate again for each repetition. */
const BLOCKING_MS = 45_000;
const CONFIRM_MS = 2500;

/** As ArduPilot says it in words, which it only does for the first pose. */
const PLACES: Readonly<Record<Pose, string>> = {
  level: 'level',
  left: 'on its LEFT side',
  right: 'on its RIGHT side',
  nose_down: 'nose DOWN',
  nose_up: 'nose UP',
  back: 'on its BACK',
};

/**
 * ArduPilot: gyroscope, level and barometer are done when the command is acknowledged. For the accelerometer it asks for six poses
 * by COMMAND_LONG, once a second, and is answered by the same command. Compasses report by MAG_CAL_PROGRESS and MAG_CAL_REPORT.
 * (AP_AccelCal.cpp, AP_Compass_Calibration.cpp, GCS_Common.cpp)
 */
export class ArdupilotRoutine implements Routine {
  readonly #options: RoutineOptions;
  /** The vehicle has begun: what it said before is about an older calibration, whose end it repeats every second. */
  #begun = false;
  readonly #percent = new Map<number, number>();
  readonly #succeeded = new Set<number>();

  constructor(options: RoutineOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { sensor, record } = this.#options;
    const told = async (): Promise<number | null> =>
      sensor === 'compass' ? this.#startCompass() : this.#preflight();
    if (!(await hasBegun(this.#options, told))) return;
    this.#begun = true;
    if (sensor === 'accelerometer') return; // it asks for the first pose
    if (sensor !== 'compass') {
      record.end('done');
      return;
    }
    // From here on it does not arm before a reboot, whatever becomes of it.
    record.set({ step: 'rotate', reboot_required: true });
    record.say('Turn the vehicle around all of its axes, until every side has pointed down.');
  }

  async confirm(pose: Pose): Promise<void> {
    const { record, signal } = this.#options;
    const number = POSES.indexOf(pose) + 1;
    // Any ack will do: what it asks for next shows what it has taken.
    const job = { ms: CONFIRM_MS, patience: CONFIRM_MS, sends: 1, trusting: true, signal };
    const result = await order(this.#options, ACCELCAL_VEHICLE_POS, [number, 0, 0, 0, 0, 0, 0], job);
    if (result !== RESULT_ACCEPTED) throw refused(result);
    // It may have measured already, and have asked for the next one.
    if (record.state.poses[0] === pose) record.set({ step: 'measuring' });
  }

  async cancel(): Promise<void> {
    const { sensor, record } = this.#options;
    if (sensor === 'accelerometer') {
      const sentence = `The node has ended it. ArduPilot cannot be told: it waits for its next pose until it is rebooted, and goes on there when the calibration is begun again.`;
      record.end('cancelled', sentence);
      return;
    }
    if (sensor !== 'compass')
      throw new ApiError('E_BUSY', 'The vehicle ends this calibration by itself. It cannot be cancelled.');
    const result = await order(this.#options, DO_CANCEL_MAG_CAL, ALL, { ms: ANSWER_MS });
    if (result !== RESULT_ACCEPTED) throw refused(result);
    record.end('cancelled');
    await this.#intervals(false);
  }

  onMessage(message: CalibrationMessage): void {
    const { sensor } = this.#options;
    if (message.kind === 'pose') {
      if (sensor === 'accelerometer') this.#onPose(message.pose);
      return;
    }
    if (sensor !== 'compass' || !this.#begun) return;
    if (message.kind === 'progress') this.#onProgress(message.compass, message.mask, message.percent);
    else this.#onReport(message.compass, message.mask, message.status, message.fitness);
  }

  onLine({ text }: StatusLine): void {
    const { record, sensor } = this.#options;
    if (FAILED_CHECK.test(text)) return;
    if (sensor === 'accelerometer' && this.#begun) {
      const [, end] = /^Calibration (successful|FAILED|cancelled)/.exec(text) ?? [];
      if (end === 'successful') this.#accelerometerDone();
      else if (end !== undefined) record.end(end === 'FAILED' ? 'failed' : 'cancelled', text);
      if (end !== undefined) return;
    }
    record.say(text);
  }

  /** It has none. */
  onEvent(): void {}

  async #preflight(): Promise<number | null> {
    const { sensor, signal } = this.#options;
    const job = { ms: BLOCKING_MS, patience: BLOCKING_MS, sends: 1, signal };
    return order(this.#options, PREFLIGHT_CALIBRATION, PREFLIGHT[sensor], job);
  }

  async #startCompass(): Promise<number | null> {
    await this.#intervals(true);
    return order(this.#options, DO_START_MAG_CAL, ALL, { ms: ANSWER_MS, signal: this.#options.signal });
  }

  /** @param wanted false: as the vehicle likes */
  async #intervals(wanted: boolean): Promise<void> {
    for (const [message, us] of INTERVALS) {
      if (!wanted && this.#options.record.isOld) return; // the next one wants them
      const params: Params7 = [message, wanted ? us : 0, 0, 0, 0, 0, 0];
      await order(this.#options, SET_MESSAGE_INTERVAL, params, { ms: ANSWER_MS, trusting: true });
    }
  }

  #onPose(value: number): void {
    const { record } = this.#options;
    const pose = POSES[value - 1];
    if (pose !== undefined) {
      this.#begun = true;
      const place = PLACES[pose];
      if (record.state.text?.includes(place) !== true) record.say(`Place vehicle ${place}.`);
      record.set({ percent: Math.round(((value - 1) / POSES.length) * 100) });
      record.ask([pose], true);
      return;
    }
    if (!this.#begun) return;
    if (value === SUCCESS && record.state.percent !== null) this.#accelerometerDone();
    if (value === FAILED) record.end('failed', 'Calibration FAILED');
  }

  #accelerometerDone(): void {
    this.#options.record.set({ reboot_required: true });
    this.#options.record.end('done', 'Calibration successful');
  }

  #onProgress(compass: number, mask: number, percent: number): void {
    this.#percent.set(compass, Math.min(100, percent));
    const all = compasses(mask).map((each) => this.#percent.get(each) ?? 0);
    if (all.length > 0) this.#options.record.set({ percent: Math.min(...all) });
  }

  #onReport(compass: number, mask: number, status: number, fitness: number): void {
    const { record } = this.#options;
    const name = `Compass ${compass + 1}`;
    const failure = MAG_FAILURES.get(status);
    if (failure !== undefined) {
      record.end('failed', `${name}: ${failure}, fitness ${fitness.toFixed(1)}`);
      this.#later(this.cancel());
      return;
    }
    if (status !== MAG_SUCCESS || this.#succeeded.has(compass)) return;
    this.#succeeded.add(compass);
    this.#percent.set(compass, 100);
    record.say(`${name}: fitness ${fitness.toFixed(1)}`);
    if (!compasses(mask).every((each) => this.#succeeded.has(each))) return;
    record.set({ step: 'saving' });
    this.#later(this.#accept());
  }

  async #accept(): Promise<void> {
    const { record, signal } = this.#options;
    const result = await order(this.#options, DO_ACCEPT_MAG_CAL, ALL, { ms: ANSWER_MS, signal });
    if (result === RESULT_ACCEPTED) record.end('done');
    else record.end('failed', `It was not saved. ${refusal(result, null)}`);
    await this.#intervals(false);
  }

  /** Work that nobody awaits. */
  #later(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#options.log.warn(`calibration: ${messageOf(error)}`);
      this.#options.record.end('failed', messageOf(error));
    });
  }
}

/** The numbers of the bits that are set. */
function compasses(mask: number): readonly number[] {
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (mask & (1 << bit)) !== 0);
}
