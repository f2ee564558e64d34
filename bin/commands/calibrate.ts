import { createInterface, type Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Args, Flags } from '@oclif/core';
import { ApiError } from '../../shared/errors.ts';
import { CALIBRATION_SENSORS, MAX_STEPS, type Pose } from '../../shared/flight/calibration.ts';
import type { CalibrationState } from '../../shared/schemas/calibration.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';

const POLL_MS = 300;
const WORDS: Readonly<Record<Pose, string>> = {
  level: 'level',
  left: 'on its left side',
  right: 'on its right side',
  nose_down: 'with its nose down',
  nose_up: 'with its nose up',
  back: 'on its back',
};

class CalibrateCommand extends NodeCommand {
  static override summary = 'Calibrate a sensor of the vehicle; exit code 0 when the vehicle says: done.';
  static override description =
    'Shows what the vehicle says. Where it waits for a pose, press Enter when it lies so. Ctrl-C cancels the calibration.';
  static override examples = [
    '<%= config.bin %> calibrate gyro',
    '<%= config.bin %> calibrate accelerometer',
    '<%= config.bin %> calibrate --status',
  ];
  static override args = { sensor: Args.string({ options: [...CALIBRATION_SENSORS] }) };
  static override flags = {
    status: Flags.boolean({
      summary: 'only show how far it is, or how the newest one ended',
      default: false,
    }),
    force: Flags.boolean({
      summary: 'also while the vehicle is armed: then the vehicle decides',
      default: false,
    }),
  };

  #shown = 0;
  #lastShown = '';
  #percent: number | null = null;
  #input: Interface | null = null;
  /** Enters that were not used yet. */
  #enters = 0;
  #isClosed = false;
  #asked: Pose | null = null;

  async run(): Promise<CalibrationState> {
    const { args, flags } = await this.parse(CalibrateCommand);
    const sensor = CALIBRATION_SENSORS.find((each) => each === args.sensor);
    if (flags.status) return this.#status();
    if (sensor === undefined)
      this.error(`Which sensor? ${CALIBRATION_SENSORS.join(', ')}.`, { exit: EXIT.usage });
    const interrupted = new AbortController();
    const interrupt = (): void => interrupted.abort();
    process.once('SIGINT', interrupt);
    try {
      const begun = await this.call('POST /api/calibration', { body: { sensor, force: flags.force } });
      return this.#ended(await this.#follow(begun, interrupted.signal));
    } finally {
      process.off('SIGINT', interrupt);
      this.#input?.close();
    }
  }

  async #status(): Promise<CalibrationState> {
    const state = await this.call('GET /api/calibration');
    const { sensor, running, result, text, percent, reboot_required: reboot } = state;
    const far = percent === null ? '' : `, ${percent} %`;
    if (sensor === null) this.log('No calibration since svc-link started.');
    else
      this.log(`${sensor}: ${running ? `running${far}` : (result ?? '')}${text === null ? '' : `: ${text}`}`);
    if (reboot) this.log('The vehicle must be rebooted.');
    if (result === 'failed') process.exitCode = EXIT.refused;
    return state;
  }

  async #follow(begun: CalibrationState, interrupted: AbortSignal): Promise<CalibrationState> {
    let state = begun;
    let cancelled = false;
    for (;;) {
      this.#show(state);
      if (!state.running) return state;
      const stop = interrupted.aborted || (state.confirm && this.#isClosed && this.#enters === 0);
      if (stop && !cancelled) {
        cancelled = true;
        state = await this.#tried(async () => this.call('DELETE /api/calibration'), state);
        continue;
      }
      if (state.confirm && !cancelled) {
        state = await this.#pose(state);
        if (this.#asked === null) continue;
      }
      await delay(POLL_MS);
      state = await this.call('GET /api/calibration');
    }
  }

  /** Asks once for each pose, and tells the node when Enter was pressed. */
  async #pose(state: CalibrationState): Promise<CalibrationState> {
    const [pose] = state.poses;
    if (pose === undefined) return state;
    if (this.#asked !== pose) {
      this.#asked = pose;
      this.#listen();
      if (process.stdin.isTTY) this.#enters = 0; // pressed before the question
      this.logToStderr(`Place the vehicle ${WORDS[pose]}, hold it still, and press Enter.`);
    }
    if (this.#enters === 0) return state;
    this.#enters--;
    this.#asked = null;
    const body = { sensor: 'accelerometer', confirm: pose } as const;
    return this.#tried(async () => this.call('POST /api/calibration', { body }), state);
  }

  /** A refusal is shown; the state says how it goes on. */
  async #tried(step: () => Promise<CalibrationState>, before: CalibrationState): Promise<CalibrationState> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.logToStderr(this.words(error));
      await delay(POLL_MS);
      return before;
    }
  }

  #listen(): void {
    if (this.#input !== null) return;
    this.#input = createInterface({ input: process.stdin, terminal: false });
    this.#input.on('line', () => {
      this.#enters = Math.min(this.#enters + 1, MAX_STEPS);
    });
    this.#input.once('close', () => {
      this.#isClosed = true;
    });
  }

  #show({ steps, percent }: CalibrationState): void {
    const from = steps.length < MAX_STEPS ? this.#shown : steps.lastIndexOf(this.#lastShown) + 1;
    for (const step of steps.slice(from)) this.log(step);
    this.#shown = steps.length;
    this.#lastShown = steps.at(-1) ?? '';
    if (percent !== null && percent !== this.#percent) this.log(`${percent} %`);
    this.#percent = percent;
  }

  #ended(state: CalibrationState): CalibrationState {
    const { result, reboot_required: reboot } = state;
    this.log(result ?? '');
    if (reboot) this.log('Reboot the vehicle: it does not arm before.');
    if (result !== 'done') process.exitCode = EXIT.refused;
    return state;
  }
}

export default { calibrate: CalibrateCommand };
