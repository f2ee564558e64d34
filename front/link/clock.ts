import { contained, every } from '../../shared/async/every.ts';

/** A pending call of a Clock; `cancel` may be called at any time, also after it ran. */
export interface Timer {
  cancel(): void;
}

/** Time of the link process. main.ts passes it in, so that tests can use a fake clock. */
export interface Clock {
  /** Monotonic ms; an NTP step does not change it. */
  now(): number;
  /** Wall clock, ms since 1970; for display only. */
  wall(): number;
  after(ms: number, run: () => void): Timer;
  every(ms: number, run: () => void): Timer;
}

export function systemClock(): Clock {
  return {
    now: () => performance.now(),
    wall: () => Date.now(),
    after(ms, run) {
      const handle = setTimeout(contained('svc-link timer', run), ms);
      return { cancel: () => clearTimeout(handle) };
    },
    every(ms, run) {
      const handle = every(ms, 'svc-link timer', run);
      return { cancel: () => clearInterval(handle) };
    },
  };
}
