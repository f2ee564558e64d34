import type { Clock } from '../clock.ts';

/** What a command can do without: its value, or null if it fails or is not there after `ms`. The work itself goes on. */
export async function inTime<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => resolve(null));
    const end = (value: T | null): void => {
      timer.cancel();
      resolve(value);
    };
    work.then(end, () => end(null));
  });
}
