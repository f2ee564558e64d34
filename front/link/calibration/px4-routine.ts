import { ApiError, messageOf } from '../../../shared/errors.ts';
import { type CalibrationResult, POSES, type Pose } from '../../../shared/flight/calibration.ts';
import type { Params7 } from '../encode.ts';
import type { EventWords } from '../events/definitions.ts';
import { RESULT_TEMPORARILY_REJECTED } from '../exchange.ts';
import type { StatusLine } from '../part.ts';
import {
  hasBegun,
  order,
  PREFLIGHT,
  PREFLIGHT_CALIBRATION,
  type Routine,
  type RoutineOptions,
} from './routine.ts';

const CANCEL: Params7 = [0, 0, 0, 0, 0, 0, 0];
const ANSWER_MS = 6000;
/** MAV_TYPE_GCS */
const TYPE_GCS = 6;
const STATION_PERIOD_MS = 1000;
/** PX4 looks at the heartbeats every 1.25 s (mavlink_receiver.cpp, CheckHeartbeats). */
const STATION_KNOWN_MS = 1500;
const ATTEMPTS = 3;
const AGAIN_MS = 700;
/** PX4 looks for a cancellation only between two steps, and only at the newest command that it got: it is told again. */
const CANCEL_MS = 2000;
/** The longest step: it waits 90 s for the vehicle to be still. */
const CANCELLED_MS = 100_000;
const MARK = '[cal] ';
/** MAV_SEVERITY: what comes without the mark counts from here on. */
const WARNING = 4;
/** PX4's names of the sides that point down, of which `back` is the tail. */
const SIDES: ReadonlyMap<string, Pose> = new Map([
  ['down', 'level'],
  ['left', 'left'],
  ['right', 'right'],
  ['front', 'nose_down'],
  ['back', 'nose_up'],
  ['up', 'back'],
]);
const ENDS: Readonly<Record<string, CalibrationResult>> = {
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};
/** calibration_result_t of libevents. */
const EVENT_ENDS: readonly CalibrationResult[] = ['done', 'failed', 'cancelled'];

/**
 * PX4 acknowledges at once, and then tells everything in texts that begin with `[cal]`, or in events. It finds out by itself how
 * it lies. (calibration_messages.h, calibration_routines.cpp, mag_calibration.cpp; libevents' events/common.json)
 */
export class Px4Routine implements Routine {
  readonly #options: RoutineOptions;
  /** It has accepted, or said that it began. */
  #begun = false;
  /** Whichever of the two speaks first is shown: the other one says the same. */
  #speaks: 'text' | 'event' | null = null;

