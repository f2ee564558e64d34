import { setTimeout as delay } from 'node:timers/promises';
import type { VideoClock } from './picture.ts';

/**
 * Calls `each` at a steady rate until the signal aborts. After a stall, turns are skipped instead of made up for in a burst.
 * @param fps a second. @param each is told the number of its turn, from 0
 */
export async function atRate(
  clock: VideoClock,
  fps: number,
  signal: AbortSignal,
  each: (number: number) => void | Promise<void>,
): Promise<void> {
  const began = clock.micros();
  for (let number = 0; !signal.aborted; ) {
    await each(number);
    number = Math.max(number + 1, Math.ceil(((clock.micros() - began) * fps) / 1e6));
    const wait = (began + (number * 1e6) / fps - clock.micros()) / 1000;
    await delay(Math.max(0, wait), undefined, { signal }).catch(() => undefined); // aborted: the loop ends
  }
}
