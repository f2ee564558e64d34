import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const PROGRAM = join(import.meta.dirname, 'main.ts');
const AGAIN_MS = 500;

/** One end of a simulated radio beside a node, started again whenever it ends, as systemd does with wfb-ng. */
export class RadioEnd {
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;

  /**
   * @param env the node's directories (SVC_ETC_DIR, …): its config and its key are read there
   * @param radio what `SVC_RADIO_SIM` takes: options.ts
   * @param prefix runs it elsewhere, such as in a network namespace
   */
  constructor(env: NodeJS.ProcessEnv, radio: object, prefix: readonly string[] = []) {
    this.#running = this.#run({ ...process.env, ...env, SVC_RADIO_SIM: JSON.stringify(radio) }, prefix);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(env: NodeJS.ProcessEnv, prefix: readonly string[]): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const [program, ...args] = [...prefix, process.execPath, PROGRAM];
      // Detached: Ctrl-C is for whoever started the node.
      const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'], detached: true });
      const stop = (): void => void child.kill('SIGTERM');
      signal.addEventListener('abort', stop, { once: true });
      await once(child, 'exit');
      signal.removeEventListener('abort', stop);
      if (!signal.aborted) await wait(AGAIN_MS, undefined, { signal }).catch(() => undefined); // stopped meanwhile
    }
  }
}