  constructor(options: RoutineOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { sensor } = this.#options;
    await this.#becomeStation();
    const told = async (): Promise<number | null> => this.#order(PREFLIGHT[sensor]);
    if (!(await hasBegun(this.#options, told, () => this.#begun))) return;
    this.#begun = true;
  }

  async confirm(): Promise<void> {
    await Promise.reject(new ApiError('E_CALIBRATION', 'PX4 detects the pose by itself.'));
  }

  async cancel(): Promise<void> {
    const { record, signal, log } = this.#options;
    if (record.state.step === 'cancelling') return;
    record.set({ step: 'cancelling' });
    const telling = this.#tell().catch((error: unknown) => log.warn(`calibration: ${messageOf(error)}`));
    await Promise.race([telling, aborted(signal)]);
  }

  /** Its texts are all there is. */
  onMessage(): void {}

  onLine({ text, severity }: StatusLine): void {
    if (!text.startsWith(MARK)) {
      if (severity <= WARNING) this.#say('text', text);
      return;
    }
    const { record } = this.#options;
    const said = text.slice(MARK.length);
    const [, percent] = /progress <(\d{1,3})>$/.exec(said) ?? [];
    if (percent !== undefined) {
      this.#begun = true;
      record.set({ percent: Math.min(100, Number(percent)) });
      return;
    }
    if (said.startsWith('calibration started')) {
      this.#begun = true;
      this.#step('measuring');
    }
    const [, end = ''] = /^calibration (done|failed|cancelled)\b/.exec(said) ?? [];
    const result = ENDS[end];
    if (result !== undefined) {
      if (this.#begun) record.end(result, said);
      return;
    }
    this.#say('text', said);
    const [, pending] = /^pending:(.*)$/.exec(said) ?? [];
    if (pending !== undefined) this.#ask(pending.trim().split(/\s+/));
    else if (said.endsWith('orientation detected')) this.#step('measuring');
    else if (said === 'Rotate vehicle') this.#step('rotate');
  }

  onEvent({ name, text }: EventWords, args: Buffer): void {
    const { record } = this.#options;
    switch (name) {
      case 'cal_progress': {
        const percent = args.readInt8(1);
        if (percent >= 0) record.set({ percent: Math.min(100, percent) });
        return;
      }
      case 'cal_orientation_detected':
        this.#say('event', text);
        this.#step('measuring');
        return;
      case 'cal_done': {
        const result = EVENT_ENDS[args.readUInt8(0)];
        if (result !== undefined && this.#begun) record.end(result, text);
        return;
      }
      default:
        this.#say('event', text);
    }
  }

  /**
   * PX4 sends its texts only on a link on which it hears a ground station (streams/STATUSTEXT.hpp), and nothing else tells how it
   * calibrates. So we are one as long as the calibration lasts, but never for an armed vehicle, whose ground-station failsafe must
   * work (docs/threat-model.md J13).
   */
  async #becomeStation(): Promise<void> {
    const { clock, encoder, send, isArmed, signal } = this.#options;
    const beat = (): void => {
      if (signal.aborted || isArmed()) return;
      send(encoder.heartbeat(TYPE_GCS));
      clock.after(STATION_PERIOD_MS, beat);
    };
    beat();
    if (!isArmed()) await new Promise<void>((resolve) => clock.after(STATION_KNOWN_MS, resolve));
  }

  /** It is busy for a moment after a calibration has ended. */
  async #order(params: Params7): Promise<number | null> {
    const { clock, signal } = this.#options;
    // Once it has begun it would refuse a repetition.
    const job = { ms: ANSWER_MS, underway: () => this.#begun, signal };
    for (let attempt = 1; ; attempt++) {
      const result = await order(this.#options, PREFLIGHT_CALIBRATION, params, job);
      if (result !== RESULT_TEMPORARILY_REJECTED || attempt === ATTEMPTS || signal.aborted) return result;
      await new Promise<void>((resolve) => clock.after(AGAIN_MS, resolve));
    }
  }

  #say(speaker: 'text' | 'event', words: string): void {
    this.#speaks ??= speaker;
    if (this.#speaks === speaker) this.#options.record.say(words);
  }

  /** While it is being cancelled, that is what matters. */
  #step(step: 'measuring' | 'rotate'): void {
    const { record } = this.#options;
    if (record.state.step !== 'cancelling') record.set({ step });
  }

  #ask(sides: readonly string[]): void {
    const { record } = this.#options;
    const wanted = new Set(sides.map((side) => SIDES.get(side)));
    if (record.state.step !== 'cancelling')
      record.ask(
        POSES.filter((pose) => wanted.has(pose)),
        false,
      );
  }

  /** Its ack says nothing: two parts of PX4 answer, one of them that it is busy. Its text does. */
  async #tell(): Promise<void> {
    const { clock, record, signal } = this.#options;
    const until = clock.now() + CANCELLED_MS;
    const over = aborted(signal);
    do {
      const job = { ms: CANCEL_MS, patience: CANCEL_MS, sends: 1, trusting: true, doubleAck: true };
      const next = new Promise<void>((resolve) => clock.after(CANCEL_MS, resolve));
      await order(this.#options, PREFLIGHT_CALIBRATION, CANCEL, job);
      await Promise.race([next, over]);
    } while (!signal.aborted && clock.now() < until);
    record.end('cancelled', 'The vehicle was told to stop, and has not said that it did.');
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
