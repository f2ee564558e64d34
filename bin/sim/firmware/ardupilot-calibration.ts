import { MavSeverity } from '../flight/craft.ts';
import {
  type Answer,
  type Calibration,
  type CalibrationCommand,
  type CalibrationTools,
  type CompassCalibration,
  speedOf,
} from '../mavlink/calibration.ts';
import { CommandLong } from '../mavlink/messages.ts';
import { MavResult } from '../mavlink-values.ts';

const { ACCEPTED, FAILED, UNSUPPORTED } = MavResult;
const PREFLIGHT_CALIBRATION = 241;
const START_MAG = 42_424;
const ACCEPT_MAG = 42_425;
const CANCEL_MAG = 42_426;
const VEHICLE_POS: number = 42_429;
const [POS_SUCCESS, POS_FAILED] = [16_777_215, 16_777_216];
/** MAG_CAL_STATUS */
const MAG = { NOT_STARTED: 0, WAITING: 1, STEP_ONE: 2, STEP_TWO: 3, SUCCESS: 4, FAILED: 5 } as const;

/** Simulated seconds. */
const GYRO_S = 2;
const TRIM_S = 0.5;
const SAMPLE_S = 1;
const REQUEST_S = 1;
const MAG_S = 20;
/** The second compass takes that much longer. */
const SLOWER = 1.2;
const COMPASSES = [0, 1, 2] as const;
const ALL_MASK = 7;
const PLACES = [
  'level',
  'on its LEFT side',
  'on its RIGHT side',
  'nose DOWN',
  'nose UP',
  'on its BACK',
] as const;

interface Compass {
  startedAt: number;
  /** Null: as time has passed. */
  end: typeof MAG.SUCCESS | typeof MAG.FAILED | null;
  saved: boolean;
}

/**
 * ArduPilot 4.5: gyroscopes and level block the main loop and are acknowledged at the end, and again for each repetition of the
 * command. The accelerometer calibration waits for each pose without end, cannot be cancelled, and its result is repeated every
 * second until the next one.
 */
export class ArdupilotCalibration implements Calibration {
  readonly #tools: CalibrationTools;
  /** What blocks the main loop, in turn. */
  #work: { readonly seconds: number; readonly end: () => void }[] = [];
  /** The pose that it waits for, from 0; null: no accelerometer calibration. */
  #pose: number | null = null;
  #sampling = false;
  #misplaced = false;
  /** Nobody has used ACCELCAL_VEHICLE_POS yet: it speaks in texts. */
  #inWords = true;
  #result: number | null = null;
  #reporting = false;
  readonly #compasses = new Map<number, Compass>();
  #magDelay = 0;
  #magAutosave = false;
  #reboot: readonly string[] = [];

  constructor(tools: CalibrationTools) {
    this.#tools = tools;
  }

  perform(command: CalibrationCommand, answer: Answer): MavResult | undefined {
    switch (command.id) {
      case PREFLIGHT_CALIBRATION:
        return this.#preflight(command, answer);
      case START_MAG:
        return this.#startMag(command);
      case ACCEPT_MAG:
        return this.#acceptMag(maskOf(command));
      case CANCEL_MAG:
        for (const id of idsIn(maskOf(command))) this.#compasses.delete(id);
        return ACCEPTED;
      case VEHICLE_POS:
        return this.#placed(command.p1);
      default:
        return UNSUPPORTED;
    }
  }

