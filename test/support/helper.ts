import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathsFrom } from '../../shared/paths.ts';
import { RpcClient } from '../../shared/rpc/rpc.ts';
import { ROOT } from './node.ts';
import { removeDir, tempDir } from './temp.ts';

/**
 * Keeps what it was asked for, an argument in brackets, and answers `show` with the file of that name beside it; waits for ever
 * where a pipe `began` lies beside it, once that was read.
 */
const PROGRAM = `#!/bin/sh
here=$(dirname "$0")
{ printf '%s' "$(basename "$0")"; printf ' [%s]' "$@"; echo; } >> "$here/asked"
[ "$1" != show ] || cat "$here/show"
[ ! -p "$here/began" ] || { echo $$ > "$here/began"; exec sleep 600; }
`;

/** svc-helper's process alone, with programs of the test's own instead of the machine's. */
export class LoneHelper {
  readonly base: string;
  readonly bin: string;
  readonly socket: string;
  /** Systemd's run-time units. */
  readonly units: string;
  stderr = '';
  #process: ChildProcess | null = null;

  private constructor(base: string) {
    this.base = base;
    this.bin = join(base, 'bin');
    this.units = join(base, 'units');
    this.socket = pathsFrom({ SVC_RUN_DIR: join(base, 'run') }).helperSocket;
  }

  /** The folders and programs, without a process. */
  static async prepare(): Promise<LoneHelper> {
    const helper = new LoneHelper(await tempDir());
    await mkdir(helper.bin);
    await mkdir(helper.units);
    for (const name of ['systemctl', 'hostnamectl'])
      await writeFile(join(helper.bin, name), PROGRAM, { mode: 0o755 });
    return helper;
  }

  get env(): Readonly<Record<string, string>> {
    return {
      SVC_RUN_DIR: join(this.base, 'run'),
      SVC_HELPER_PATH: `${this.bin}:/usr/bin:/bin`,
      SVC_HELPER_UNIT_DIR: this.units,
    };
  }

  /** @param env beside its own @returns null once it serves, else its exit code */
  async start(env: Readonly<Record<string, string>> = {}): Promise<number | null> {
    const child = fork(join(ROOT, 'bin/helper/main.ts'), {
      cwd: this.base,
      env: { ...process.env, ...this.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process = child;
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    child.send({ type: 'init', secret: '', nodeStartedAt: 0 });
    return new Promise((resolve) => {
      child.once('message', () => resolve(null));
      child.once('close', (code) => resolve(code));
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'close');
    child.kill(signal);
    await gone;
  }

  /** A call on a connection of its own. @throws ApiError as the helper answers */
  async ask(method: string, params: unknown): Promise<unknown> {
    const client = new RpcClient({ path: this.socket, peer: 'svc-helper' });
    await client.connectOnce();
    try {
      return await client.call(method, params, 15_000);
    } finally {
      client.stop();
    }
  }

  /** From now on programs hang. */
  hang(): void {
    spawnSync('mkfifo', [join(this.bin, 'began')]);
  }

  /** Resolves when the next program hangs, with its process id. */
  async hung(): Promise<number> {
    return Number(await readFile(join(this.bin, 'began'), 'utf8'));
  }

  /** From now on they end again. */
  async heal(): Promise<void> {
    await removeDir(join(this.bin, 'began'));
  }

  /** What the programs were asked for, a line each; empty before the first. */
  async asked(): Promise<string> {
    return readFile(join(this.bin, 'asked'), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
  }

  async stop(): Promise<void> {
    await this.kill('SIGTERM');
    await removeDir(this.base);
  }
}
