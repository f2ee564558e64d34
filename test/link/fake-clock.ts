import type { Clock, Timer } from '../../front/link/clock.ts';

const EPOCH = Date.UTC(2026, 0, 1);

interface Scheduled {
  at: number;
  readonly run: () => void;
  readonly period: number | null;
}

/** A clock that only moves when told to, and lets everything that waits for a promise go on in between. */
export class FakeClock implements Clock {
  #now = 1000;
  #epoch = EPOCH;
  #timers: Scheduled[] = [];

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#epoch + this.#now;
  }

  /** The wall clock is set. @param wall ms since 1970 */
  set(wall: number): void {
    this.#epoch = wall - this.#now;
  }

  after(ms: number, run: () => void): Timer {
    return this.#add({ at: this.#now + ms, run, period: null });
  }

  every(ms: number, run: () => void): Timer {
    return this.#add({ at: this.#now + ms, run, period: ms });
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Runs what falls due in the next `ms`, in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#now = Math.max(this.#now, next.at);
      if (next.period === null) this.#timers = this.#timers.filter((timer) => timer !== next);
      else next.at += next.period;
      next.run();
      await settle();
    }
    this.#now = end;
  }

  /** The process stood still for `ms`: timers come late, each once. */
  stall(ms: number): void {
    this.#now += ms;
  }

  #add(timer: Scheduled): Timer {
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((entry) => entry !== timer);
      },
    };
  }
}

/** Lets promise chains run dry. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
