/** What a plot shows of a field: times and values, ascending. */
export interface Points {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/**
 * The values between two times and one beyond each end; of what would fall on one another in the plot the lowest and the highest.
 * @param buckets how many parts the plot can tell apart
 */
export function thinned(
  times: Float64Array,
  values: Float64Array,
  from: number,
  to: number,
  buckets: number,
): Points {
  const first = Math.max(0, firstFrom(times, from) - 1);
  const last = Math.min(times.length, firstFrom(times, to) + 1);
  const rows =
    last - first <= buckets * 2
      ? finiteRows(values, first, last)
      : extremes(times, values, { first, last, from, to, buckets });
  return {
    times: Float64Array.from(rows, (row) => times[row] ?? 0),
    values: Float64Array.from(rows, (row) => values[row] ?? 0),
  };
}

/** The first row at or behind a time; as many as there are: none. */
export function firstFrom(times: Float64Array, at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function finiteRows(values: Float64Array, first: number, last: number): number[] {
  const rows: number[] = [];
  for (let row = first; row < last; row++) if (Number.isFinite(values[row])) rows.push(row);
  return rows;
}

/** Lowest and highest of each bucket, in the order of their times. */
function extremes(
  times: Float64Array,
  values: Float64Array,
  {
    first,
    last,
    from,
    to,
    buckets,
  }: { first: number; last: number; from: number; to: number; buckets: number },
): number[] {
  const rows: number[] = [];
  const width = (to - from) / buckets || 1;
  let [bucket, low, high] = [Number.NaN, -1, -1];
  const flush = (): void => {
    if (low === -1) return;
    rows.push(Math.min(low, high));
    if (low !== high) rows.push(Math.max(low, high));
  };
  for (let row = first; row < last; row++) {
    const value = values[row] ?? Number.NaN;
    if (!Number.isFinite(value)) continue;
    const own = Math.floor(((times[row] ?? 0) - from) / width);
    if (own !== bucket) {
      flush();
      [bucket, low, high] = [own, row, row];
    } else if (value < (values[low] ?? 0)) low = row;
    else if (value > (values[high] ?? 0)) high = row;
  }
  flush();
  return rows;
}
