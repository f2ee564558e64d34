import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { gone } from './events.ts';

/** Between the end of a program and its next start, as of a service that is always restarted. */
const RESTART_MS = 1000;
const KEPT = 20_000;

/** One that ends with all its processes at once, as in a power cut, and is started again. */
export interface Machine {
  readonly name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/**
 * A program and all that it starts, in a process namespace of its own: whatever daemons there are end when it is killed. One that ends
 * by itself is started again.
 */
export class Killable implements Machine {
  readonly name: string;
  /** The newest of what it wrote. */
  said = '';
  readonly #command: readonly string[];
  #process: ChildProcess | null = null;

  constructor(name: string, command: readonly string[]) {
    this.name = name;
    this.#command = command;
  }

  async start(): Promise<void> {
    const [command = '', ...args] = this.#command;
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.said = `${this.said}${chunk.toString()}`.slice(-KEPT);
      });
    child.once('exit', (code) => {
      if (this.#process !== child) return;
      this.said += `\n(ended with ${code})\n`;
      setTimeout(() => {
        if (this.#process === child) void this.start();
      }, RESTART_MS).unref();
    });
    this.#process = child;
    await once(child, 'spawn');
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const { pid = 0 } = child;
    const inside = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    if (inside > 0) await gone(inside);
  }
}

/** The command that runs this one so. */
export function inNamespace(command: string, ...args: readonly string[]): readonly string[] {
  const own = ['--user', '--map-current-user', '--pid', '--mount-proc', '--fork', '--kill-child'];
  return ['unshare', ...own, '--', command, ...args];
}
