import { parentPort, Worker } from 'node:worker_threads';
import { messageOf } from '../errors.ts';
import { deferred } from './deferred.ts';

const STOP_MS = 3000;

interface OwnThreadOptions<From> {
  /** Path of the module that it runs, which finds `data` as `workerData`. */
  readonly file: string;
  readonly data: unknown;
  readonly heap: { readonly oldMb: number; readonly youngMb: number };
  readonly onMessage: (message: From) => void;
  /** Called once, if it ends without `stop` or `end`. */
  readonly onEnd: (problem: string) => void;
}

/**
 * A thread for what holds whoever does it: a disk that stands still, a long query. Nobody waits for it without a bound, and it keeps
 * no process alive.
 */
export class OwnThread<To, From> {
  readonly #worker: Worker;
  readonly #exited = deferred();
  #isWanted = true;

  constructor({ file, data, heap, onMessage, onEnd }: OwnThreadOptions<From>) {
    this.#worker = new Worker(file, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heap.oldMb, maxYoungGenerationSizeMb: heap.youngMb },
      // Node makes the folder of its cache first, and a disk that stands still would hold the thread before it can say anything.
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    });
    const ended = (problem: string): void => {
      if (this.#isWanted) onEnd(problem);
      this.#isWanted = false;
    };
    this.#worker.unref();
    this.#worker.on('message', onMessage);
    this.#worker.on('error', (error) => ended(messageOf(error)));
    this.#worker.on('exit', () => {
      this.#exited.resolve();
      ended('its thread has ended');
    });
  }

  post(message: To): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    this.#worker.postMessage(message);
  }

  /** Lets it finish what it was given, with this as the last. */
  async stop(last: To): Promise<void> {
    this.#isWanted = false;
    this.post(last);
    await this.#gone();
    void this.#worker.terminate();
  }

  /** Ends it at once. */
  async end(): Promise<void> {
    this.#isWanted = false;
    void this.#worker.terminate();
    await this.#gone();
  }

  /** In 3 s at most: one that a disk holds ends when that lets it go. */
  async #gone(): Promise<void> {
    const timer = setTimeout(() => this.#exited.resolve(), STOP_MS);
    await this.#exited.promise;
    clearTimeout(timer);
  }
}

/** In such a thread: says something to whoever has started it. */
export function toOwner(message: unknown): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(message);
}
