import { FenceLines } from '../../../../../../shared/mission/fence-lines.ts';
import type { Placed } from '../../../../../../shared/mission/patterns/placed.ts';
import { distance, type Place } from '../../../map/projection.ts';
import { type Items, isEnd, isSomewhere } from '../list.ts';
import type { Profile } from './profile.ts';
import type { Leg, Totals } from './totals.ts';
import type { VehicleFigures } from './vehicle-figures.ts';

/** What is worth a look before the flight. The words are made where it is shown. */

export type Check =
  | { readonly kind: 'noTakeoff' | 'noEnd' | 'noTerrain'; readonly at: number }
  /** The way to this item, or the item itself. */
  | { readonly kind: 'fence'; readonly at: number; readonly count: number }
  | {
      readonly kind: 'height' | 'far' | 'fenceFar';
      readonly at: number;
      readonly metres: number;
      readonly most: number;
    }
  | { readonly kind: 'low'; readonly at: number; readonly metres: number }
  | { readonly kind: 'terrain'; readonly at: number; readonly metres: number }
  | { readonly kind: 'battery'; readonly at: number; readonly minutes: number; readonly most: number }
  | { readonly kind: 'shutter'; readonly at: number; readonly seconds: number; readonly least: number };

interface Looked {
  readonly mission: Items;
  readonly fence: Items;
  readonly home: Place | null;
  readonly placed: readonly Placed[];
  readonly totals: Totals;
  readonly figures: VehicleFigures;
  /** s that the battery lasts; null: not known. */
  readonly endurance: number | null;
  readonly profile: Profile | null;
}

const TAKEOFFS: readonly number[] = [22, 84];
const LOW_M = 2;
const CLEARANCE_M = 5;
/** A first place so far from home is seldom meant. */
const FAR_M = 1000;
/** What is kept of the battery. */
const RESERVE = 0.2;

export function checksOf(looked: Looked): readonly Check[] {
  const { mission } = looked;
  if (mission.length === 0) return [];
  return [
    ...ends(mission),
    ...fences(looked),
    ...heights(looked),
    ...distances(looked),
    ...battery(looked),
    ...shutters(looked),
    ...terrain(looked),
  ];
}

function ends(mission: Items): readonly Check[] {
  const first = mission.findIndex((item) => isSomewhere(item) || TAKEOFFS.includes(item.command));
  const last = mission.at(-1);
  const starts = first < 0 || TAKEOFFS.includes(mission[first]?.command ?? 0);
  return [
    ...(starts ? [] : [{ kind: 'noTakeoff', at: first } as const]),
    ...(last === undefined || isEnd(last) ? [] : [{ kind: 'noEnd', at: mission.length - 1 } as const]),
  ];
}

function fences({ fence, home, totals: { legs } }: Looked): readonly Check[] {
  const [first] = legs;
  if (first === undefined || fence.length === 0) return [];
  const lines = new FenceLines(fence, home ?? first.to);
  const broken = legs.filter(({ from, to }) => lines.isBroken(from, to));
  const [at] = broken;
  return at === undefined ? [] : [{ kind: 'fence', at: at.at, count: broken.length }];
}

function heights({ totals: { legs }, figures: { fenceHeight } }: Looked): readonly Check[] {
  const above = legs.filter(({ isSea, isTerrain }) => !isSea && !isTerrain);
  const high = most(above, ({ height }) => height);
  const low = most(above, ({ height }) => -height);
  return [
    ...(high !== null && fenceHeight !== null && high.height > fenceHeight
      ? [{ kind: 'height', at: high.at, metres: high.height, most: fenceHeight } as const]
      : []),
    ...(low !== null && low.height < LOW_M ? [{ kind: 'low', at: low.at, metres: low.height } as const] : []),
  ];
}

function distances({ home, totals: { legs }, figures: { fenceRadius } }: Looked): readonly Check[] {
  if (home === null) return [];
  const away = ({ to }: Leg): number => distance(home, to);
  const [first] = legs;
  const far = most(legs, away);
  return [
    ...(first !== undefined && away(first) > FAR_M
      ? [{ kind: 'far', at: first.at, metres: away(first), most: FAR_M } as const]
      : []),
    ...(far !== null && fenceRadius !== null && away(far) > fenceRadius
      ? [{ kind: 'fenceFar', at: far.at, metres: away(far), most: fenceRadius } as const]
      : []),
  ];
}

/** The first place from which it would come home with less than the reserve. */
function battery({ home, totals: { legs }, endurance }: Looked): readonly Check[] {
  if (endurance === null) return [];
  const usable = endurance * (1 - RESERVE);
  for (const { at, to, seconds, speed } of legs) {
    if (seconds === null || speed === null) continue;
    const back = home === null ? 0 : distance(home, to) / speed;
    if (seconds + back > usable)
      return [{ kind: 'battery', at, minutes: (seconds + back) / 60, most: usable / 60 }];
  }
  return [];
}

function shutters({ placed, totals: { legs } }: Looked): readonly Check[] {
  return placed.flatMap(({ from, settings, items }) => {
    if (settings.kind === 'orbit' || settings.camera === null) return [];
    if (settings.kind !== 'structure' && settings.hover) return [];
    const step = settings.kind === 'structure' ? settings.sideStep : settings.frontStep;
    const least = settings.camera.minInterval;
    const speed = legs.find(({ at }) => at > from && at < from + items.length)?.speed ?? null;
    if (speed === null || step <= 0 || least <= 0 || step / speed >= least) return [];
    return [{ kind: 'shutter', at: from, seconds: step / speed, least } as const];
  });
}

function terrain({ profile, totals: { legs }, figures: { knowsTerrain } }: Looked): readonly Check[] {
  const lowest = profile?.lowest ?? null;
  const above = legs.find(({ isTerrain }) => isTerrain);
  return [
    ...(lowest !== null && lowest.clearance < CLEARANCE_M
      ? [{ kind: 'terrain', at: lowest.at, metres: lowest.clearance } as const]
      : []),
    ...(above !== undefined && knowsTerrain === false ? [{ kind: 'noTerrain', at: above.at } as const] : []),
  ];
}

function most(legs: readonly Leg[], figure: (leg: Leg) => number): Leg | null {
  let found: Leg | null = null;
  for (const leg of legs) if (found === null || figure(leg) > figure(found)) found = leg;
  return found;
}
