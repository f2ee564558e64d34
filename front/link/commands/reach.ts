import { ApiError } from '../../../shared/errors.ts';
import { metresBetween, type Place } from '../../../shared/flight/seen.ts';
import { CMD } from '../../../shared/mission/commands.ts';
import type { MissionItem } from '../../../shared/schemas/mission-item.ts';

/**
 * How far a command may send the vehicle (docs/contract.md 6): `flight.max_goto_m` from where it is, and its own fence as far as that is
 * known here. The vehicle's fence holds besides: ArduPilot and PX4 refuse, or turn back from, what is outside of it.
 */

/** A place that a command sends the vehicle to. */
export interface Goal extends Place {
  /** m above home. */
  readonly alt: number;
  /** m around the place that it flies in too. */
  readonly around?: number;
}

/** What is known of the vehicle. */
export interface Known {
  /** `flight.max_goto_m`; 0: any distance. */
  readonly maxM: number;
  /** Where it is, if it has said so of late. */
  readonly here: Place | null;
  readonly home: Place | null;
  readonly px4: boolean;
  /** A parameter of the vehicle; null: it has none of this name, or it is not known yet. */
  readonly param: (name: string) => number | null;
  /** The items of its fence, where they have been read; null: not known. */
  readonly fence: readonly MissionItem[] | null;
}

/** FENCE_TYPE of ArduPilot (https://ardupilot.org/copter/docs/parameters.html#fence-type). */
const TYPE = { altMax: 1, circle: 2, areas: 4, altMin: 8 } as const;
/** FENCE_OPTIONS: inside one of the inclusions is enough. */
const UNION = 2;
/** Metres of a degree of latitude. */
const DEGREE_M = 111_195;

/** Whether the vehicle heeds a fence of polygons and circles, so that it is worth to know them. */
export function hasAreas({ px4, param }: Pick<Known, 'px4' | 'param'>): boolean {
  if (px4) return (param('GF_ACTION') ?? 0) !== 0;
  return ((arduPilotTypes(param) ?? 0) & TYPE.areas) !== 0 && param('FENCE_TOTAL') !== 0;
}

/** @throws ApiError E_TOO_FAR with `distance_m` from the vehicle (null: not known), `bound` and its `limit_m` */
export function checkReach(cmd: string, goal: Goal, known: Known): void {
  const { maxM, here, home } = known;
  const { around = 0 } = goal;
  const distance = here === null ? null : metresBetween(here, goal) + around;
  const fail = (bound: string, limit: number | null, sentence: string): never => {
    throw new ApiError('E_TOO_FAR', `${cmd}: ${sentence} Repeat with allow_far: true if that is meant.`, {
      distance_m: distance === null ? null : Math.round(distance * 10) / 10,
      bound,
      limit_m: limit,
      override: { body: { allow_far: true } },
    });
  };
  if (maxM > 0 && distance === null)
    fail('max_goto_m', maxM, "the vehicle's position is not known, so nor is how far away the place is.");
  if (maxM > 0 && distance !== null && distance > maxM)
    fail(
      'max_goto_m',
      maxM,
      `the place is ${metres(distance)} from the vehicle; flight.max_goto_m allows ${metres(maxM)}.`,
    );
  const away = distance === null ? '' : `, ${metres(distance)} from the vehicle`;
  const { radius, top, bottom } = limits(known);
  if (radius !== null && home !== null) {
    const far = metresBetween(home, goal) + around;
    if (far > radius.value)
      fail(
        'fence_radius',
        radius.value,
        `the place is ${metres(far)} from home${away}; the vehicle's fence (${radius.name}) ends at ${metres(radius.value)}.`,
      );
  }
  if (top !== null && goal.alt > top.value)
    fail(
      'fence_height',
      top.value,
      `${metres(goal.alt)} above home is higher than the vehicle's fence (${top.name}, ${metres(top.value)}).`,
    );
  if (bottom !== null && goal.alt < bottom.value)
    fail(
      'fence_height',
      bottom.value,
      `${goal.alt} m above home is lower than the vehicle's fence (${bottom.name}, ${bottom.value} m).`,
    );
  if (hasAreas(known) && known.fence !== null && !allows(known.fence, goal, known))
    fail('fence_area', null, `the place is outside of the vehicle's fence${away}.`);
}

