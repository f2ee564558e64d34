import { type ChildProcess, spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { every } from '../../../shared/async/every.ts';
import { Retry } from '../../../shared/async/retry.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { LineSplitter } from '../../../shared/rpc/lines.ts';
import { SUBSYSTEMS } from './sources/sources.ts';

interface HotPlugOptions {
  /** `/run/udev`, where udevd has its socket while it runs. */
  readonly udev: string;
  /** Text that changes with what is plugged in. */
  readonly fingerprint: () => Promise<string>;
  readonly changed: () => Promise<unknown>;
  readonly log: Logger;
}

const POLL_MS = 1000;
/** While udev tells: only in case that it has died. */
const MONITORED_POLLS = 10;
/** One plug is several events. */
const GATHER_MS = 150;
/** A monitor that ends sooner each time is started less and less often. */
const STEADY_MS = 30_000;
const MAX_LINE_CHARS = 16_384;
const STOP_MS = 1000;
const ARGS = ['monitor', '--udev', ...SUBSYSTEMS.map((name) => `--subsystem-match=${name}`)];

/**
 * Says within a second that something was plugged in or out: by `udevadm monitor` where udev runs, and else by looking every
 * second.
 */
export class HotPlug {
  readonly #options: HotPlugOptions;
  readonly #retry = new Retry(() => void this.#monitor(), { firstMs: 1000, capMs: 60_000 });
  #child: ChildProcess | null = null;
  #monitored = false;
  #poll: NodeJS.Timeout | undefined;
  #gather: NodeJS.Timeout | undefined;
  #polls = 0;
  #seen: string | null = null;
  #problem = '';
  #stopped = false;

  constructor(options: HotPlugOptions) {
    this.#options = options;
  }

  /** @param seen the fingerprint before the first scan */
  start(seen: string): void {
    this.#seen = seen;
    this.#retry.start();
    this.#poll = every(POLL_MS, 'hot-plug', async () => this.#look());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retry.stop();
    clearInterval(this.#poll);
    clearTimeout(this.#gather);
    const child = this.#child;
    if (child === null) return;
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(timer);
  }

  async #look(): Promise<void> {
    if (this.#monitored && ++this.#polls % MONITORED_POLLS !== 0) return;
    const now = await this.#options.fingerprint();
    if (now === this.#seen || this.#stopped) return;
    this.#seen = now;
    await this.#options.changed();
  }

  async #monitor(): Promise<void> {
    const running = await access(join(this.#options.udev, 'control')).then(
      () => true,
      () => false,
    );
    if (this.#stopped) return;
    if (!running) {
      this.#ended('udev does not run on this machine');
      return;
    }
    const child = spawn('udevadm', ARGS, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#child = child;
    const lines = new LineSplitter(MAX_LINE_CHARS);
    const startedAt = performance.now();
    let failure: string | null = null;
    child.once('error', (error) => {
      failure = messageOf(error); // 'close' follows
    });
    child.once('close', (code, signal) => {
      this.#child = null;
      if (performance.now() - startedAt > STEADY_MS) this.#retry.worked();
      this.#ended(failure ?? `udevadm monitor ended with ${signal ?? `code ${String(code)}`}`);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      try {
        lines.push(chunk, (line) => this.#heard(line));
      } catch (error) {
        failure = messageOf(error);
        child.kill('SIGKILL');
      }
    });
  }

  /** The first lines are a heading: from then on it listens. */
  #heard(line: string): void {
    if (!this.#monitored) {
      this.#monitored = true;
      this.#problem = '';
      this.#options.log.info('udev says what is plugged in and out');
      // What changed before it listened.
      this.#polls = MONITORED_POLLS - 1;
    }
    if (!/^UDEV +\[/.test(line)) return;
    this.#gather ??= setTimeout(() => {
      this.#gather = undefined;
      this.#options.changed().catch((error: unknown) => {
        this.#options.log.error(`peripherals: ${messageOf(error)}`);
      });
    }, GATHER_MS);
  }

  #ended(problem: string): void {
    this.#monitored = false;
    if (this.#stopped) return;
    if (problem !== this.#problem)
      this.#options.log.info(`${problem}: peripherals are looked for every second`);
    this.#problem = problem;
    this.#retry.again();
  }
}
