/** How long a battery lasts at the drain that was seen. */

/** Before that a step of one percent says too little. */
const LEAST_MS = 45_000;
const LEAST_PERCENT = 2;

export interface Drained {
  /** ms of `performance.now()` */
  readonly at: number;
  readonly percent: number;
}

/** @param drained when each percentage was first seen, the oldest first @returns minutes; null: too little was seen */
export function minutesLeft(drained: readonly Drained[]): number | null {
  const [first, last] = [drained[0], drained.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [ms, percent] = [last.at - first.at, first.percent - last.percent];
  if (ms < LEAST_MS || percent < LEAST_PERCENT) return null;
  return ((last.percent / percent) * ms) / 60_000;
}
