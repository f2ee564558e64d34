import { expect } from 'chai';
import { ApiError } from '../../shared/errors.ts';
import { CALIBRATION_SENSORS, type CalibrationSensor, type CalibrationState } from '../../shared/flight/calibration.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { LinkProcess } from './link-process.ts';

const FIRMWARES = ['ardupilot', 'px4'] as const;
const FAST = ['--speedup', '20'] as const;

async function failure(work: Promise<unknown>): Promise<ApiError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it should have failed');
}

/** svc-link with a simulated vehicle. */
class Pair implements AsyncDisposable {
  readonly link: LinkProcess;
  readonly sim: SimProcess;

  private constructor(link: LinkProcess, sim: SimProcess) {
    this.link = link;
    this.sim = sim;
  }

  static async start(...args: string[]): Promise<Pair> {
    const sim = await SimProcess.start('--no-mission', ...args);
    const link = await LinkProcess.start(`tcp:127.0.0.1:${sim.port}`);
    await link.until(({ mavlink_alive: alive, firmware_version: version, params }) => {
      return alive && version !== null && !params.priming;
    });
    return new Pair(link, sim);
  }

  async begin(sensor: CalibrationSensor, force = false): Promise<CalibrationState> {
    return (await this.link.calls.calibrate({ sensor, force })).state;
  }

  /** Follows the calibration, and lies as it is asked to, until the state fits. */
  async until(fits: (state: CalibrationState) => boolean): Promise<CalibrationState> {
    let seen: number | null = null;
    for (;;) {
      const { revision, state } = await this.link.calls.calibration({ seen });
      if (fits(state)) return state;
      if (!state.running) throw new Error(`it has ended: ${JSON.stringify(state)}`);
      seen = revision;
      const [pose] = state.poses;
      if (state.confirm && pose !== undefined) await this.link.calls.calibrate_confirm({ pose });
    }
  }

  async ended(): Promise<CalibrationState> {
    return this.until(({ running }) => !running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.link.stop();
    await this.sim[Symbol.asyncDispose]();
  }
}

describe('calibration through svc-link', function () {
  this.timeout(60_000);

  for (const firmware of FIRMWARES) {
    it(`${firmware}: every sensor, one after the other, to its end`, async () => {
      await using pair = await Pair.start('--firmware', firmware, ...FAST);
      expect((await pair.link.calls.calibration({ seen: null })).state).to.include({ running: false, sensor: null });
      for (const sensor of CALIBRATION_SENSORS) {
        await pair.begin(sensor);
        const state = await pair.ended();
        console.log(JSON.stringify(state, null, 1));
        expect(state, JSON.stringify(state)).to.include({ sensor, result: 'done', percent: 100, step: null });
      }
    });
    it(`${firmware}: clumsy`, async () => {
      await using pair = await Pair.start('--firmware', firmware, ...FAST, '--clumsy');
      for (const sensor of CALIBRATION_SENSORS) {
        const refusal = await pair.begin(sensor).catch((error) => error);
        console.log(refusal.message);
        const state = await pair.ended();
        console.log(JSON.stringify(state, null, 1));
      }
    });
  }
});
