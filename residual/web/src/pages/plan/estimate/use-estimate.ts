import { useEffect, useMemo } from 'preact/hooks';
import { newest } from '../../../api/telemetry.ts';
import type { Place } from '../../../map/projection.ts';
import { number } from '../../../parts/format.ts';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { planWords } from '../plan-words.ts';
import type { Sketch } from '../sketch.ts';
import { type Check, checksOf } from './checks.ts';
import { enduranceOf, useDraw } from './current.ts';
import { type Profile, profileOf, samplesOf } from './profile.ts';
import { useTerrain } from './terrain.ts';
import { type Totals, totalsOf } from './totals.ts';
import { figuresOf, UNKNOWN_FIGURES, type VehicleFigures } from './vehicle-figures.ts';

/** What the plan takes, and what speaks against it, from the vehicle's own figures. */
export interface Estimate {
  readonly totals: Totals;
  readonly figures: VehicleFigures;
  readonly photos: number;
  /** Part of the battery, 0 to 1; null: not known, for the reason in `words`. */
  readonly battery: { readonly part: number | null; readonly words: string };
  readonly checks: readonly Check[];
  readonly profile: Profile;
  readonly hasTerrain: boolean;
  /** The vehicle's own figures are still asked for. */
  readonly isAwaited: boolean;
}

export function useEstimate(
  sketch: Sketch,
  home: { readonly lat: number; readonly lon: number; readonly alt: number } | null,
): Estimate {
  const { figures, isAwaited } = useFigures();
  const { draw, isKnown } = useDraw();
  const { mission, fence } = sketch.lists.value;
  const placed = sketch.placed.value;
  const place: Place | null = home;
  const key = home === null ? '' : `${home.lat.toFixed(6)} ${home.lon.toFixed(6)}`;
  const totals = useMemo(() => totalsOf(mission, place, figures), [mission, key, figures]);
  const samples = useMemo(() => samplesOf(totals.legs).map((each) => each.place), [totals]);
  const terrain = useTerrain(home === null ? samples : [home, ...samples]);
  const profile = profileOf(totals.legs, terrain.height, place, home?.alt ?? null);
  const endurance = enduranceOf(figures.capacity, draw);
  const part = endurance === null || totals.seconds === null ? null : totals.seconds / endurance;
  const words =
    isAwaited || (figures.capacity !== null && !isKnown)
      ? t.app.loading
      : figures.capacity === null
        ? planWords.battery.noCapacity
        : draw === null
          ? planWords.battery.noDraw
          : planWords.battery.from({ amperes: number(draw.amperes, 1), flights: draw.flights });
  const looked = { mission, fence, home: place, placed, totals, figures, endurance, profile };
  return {
    totals,
    figures,
    photos: placed.reduce((sum, each) => sum + each.photos, 0),
    battery: { part, words },
    checks: checksOf(looked),
    profile,
    hasTerrain: terrain.hasSource,
    isAwaited,
  };
}

/** Asked for again when the vehicle's parameters have changed. */
function useFigures(): { readonly figures: VehicleFigures; readonly isAwaited: boolean } {
  const { data, isAwaited, reload } = useAsk('params.get');
  const generation = newest.value?.['param_generation'];
  useEffect(() => reload(), [generation]);
  const params = data?.params;
  const figures = useMemo(
    () => (params === undefined ? UNKNOWN_FIGURES : figuresOf(numbersIn(params))),
    [params],
  );
  return { figures, isAwaited };
}

function numbersIn(params: Readonly<Record<string, unknown>>): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(params)) if (typeof value === 'number') numbers[name] = value;
  return numbers;
}
