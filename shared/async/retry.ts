import { Backoff } from './backoff.ts';

interface RetryOptions {
  /** The first pause, and the longest; each is twice the one before. */
  readonly firstMs: number;
  readonly capMs: number;
  /** Calls a function later; returns what cancels that. `setTimeout` unless the caller has a clock of its own. */
  readonly after?: (ms: number, run: () => void) => { cancel(): void };
}

function afterTimeout(ms: number, run: () => void): { cancel(): void } {
  const timer = setTimeout(run, ms);
  return { cancel: () => clearTimeout(timer) };
}

/** Runs an attempt, and again after a pause whenever it is told to, until it is stopped: a connection that has to come back. */
export class Retry {
  readonly #attempt: () => void;
  readonly #backoff: Backoff;
  readonly #after: NonNullable<RetryOptions['after']>;
  #pending: { cancel(): void } | null = null;
  #running = false;

  constructor(attempt: () => void, { firstMs, capMs, after }: RetryOptions) {
    this.#attempt = attempt;
    this.#backoff = new Backoff(firstMs, capMs);
    this.#after = after ?? afterTimeout;
  }

  /** Makes the first attempt at once. */
  start(): void {
    this.#running = true;
    this.#attempt();
  }

  stop(): void {
    this.#running = false;
    this.#pending?.cancel();
  }

  /** The attempt failed, or what it opened has ended. Does nothing before `start` and after `stop`. */
  again(): void {
    if (!this.#running) return;
    this.#pending = this.#after(this.#backoff.next(), () => {
      this.#pending = null;
      this.#attempt();
    });
  }

  /** At once instead of after the pause; the next pause is the first again. Does nothing while no pause is running. */
  now(): void {
    if (!this.#running || this.#pending === null) return;
    this.#pending.cancel();
    this.#pending = null;
    this.#backoff.reset();
    this.#attempt();
  }

  /** It works: the next pause is the first again. */
  worked(): void {
    this.#backoff.reset();
  }
}
