import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Pose } from '../../../shared/flight/calibration.ts';
import type { CalibrationMessage } from '../../../shared/mavlink/decode-calibration.ts';
import type { CalibrateRequest } from '../../../shared/rpc/link.ts';
import type { CalibrationSnapshot } from '../../../shared/rpc/link-answers.ts';
import type { EventWords } from '../events/definitions.ts';
import type { Methods, Part, SessionReason, StatusLine } from '../part.ts';
import type { Guard } from '../vehicle/guard.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { ArdupilotRoutine } from './ardupilot-routine.ts';
import { Px4Routine } from './px4-routine.ts';
import { CalibrationRecord } from './record.ts';
import type { Routine, RoutineOptions } from './routine.ts';

/** Without a word for this long, the vehicle is gone; a shorter gap is a bad line. */
const GONE_MS = 10_000;
/** Without a word about the calibration. */
const SILENT_MS = 5 * 60_000;
const LONGEST_MS = 30 * 60_000;
/** How long a request waits for the vehicle's own answer. Some vehicles answer at the end. */
const ANSWER_MS = 4000;

interface CalibrationOptions
  extends Omit<RoutineOptions, 'record' | 'sensor' | 'target' | 'signal' | 'isArmed'> {
  readonly vehicle: Vehicle;
  readonly guard: Guard;
}

/**
 * One calibration of a sensor at a time, on a vehicle that is not armed. It ends as the vehicle says; or when the vehicle is gone,
 * armed, another one, says nothing for 5 minutes, or after 30 minutes.
 */
export class Calibration implements Part {
  readonly methods = {
    calibration: async ({ seen }) => this.state(seen),
    calibrate: async (request) => this.begin(request),
    calibrate_confirm: async ({ pose }) => this.confirm(pose),
    calibrate_cancel: async () => this.cancel(),
  } satisfies Methods;
  readonly #options: CalibrationOptions;
  /** Of the newest one. */
  #record: CalibrationRecord;
  #routine: Routine | null = null;
  /** It was begun although the vehicle is armed: the vehicle decides. */
  #forced = false;

