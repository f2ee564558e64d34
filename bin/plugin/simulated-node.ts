import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { callNode } from '../client/local-client.ts';
import { CODE_ROOT, EXTENSION } from '../places.ts';

const START_MS = 30_000;
const STOP_MS = 10_000;
const POLL_MS = 200;

/** A whole node with a simulated vehicle, in a folder of its own, for an extension to read from. */
export class SimulatedNode {
  readonly #child: ChildProcess;
  readonly paths: Paths;

  private constructor(child: ChildProcess, paths: Paths) {
    this.#child = child;
    this.paths = paths;
  }

  /** @throws when its vehicle is not there within 30 s */
  static async start(folder: string, signal: AbortSignal): Promise<SimulatedNode> {
    const env = {
      SVC_ETC_DIR: join(folder, 'etc'),
      SVC_RUN_DIR: join(folder, 'run'),
      SVC_STATE_DIR: join(folder, 'state'),
    };
    const paths = pathsFrom(env);
    await mkdir(paths.etc, { recursive: true });
    await writeFile(
      paths.config,
      `api:\n  port: ${await freePort()}\nmavlink:\n  source: sim\n  endpoints: []\nvideo:\n  source: none\ndiscovery:\n  mdns: false\n`,
    );
    const child = spawn(process.execPath, [join(CODE_ROOT, `bin/supervisor/main${EXTENSION}`)], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
      detached: true, // Ctrl-C is for the command, which then stops it
    });
    const node = new SimulatedNode(child, paths);
    const late = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
    while (!(await node.#isAlive())) {
      if (late.aborted || child.exitCode !== null) {
        await node.stop();
        signal.throwIfAborted();
        throw new Error('The simulated vehicle did not come up. `npm start` shows why, in a checkout.');
      }
      await delay(POLL_MS);
    }
    return node;
  }

  /** SIGTERM, and SIGKILL after 10 s. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    this.#child.kill('SIGTERM');
    await gone;
    clearTimeout(timer);
  }

  async #isAlive(): Promise<boolean> {
    return callNode({ socketPath: this.paths.controlSocket }, 'GET /api/telemetry').then(
      ({ mavlink_alive: alive }) => alive,
      () => false, // it is still starting
    );
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
