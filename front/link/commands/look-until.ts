import type { Clock } from '../clock.ts';

/**
 * Waits for what the vehicle shows by its messages.
 * @param until on the clock, ms
 * @param everyMs between two looks
 * @returns whether it shows it when the waiting ends: by itself, by time, or by `signal`
 */
export async function lookUntil(
  clock: Clock,
  shows: () => boolean,
  {
    until,
    everyMs,
    signal,
  }: { readonly until: number; readonly everyMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  while (!shows() && clock.now() < until && !signal.aborted)
    await new Promise<void>((resolve) => {
      clock.after(everyMs, resolve);
    });
  return shows();
}
