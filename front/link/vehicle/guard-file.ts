import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Guard } from './guard.ts';
import type { Systems } from './systems.ts';

const WRITE_MS = 1000;

interface GuardFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly guard: Guard;
  readonly systems: Systems;
  readonly log: Logger;
}

/**
 * What the armed guard says of all systems, once a second for whoever restarts the node from outside, also while nobody of it
 * answers: the package, the updater (`svc-switch may-cut`). A line of `armed`, `unknown` or `disarmed`; when a vehicle was last
 * heard, or `never`; when it was written; both in seconds since the machine booted.
 */
export class GuardFile {
  readonly #options: GuardFileOptions;
  #timer: Timer | null = null;
  /** By a process before this one, too. */
  #heard: number | null = null;
  #writing: Promise<void> | null = null;

  constructor(options: GuardFileOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { path, clock } = this.#options;
    const former = await readFile(path, 'utf8').catch(() => ''); // the first since the boot
    const heard = Number(former.split(' ')[1]);
    if (Number.isInteger(heard) && heard <= uptime()) this.#heard = heard;
    this.#write();
    this.#timer = clock.every(WRITE_MS, () => this.#write());
  }

  /** Whoever stops it in order has asked the guard; the next process begins anew. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#writing;
    const { path } = this.#options;
    for (const file of [path, `${path}.new`]) await rm(file, { force: true });
  }

  /** A write that has not ended is not waited for: the folder is memory, except in a checkout. */
  #write(): void {
    const { guard, systems, log } = this.#options;
    if (this.#writing !== null) return;
    const now = Math.floor(uptime());
    const silent = systems.list.filter(({ vehicle }) => vehicle).map(({ last_heard_s: seconds }) => seconds);
    if (silent.length > 0) this.#heard = Math.max(this.#heard ?? 0, now - Math.ceil(Math.min(...silent)));
    const armed = guard.worst;
    const word = armed === true ? 'armed' : armed === false ? 'disarmed' : armed;
    this.#writing = this.#put(`${word} ${this.#heard ?? 'never'} ${now}\n`)
      .catch((error: unknown) => {
        log.warn(`the armed state is not told outside of the node: ${messageOf(error)}`);
      })
      .finally(() => {
        this.#writing = null;
      });
  }

  async #put(line: string): Promise<void> {
    const { path } = this.#options;
    await writeFile(`${path}.new`, line, { mode: 0o644 });
    await rename(`${path}.new`, path);
  }
}
