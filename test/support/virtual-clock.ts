import type { ChangeClock } from '../../front/control/radio/channel-change/change-clock.ts';

interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

/** Time that passes only while nothing else is to be done: a minute takes as long as what happens in it. */
export class VirtualClock implements ChangeClock {
  #now = 1_000_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const timer = { at: this.#now + Math.max(0, ms), ring: () => finish(resolve) };
      const aborted = (): void => finish(() => reject(signal?.reason));
      const finish = (settle: () => void): void => {
        this.#timers.delete(timer);
        signal?.removeEventListener('abort', aborted);
        settle();
      };
      this.#timers.add(timer);
      signal?.addEventListener('abort', aborted);
    });
  }

  /** Lets time pass until the condition holds. @returns false if it does not within so many ms */
  async until(condition: () => boolean, ms: number): Promise<boolean> {
    const end = this.#now + ms;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve)); // whoever can go on does
      if (condition()) return true;
      const next = [...this.#timers].reduce<Timer | null>(
        (first, each) => (first === null || each.at < first.at ? each : first),
        null,
      );
      if (next === null || next.at > end) {
        this.#now = end;
        return false;
      }
      this.#now = next.at;
      next.ring();
    }
  }
}
