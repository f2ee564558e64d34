import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Two hosts of the test's own, as network namespaces with cables between them: nothing of this machine is in between. */
export class TwoHosts {
  readonly #near: string;
  readonly #far: string;

  private constructor(near: string, far: string) {
    this.#near = near;
    this.#far = far;
  }

  /** @param cables for each: the name of the near end's device, its address and the far one's, with the prefix's length */
  static async create(
    cables: readonly (readonly [device: string, near: string, far: string])[],
  ): Promise<TwoHosts> {
    const hosts = new TwoHosts(`svcn${process.pid}`, `svcf${process.pid}`);
    for (const name of [hosts.#near, hosts.#far]) {
      await run('ip', ['netns', 'add', name]);
      await run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
    }
    for (const [device, near, far] of cables) {
      const end = ['type', 'veth', 'peer', 'name', device, 'netns', hosts.#far];
      await run('ip', ['-n', hosts.#near, 'link', 'add', device, ...end]);
      for (const [name, address] of [
        [hosts.#near, near],
        [hosts.#far, far],
      ] as const) {
        await run('ip', ['-n', name, 'addr', 'add', address, 'dev', device]);
        await run('ip', ['-n', name, 'link', 'set', device, 'up']);
      }
    }
    return hosts;
  }

  /** What runs a program on the near host when put before it. */
  get near(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#near];
  }

  /** Its output. */
  async onNear(...program: readonly string[]): Promise<string> {
    return (await run('ip', ['netns', 'exec', this.#near, ...program])).stdout;
  }

  async onFar(...program: readonly string[]): Promise<string> {
    return (await run('ip', ['netns', 'exec', this.#far, ...program])).stdout;
  }

  async destroy(): Promise<void> {
    for (const name of [this.#near, this.#far])
      await run('ip', ['netns', 'del', name]).catch(() => undefined); // it may not have come that far
  }
}