  compasses(): readonly CompassCalibration[] {
    return [...this.#compasses].map(([id, compass]) => this.#compass(id, compass));
  }

  reasons(): readonly string[] {
    const running = this.compasses().some(({ status }) => status >= MAG.WAITING && status <= MAG.STEP_TWO);
    return running ? ['Compass calibration running', ...this.#reboot] : this.#reboot;
  }

  reset(): void {
    this.#work = [];
    this.#pose = null;
    this.#sampling = false;
    this.#result = null;
    this.#reporting = false;
    this.#compasses.clear();
    this.#reboot = [];
  }

  #preflight({ p1, p3, lat: p5 }: CalibrationCommand, answer: Answer): MavResult | undefined {
    const { craft, faults } = this.#tools;
    if (craft.vehicle.armed) {
      craft.text(MavSeverity.NOTICE, 'Disarm to allow calibration');
      return FAILED;
    }
    if (p1 === 1) {
      this.#block(GYRO_S, () => answer(faults.clumsy ? FAILED : ACCEPTED));
      return undefined;
    }
    if (p3 === 1) {
      craft.text(MavSeverity.INFO, 'Updating barometer calibration');
      craft.text(MavSeverity.INFO, 'Barometer calibration complete');
      return ACCEPTED;
    }
    if (p5 === 1) {
      this.#block(GYRO_S, () => {
        this.#startAccelerometer();
        answer(ACCEPTED);
      });
      return undefined;
    }
    if (p5 !== 2) return UNSUPPORTED;
    this.#block(GYRO_S + TRIM_S, () => {
      const text = faults.clumsy
        ? 'trim over maximum of 10 degrees'
        : 'Trim OK: roll=0.00 pitch=0.00 yaw=0.00';
      craft.text(MavSeverity.INFO, text);
      answer(faults.clumsy ? FAILED : ACCEPTED);
    });
    return undefined;
  }

  #startAccelerometer(): void {
    if (this.#pose !== null) return; // it goes on where it is
    this.#pose = 0;
    this.#sampling = false;
    this.#misplaced = false;
    this.#inWords = true;
    this.#result = null;
    this.#ask();
    if (!this.#reporting) this.#report();
    this.#reporting = true;
  }

  /** In words, before the messages that come every second. */
  #ask(): void {
    if (this.#inWords && this.#pose !== null)
      this.#say(`Place vehicle ${PLACES[this.#pose] ?? ''} and press any key.`);
  }

  /** Every second: the pose that it waits for, or the result. */
  #report(): void {
    if (this.#pose !== null && this.#tools.craft.vehicle.armed) {
      this.#pose = null;
      this.#say('Calibration cancelled');
    }
    const value = this.#pose === null ? this.#result : this.#sampling ? null : this.#pose + 1;
    if (value !== null) this.#tools.channel.send(CommandLong, { command: VEHICLE_POS, _param1: value });
    this.#after(REQUEST_S, () => {
      if (this.#reporting) this.#report();
    });
  }

  #placed(pose: number): MavResult {
    this.#inWords = false;
    if (this.#pose === null || this.#sampling || pose !== this.#pose + 1) return FAILED;
    this.#sampling = true;
    // What lies as before is measured all the same: the fit of all six finds it out.
    if (this.#tools.faults.clumsy) this.#misplaced = true;
    this.#after(SAMPLE_S, () => this.#sampled());
    return ACCEPTED;
  }

  #sampled(): void {
    if (this.#pose === null) return;
    this.#sampling = false;
    this.#pose++;
    if (this.#pose < PLACES.length) {
      this.#ask();
      return;
    }
    this.#pose = null;
    this.#result = this.#misplaced ? POS_FAILED : POS_SUCCESS;
    this.#say(this.#misplaced ? 'Calibration FAILED' : 'Calibration successful');
    if (!this.#misplaced) this.#needsReboot('Accels calibrated requires reboot');
  }

  #startMag(command: CalibrationCommand): MavResult {
    const { craft, now } = this.#tools;
    if (craft.vehicle.armed) {
      craft.text(MavSeverity.NOTICE, 'Disarm to allow compass calibration');
      return FAILED;
    }
    const { p1, p3, p4 } = command;
    if (p1 < 0 || p1 > 255) return FAILED;
    this.#magAutosave = p3 !== 0;
    this.#magDelay = p4;
    const ids = idsIn(maskOf(command));
    for (const id of ids) this.#compasses.set(id, { startedAt: now(), end: null, saved: false });
    // Whatever comes of it.
    if (ids.length > 0) this.#needsReboot('Compass calibrated requires reboot');
    return ids.length > 0 ? ACCEPTED : FAILED;
  }

  #acceptMag(mask: number): MavResult {
    const found = this.compasses().filter(({ id }) => (mask & (1 << id)) !== 0);
    for (const { id } of found) this.#compasses.delete(id);
    return found.every(({ status }) => status === MAG.SUCCESS) ? ACCEPTED : FAILED;
  }

  #compass(id: number, compass: Compass): CompassCalibration {
    const { faults, now } = this.#tools;
    const seconds = ((now() - compass.startedAt) / 1000) * speedOf(this.#tools) - this.#magDelay;
    const percent = Math.min(100, Math.max(0, (seconds / MAG_S / (id === 0 ? 1 : SLOWER)) * 100));
    if (percent === 100) {
      compass.end ??= faults.clumsy ? MAG.FAILED : MAG.SUCCESS;
      compass.saved ||= this.#magAutosave && compass.end === MAG.SUCCESS;
    }
    const running = seconds < 0 ? MAG.WAITING : percent < 50 ? MAG.STEP_ONE : MAG.STEP_TWO;
    return { id, status: compass.end ?? running, percent, saved: compass.saved };
  }

  #needsReboot(reason: string): void {
    this.#reboot = [...new Set([...this.#reboot, reason])];
  }

  #block(seconds: number, end: () => void): void {
    this.#work.push({ seconds, end });
    if (this.#work.length === 1) this.#next();
  }

  #next(): void {
    const [job] = this.#work;
    if (job === undefined) return;
    this.#after(job.seconds, () => {
      this.#work.shift();
      job.end();
      this.#next();
    });
  }

  #after(seconds: number, action: () => void): void {
    this.#tools.timers.after((seconds * 1000) / speedOf(this.#tools), action);
  }

  #say(text: string): void {
    this.#tools.craft.text(MavSeverity.CRITICAL, text);
  }
}

/** Parameter 1: a bit for each compass; 0: all. */
function maskOf({ p1 }: CalibrationCommand): number {
  return p1 === 0 ? ALL_MASK : p1;
}

function idsIn(mask: number): readonly number[] {
  return COMPASSES.filter((id) => (mask & (1 << id)) !== 0);
}
