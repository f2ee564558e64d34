import type { Made } from '../../../shared/schemas/made.ts';
import type { system } from '../../../shared/schemas/node.ts';
/** The last minutes of what a machine is short of first: for a picture of them, and for a judgement that a short peak does not change. */

export const RECENT_EVERY_S = 5;
const KEPT = 120;
const MINUTE = 60 / RECENT_EVERY_S;

/** Percent, and degrees Celsius. Null: not measured then. */
export type HealthSample = NonNullable<Made<typeof system>['recent']>['samples'][number];

export class RecentHealth {
  #gathered: HealthSample[] = [];
  #kept: readonly HealthSample[] = [];

  /** Once a second. */
  add(sample: HealthSample): void {
    this.#gathered.push(sample);
    if (this.#gathered.length < RECENT_EVERY_S) return;
    this.#kept = [...this.#kept.slice(1 - KEPT), meansOf(this.#gathered)];
    this.#gathered = [];
  }

  /** Means of five seconds each, the newest last; at most ten minutes. */
  get samples(): readonly HealthSample[] {
    return this.#kept;
  }

  /** Means of the last minute; null before there was a whole one. */
  get minute(): HealthSample | null {
    return this.#kept.length < MINUTE ? null : meansOf(this.#kept.slice(-MINUTE));
  }
}

function meansOf(samples: readonly HealthSample[]): HealthSample {
  const mean = (of: keyof HealthSample): number | null => {
    const known = samples.map((each) => each[of]).filter((value) => value !== null);
    if (known.length === 0) return null;
    return Math.round((known.reduce((sum, value) => sum + value, 0) / known.length) * 10) / 10;
  };
  return {
    cpu_percent: mean('cpu_percent'),
    memory_percent: mean('memory_percent'),
    temperature: mean('temperature'),
  };
}