  constructor(options: CalibrationOptions) {
    this.#options = options;
    this.#record = new CalibrationRecord(options.clock);
    options.vehicle.messages.on('calibration', (message) => this.#onMessage(message));
  }

  /** The RPC method `calibration`. @param seen a revision: waits up to 10 s for another one; null does not wait */
  async state(seen: number | null): Promise<CalibrationSnapshot> {
    if (seen !== null) await this.#record.changed(seen);
    return this.#record.snapshot;
  }

  /**
   * The RPC method `calibrate`. Answers when the vehicle has taken it, or after 4 s without a refusal.
   * @throws ApiError E_NO_FC, E_ARMED, E_BUSY, E_NOT_IMPLEMENTED: nothing was sent; E_CALIBRATION: the vehicle refused, or it failed at once
   */
  async begin({ sensor, force }: CalibrateRequest): Promise<CalibrationSnapshot> {
    const { vehicle, guard } = this.#options;
    const { firmware } = vehicle;
    const target = vehicle.reach();
    // The edge checked this too, but the vehicle may have armed since (docs/threat-model.md J7).
    guard.demand('calibration', target.system, force, { says: 'calibrate a sensor' });
    if (firmware !== 'ardupilot' && firmware !== 'px4')
      throw new ApiError('E_NOT_IMPLEMENTED', 'Calibration is supported for ArduPilot and PX4 only.');
    const { state } = this.#record;
    if (state.running)
      throw new ApiError('E_BUSY', `The ${state.sensor ?? 'sensor'} is being calibrated. DELETE cancels it.`);
    this.#forced = force;
    const record = this.#record.next(sensor);
    this.#record = record;
    const signal = record.ended;
    const isArmed = (): boolean => vehicle.armed !== false;
    const options = { ...this.#options, isArmed, record, sensor, target, signal };
    const routine = firmware === 'px4' ? new Px4Routine(options) : new ArdupilotRoutine(options);
    this.#routine = routine;
    const failed: { error: unknown } = { error: null };
    const starting = routine.start().catch((error: unknown) => {
      failed.error = error;
      record.end('failed', messageOf(error));
    });
    await this.#answered(starting);
    if (failed.error instanceof ApiError) throw failed.error;
    const { result, text } = record.state;
    if (result === 'failed') throw new ApiError('E_CALIBRATION', text ?? undefined);
    return this.#record.snapshot;
  }

  /** The RPC method `calibrate_confirm`. @throws ApiError E_CALIBRATION, E_TIMEOUT */
  async confirm(pose: Pose): Promise<CalibrationSnapshot> {
    const { running, poses, confirm } = this.#record.state;
    if (!running || this.#routine === null)
      throw new ApiError('E_CALIBRATION', 'No calibration is running, so there is no pose to confirm.');
    if (confirm && !poses.includes(pose))
      throw new ApiError('E_CALIBRATION', `The vehicle asks for ${poses.join()}, not for ${pose}.`);
    if (!confirm && this.#options.vehicle.firmware !== 'px4')
      throw new ApiError('E_CALIBRATION', 'The vehicle is not asking for a pose.');
    await this.#routine.confirm(pose);
    return this.#record.snapshot;
  }

  /** The RPC method `calibrate_cancel`: nothing happens where none runs. @throws ApiError E_BUSY, E_CALIBRATION, E_TIMEOUT */
  async cancel(): Promise<CalibrationSnapshot> {
    if (this.#record.state.running && this.#routine !== null) {
      const cancelling = this.#routine.cancel();
      await this.#answered(cancelling);
    }
    return this.#record.snapshot;
  }

  #onMessage(message: CalibrationMessage): void {
    if (this.#record.state.running) this.#routine?.onMessage(message);
  }

  onLine(line: StatusLine): void {
    if (this.#record.state.running) this.#routine?.onLine(line);
  }

  /** An event of the group `calibration`. */
  onEvent(words: EventWords, args: Buffer): void {
    if (this.#record.state.running) this.#routine?.onEvent(words, args);
  }

  onSession(reason: SessionReason): void {
    if (reason === 'rebooted') this.#record.rebooted('The vehicle has rebooted.');
    if (reason === 'learned') this.#record.rebooted('Another vehicle has come.');
  }

  /** Called a few times a second. */
  tick(): void {
    const { vehicle } = this.#options;
    const record = this.#record;
    if (!record.state.running) return;
    if ((vehicle.linkAge ?? 0) > GONE_MS) record.end('failed', 'The vehicle is not heard any more.');
    // As it says itself: the guard counts an arming that is on its way, which a vehicle that calibrates refuses.
    else if (!this.#forced && vehicle.armed === true) record.end('failed', 'The vehicle was armed.');
    else if (record.silence > SILENT_MS) this.#giveUp('The vehicle has said nothing about it for 5 minutes.');
    else if (record.age > LONGEST_MS) this.#giveUp('It has taken more than 30 minutes.');
  }

  stop(): void {
    this.#record.end('failed', 'svc-link was stopped.');
  }

  /** The vehicle goes on for all we know: it is told to stop, where it can be. */
  #giveUp(reason: string): void {
    const { log } = this.#options;
    this.#record.end('failed', reason);
    this.#routine?.cancel().catch((error: unknown) => log.info(`calibration: ${messageOf(error)}`));
  }

  /** Rejects as `work` does, where that is soon. */
  async #answered(work: Promise<void>): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = this.#options.clock.after(ANSWER_MS, resolve);
      work
        .then(resolve, (error: unknown) => {
          reject(error instanceof Error ? error : new Error(messageOf(error)));
        })
        .finally(() => timer.cancel());
    });
  }
}
