import type { LinkState } from '../../shared/rpc/link-state.ts';
import { LinkProcess } from '../link/link-process.ts';
import { SimProcess } from '../sim/sim-process.ts';

/** svc-link with a simulated vehicle, whose firmware and parameters it knows. */
export class SimPair implements AsyncDisposable {
  readonly link: LinkProcess;
  readonly sim: SimProcess;

  protected constructor(link: LinkProcess, sim: SimProcess) {
    this.link = link;
    this.sim = sim;
  }

  /** @param endpoints YAML @param fits what else must be known */
  protected static async processes(
    args: readonly string[],
    endpoints = '[]',
    fits: (state: LinkState) => boolean = () => true,
  ): Promise<[LinkProcess, SimProcess]> {
    const sim = await SimProcess.start('--no-mission', ...args);
    const link = await LinkProcess.start(`tcp:127.0.0.1:${sim.port}`, [`endpoints: ${endpoints}`]);
    await link.until((state) => {
      const { mavlink_alive: alive, firmware_version: version, params } = state;
      return alive && version !== null && !params.priming && fits(state);
    });
    return [link, sim];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.link.stop();
    await this.sim[Symbol.asyncDispose]();
  }
}