interface Limit {
  readonly name: string;
  readonly value: number;
}

interface Limits {
  readonly radius: Limit | null;
  readonly top: Limit | null;
  readonly bottom: Limit | null;
}

/** The limits that are parameters. */
function limits({ px4, param }: Known): Limits {
  const limit = (name: string): Limit | null => {
    const value = param(name);
    return value === null ? null : { name, value };
  };
  if (px4) {
    // 0 is off, and without an action it is not heeded (https://docs.px4.io/main/en/flying/geofence.html).
    const on = (name: string): Limit | null => {
      const found = (param('GF_ACTION') ?? 0) === 0 ? null : limit(name);
      return found === null || found.value <= 0 ? null : found;
    };
    return { radius: on('GF_MAX_HOR_DIST'), top: on('GF_MAX_VER_DIST'), bottom: null };
  }
  const types = arduPilotTypes(param) ?? 0;
  return {
    radius: (types & TYPE.circle) === 0 ? null : limit('FENCE_RADIUS'),
    top: (types & TYPE.altMax) === 0 ? null : limit('FENCE_ALT_MAX'),
    bottom: (types & TYPE.altMin) === 0 ? null : limit('FENCE_ALT_MIN'),
  };
}

/** The fences that are on, or come on by themselves in the air (FENCE_AUTOENABLE); null: none. */
function arduPilotTypes(param: Known['param']): number | null {
  const on = (param('FENCE_ENABLE') ?? 0) !== 0 || (param('FENCE_AUTOENABLE') ?? 0) !== 0;
  return on ? param('FENCE_TYPE') : null;
}

/**
 * Whether polygons and circles have the place inside: of all inclusions (ArduPilot, unless FENCE_OPTIONS says one is enough) or of one
 * (PX4), and of no exclusion.
 */
function allows(items: readonly MissionItem[], goal: Goal, { px4, param }: Known): boolean {
  const inclusions: boolean[] = [];
  for (let index = 0; index < items.length; ) {
    const item = items[index];
    if (item === undefined) break;
    const isPolygon = item.command === CMD.polygonInclusion || item.command === CMD.polygonExclusion;
    const isCircle = item.command === CMD.circleInclusion || item.command === CMD.circleExclusion;
    const length = isPolygon ? Math.max(1, item.param1 ?? 1) : 1;
    if (isPolygon || isCircle) {
      const inside = isPolygon
        ? isInside(goal, items.slice(index, index + length))
        : metresBetween(goal, { lat: item.x, lon: item.y }) <= (item.param1 ?? 0);
      const included = item.command === CMD.polygonInclusion || item.command === CMD.circleInclusion;
      if (included) inclusions.push(inside);
      else if (inside) return false;
    }
    index += length;
  }
  const union = px4 || ((param('FENCE_OPTIONS') ?? 0) & UNION) !== 0;
  return inclusions.length === 0 || (union ? inclusions.some(Boolean) : inclusions.every(Boolean));
}

/** How often a line to the east crosses the border. Flat, in metres around the place, so that 180 degrees are no border. */
function isInside(goal: Place, corners: readonly MissionItem[]): boolean {
  const flat = corners.map(({ x, y }) => ({
    n: (x - goal.lat) * DEGREE_M,
    e: turn(y - goal.lon) * DEGREE_M * Math.cos((goal.lat * Math.PI) / 180),
  }));
  let inside = false;
  let before = flat.at(-1);
  for (const corner of flat) {
    if (before !== undefined && corner.n > 0 !== before.n > 0) {
      const crossing = corner.e - (corner.n * (before.e - corner.e)) / (before.n - corner.n);
      if (crossing > 0) inside = !inside;
    }
    before = corner;
  }
  return inside;
}

/** Degrees, -180 to 180. */
function turn(degrees: number): number {
  return ((((degrees + 180) % 360) + 360) % 360) - 180;
}

/** For people; rounded up, so that what is a little too far does not read as the bound itself. */
function metres(value: number): string {
  return value < 10_000 ? `${Math.ceil(value)} m` : `${Math.ceil(value / 1000)} km`;
}
