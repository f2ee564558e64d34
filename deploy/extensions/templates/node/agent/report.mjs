// @ts-check

/**
 * @param {readonly { at: number, remaining: number }[]} samples seconds and percent, in the order of time
 * @returns {{ remaining: number | null, minutes_left: number | null }} null: not known
 */
export function report(samples) {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return { remaining: null, minutes_left: null };
  const used = first.remaining - last.remaining;
  const seconds = last.at - first.at;
  const minutes = used > 0 && seconds > 0 ? (last.remaining / used) * (seconds / 60) : null;
  return { remaining: last.remaining, minutes_left: minutes === null ? null : Math.round(minutes * 10) / 10 };
}
