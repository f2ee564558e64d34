/** One look at a process. `run`: which of its runs, since a restart begins at zero again. */
export interface Sample {
  readonly run: number;
  /** Seconds since the start of the soak. */
  readonly at: number;
  readonly value: number;
}

/** Growth an hour, in the unit of the samples. */
export interface Slope {
  readonly per_hour: number;
  /** The 95 % interval of it. */
  readonly low: number;
  readonly high: number;
  /** Minutes that went into it, one mean each. */
  readonly points: number;
}

/** With fewer means a line says nothing. */
const MIN_POINTS = 8;
const BIN_S = 60;

/**
 * The common slope of all runs of a process, each with a level of its own. One mean a minute: samples that lie close together
 * are not independent, and would make the interval too narrow.
 * @returns null for too few minutes
 */
export function slopeOf(samples: readonly Sample[]): Slope | null {
  const runs = Map.groupBy(binned(samples), ({ run }) => run);
  let [xx, xy, yy, points, levels] = [0, 0, 0, 0, 0];
  for (const means of runs.values()) {
    if (means.length < 2) continue;
    const meanX = mean(means.map(({ at }) => at));
    const meanY = mean(means.map(({ value }) => value));
    for (const { at, value } of means) {
      const [x, y] = [(at - meanX) / 3600, value - meanY];
      xx += x * x;
      xy += x * y;
      yy += y * y;
    }
    points += means.length;
    levels++;
  }
  const free = points - levels - 1;
  if (points < MIN_POINTS || free < 1 || xx === 0) return null;
  const slope = xy / xx;
  const error = Math.sqrt(Math.max(0, yy - slope * xy) / free / xx);
  const half = studentT(free) * error;
  return { per_hour: slope, low: slope - half, high: slope + half, points };
}

function binned(samples: readonly Sample[]): readonly Sample[] {
  const bins = Map.groupBy(samples, ({ run, at }) => `${run} ${Math.floor(at / BIN_S)}`);
  return [...bins.values()].map((bin) => ({
    run: bin[0]?.run ?? 0,
    at: mean(bin.map(({ at }) => at)),
    value: mean(bin.map(({ value }) => value)),
  }));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The 97.5 % quantile of Student's distribution, by the first terms of its expansion about the normal one. */
function studentT(free: number): number {
  const z = 1.959964;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + first / free + second / free ** 2 + third / free ** 3;
}
