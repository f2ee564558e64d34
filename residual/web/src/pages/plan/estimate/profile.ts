import { distance, type Place } from '../../../map/projection.ts';
import type { Leg } from './totals.ts';

/** The flight seen from the side: its height over the ground, along its way. */

interface ProfilePoint {
  /** m along the way. */
  readonly along: number;
  /** The item that is flown to. */
  readonly at: number;
  readonly place: Place;
  /** m above the sea; null: not known. */
  readonly ground: number | null;
  readonly flown: number | null;
}

export interface Profile {
  readonly points: readonly ProfilePoint[];
  readonly lowest: { readonly at: number; readonly along: number; readonly clearance: number } | null;
  /** Whether the ground is known anywhere. */
  readonly isKnown: boolean;
}

/** As many as a chart can show. */
const MAX_POINTS = 400;
/** Height of landings and take-offs is no clearance. */
const APART_M = 1;

/** Where the ground is asked for: on each leg, not further apart than the way allows. */
export function samplesOf(legs: readonly Leg[]): readonly Omit<ProfilePoint, 'ground' | 'flown'>[] {
  const total = legs.at(-1)?.done ?? 0;
  const step = Math.max(10, total / (MAX_POINTS - 2 * Math.min(legs.length, MAX_POINTS / 4)));
  const samples: Omit<ProfilePoint, 'ground' | 'flown'>[] = [];
  for (const { at, from, to, done } of legs) {
    const length = from === null ? 0 : distance(from, to);
    const count = Math.max(1, Math.round(length / step));
    const start = from ?? to;
    for (let n = from === null || samples.length === 0 ? 0 : 1; n <= count; n++) {
      const part = n / count;
      const place = {
        lat: start.lat + (to.lat - start.lat) * part,
        lon: start.lon + (to.lon - start.lon) * part,
      };
      samples.push({ along: done - length * (1 - part), at, place });
      if (from === null) break;
    }
  }
  return samples;
}

/**
 * @param ground m above the sea of a place; null: not known
 * @param homeSea m above the sea of home; null: not known, and then the ground at home stands for it
 */
export function profileOf(
  legs: readonly Leg[],
  ground: (place: Place) => number | null,
  home: Place | null,
  homeSea: number | null,
): Profile {
  // Of the same source as the ground, so that an offset between both does not look like a clearance.
  const zero = (home === null ? null : ground(home)) ?? homeSea;
  const byItem = new Map(legs.map((leg, index) => [leg.at, index]));
  const points = samplesOf(legs).map(({ along, at, place }) => {
    const under = ground(place);
    const index = byItem.get(at) ?? 0;
    const [leg, before] = [legs[index], legs[index - 1]];
    const end = leg === undefined ? null : seaHeight(leg, leg.to, ground, zero);
    const length = leg === undefined || leg.from === null ? 0 : distance(leg.from, leg.to);
    const first = zero === null ? null : zero + (leg?.risen ?? 0);
    const start = before === undefined ? first : seaHeight(before, before.to, ground, zero);
    const part = leg === undefined || length === 0 ? 1 : 1 - (leg.done - along) / length;
    // The vehicle follows the ground in between, too, where its height is above the terrain.
    const flown =
      leg?.isTerrain === true && (before === undefined || before.isTerrain)
        ? under === null
          ? null
          : under + leg.height
        : start === null || end === null
          ? null
          : start + (end - start) * part;
    return { along, at, place, ground: under, flown };
  });
  let lowest: Profile['lowest'] = null;
  // Without a take-off the first leg climbs from the ground.
  const first = (legs[0]?.risen ?? 0) > 0 ? 0 : (legs[0]?.done ?? 0);
  const last = legs.at(-1)?.done ?? 0;
  for (const { along, at, ground: under, flown } of points) {
    if (under === null || flown === null || along < first + APART_M || along > last - APART_M) continue;
    const clearance = flown - under;
    if (lowest === null || clearance < lowest.clearance) lowest = { at, along, clearance };
  }
  return { points, lowest, isKnown: points.some((point) => point.ground !== null) };
}

function seaHeight(
  { height, isSea, isTerrain }: Leg,
  place: Place,
  ground: (place: Place) => number | null,
  zero: number | null,
): number | null {
  if (isSea) return height;
  const base = isTerrain ? ground(place) : zero;
  return base === null ? null : base + height;
}
