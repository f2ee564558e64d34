import { setTimeout as sleep } from 'node:timers/promises';

/** The time of a change of the channel: monotonic, ms. */
export interface ChangeClock {
  now(): number;
  /** @throws the reason of the abort */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export const CHANGE_CLOCK: ChangeClock = {
  now: () => performance.now(),
  pause: async (ms, signal) => sleep(Math.max(0, ms), undefined, { signal }),
};
