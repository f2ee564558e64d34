import { rm } from 'node:fs/promises';
import { Backoff } from '../../../shared/async/backoff.ts';
import { messageOf } from '../../../shared/errors.ts';
import { ExtensionError } from '../../../shared/plugins/connection.ts';
import { createLogger, type Logger } from '../../../shared/process/logger.ts';
import { Host } from './ipc/host.ts';
import type { Hosted } from './ipc/hosted.ts';
import type { Methods } from './ipc/methods.ts';
import { httpSocketOf } from './launch.ts';
import type { RunningExtension, Sandbox, SandboxSpec } from './sandbox/types.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const FAILURES = 5;
const WINDOW_MS = 60_000;
const LAST_WORDS = 20;

interface ExtensionOptions {
  readonly spec: SandboxSpec;
  readonly sandbox: Sandbox;
  readonly hosted: Hosted;
  readonly methods: Methods;
  /** It ended too often; it is not started again. */
  readonly onFailed: (reason: string, lastWords: readonly string[]) => void;
  readonly log: Logger;
}

/**
 * An extension that runs: its socket, its process in the sandbox, started again when it ends by itself, after growing pauses and
 * not for ever. Its output goes to the log under its id.
 */
export class Extension {
  readonly spec: SandboxSpec;
  readonly #options: ExtensionOptions;
  readonly #host: Host;
  readonly #output: Logger;
  readonly #backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #process: RunningExtension | null = null;
  #starting: Promise<void> | null = null;
  #pause: NodeJS.Timeout | null = null;
  #failures: number[] = [];
  #words: string[] = [];
  #stopped = false;

  constructor(options: ExtensionOptions) {
    this.#options = options;
    this.spec = options.spec;
    this.#output = createLogger(options.spec.id, 'debug');
    this.#host = new Host({
      folder: options.spec.sockets,
      hosted: options.hosted,
      methods: options.methods,
      onProblem: (problem) => this.#output.warn(problem),
    });
  }

  /** @throws Error if it cannot be started at all; then nothing of it is left */
  async start(): Promise<void> {
    try {
      await this.#host.start();
      await this.#run();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#pause !== null) clearTimeout(this.#pause);
    await this.#starting?.catch(() => undefined); // whoever started it was told
    await this.#process?.stop();
    await this.#host.stop();
  }

  /** Whether its process runs and has said hello. */
  get ready(): boolean {
    return this.#host.ready;
  }

  get running(): boolean {
    return this.#process !== null;
  }

  tell(name: string, args: unknown): void {
    this.#host.tell(name, args);
  }

  recheck(): void {
    this.#host.recheck();
  }

  /** @throws ExtensionError */
  async ask(method: string, args: unknown, ms: number): Promise<unknown> {
    if (this.#process === null) throw new ExtensionError('plugin_not_running');
    return this.#host.ask(method, args, ms);
  }

  async #run(): Promise<void> {
    this.#words = [];
    // Of the process before: the next one could not listen, and would keep ending.
    await rm(httpSocketOf(this.spec), { force: true });
    const starting = this.#options.sandbox.start(this.spec, (stream, line) => this.#line(stream, line));
    this.#starting = starting.then(() => undefined);
    const process = await starting;
    this.#process = process;
    void process.ended.then(({ exit }) => this.#ended(exit));
  }

  #line(stream: 'stdout' | 'stderr', line: string): void {
    if (stream === 'stdout') this.#output.info(line);
    else {
      this.#output.warn(line);
      this.#words.push(line.slice(0, 400));
      if (this.#words.length > LAST_WORDS) this.#words.shift();
    }
  }

  #ended(exit: string): void {
    this.#process = null;
    if (this.#stopped) return;
    const now = performance.now();
    this.#failures = [...this.#failures.filter((at) => now - at < WINDOW_MS), now];
    if (this.#failures.length === 1) this.#backoff.reset();
    this.#output.error(`ended: ${exit}`);
    if (this.#failures.length >= FAILURES) {
      this.#options.onFailed(`ended ${FAILURES} times within a minute, last with ${exit}`, this.#words);
      return;
    }
    this.#pause = setTimeout(() => {
      this.#run().catch((error: unknown) => {
        this.#options.log.error(`${this.spec.id}: ${messageOf(error)}`);
        this.#ended(messageOf(error));
      });
    }, this.#backoff.next());
  }
}
