import { ApiError } from '../errors.ts';
import { metresBetween, type Place } from '../flight/seen.ts';
import type { MissionItem } from '../schemas/mission-item.ts';
import { isInDegrees } from './commands.ts';
import { FenceLines } from './fence-lines.ts';

/**
 * How far a command or a mission may send the vehicle (docs/contract/flight.md): `flight.max_goto_m` from where it is, its own fence as far
 * as that is known here, and not below the ground. The vehicle's fence holds besides: ArduPilot and PX4 refuse, or turn back from,
 * what is outside of it.
 */

/** A place that a command sends the vehicle to. */
export interface Goal extends Place {
  /** m above home; null: not known, or above the terrain. */
  readonly alt: number | null;
  /** m around the place that it flies in too. */
  readonly around?: number;
}

/** What is known of the vehicle. */
export interface ReachFacts {
  /** `flight.max_goto_m`; 0: any distance. */
  readonly maxM: number;
  /** Where it is, if it has said so of late. */
  readonly here: Place | null;
  /** `alt`: m above the sea; null: not said. */
  readonly home: (Place & { readonly alt?: number | null }) | null;
  /** False: a vehicle on the ground or below water, whose heights are others. */
  readonly flies?: boolean;
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

/** Whether the vehicle heeds a fence of polygons and circles, so that it is worth to know them. */
export function hasAreas({ px4, param }: Pick<ReachFacts, 'px4' | 'param'>): boolean {
  if (px4) return (param('GF_ACTION') ?? 0) !== 0;
  return ((arduPilotTypes(param) ?? 0) & TYPE.areas) !== 0 && param('FENCE_TOTAL') !== 0;
}

/** Why a place is out of reach. */
interface Fault {
  readonly bound: 'max_goto_m' | 'fence_radius' | 'fence_height' | 'fence_area' | 'ground';
  readonly limit: number | null;
  /** m from the vehicle; null: not known. */
  readonly distance: number | null;
  readonly sentence: string;
}

/** @throws ApiError E_TOO_FAR with `distance_m` from the vehicle (null: not known), `bound` and its `limit_m` */
export function checkReach(cmd: string, goal: Goal, known: ReachFacts): void {
  const [fault] = faultsOf(goal, known, known.here);
  if (fault !== undefined) throw refusal(cmd, fault, {});
}

function refusal(
  what: string,
  { bound, limit, distance, sentence }: Fault,
  extras: Readonly<Record<string, unknown>>,
): ApiError {
  // Not of one place: with allow_far the vehicle would refuse that itself, and say nothing.
  const isOwn = bound !== 'max_goto_m' && Object.keys(extras).length === 0;
  const way = isOwn
    ? 'The vehicle goes nowhere outside of its fence, with allow_far neither: choose a place inside, or change the fence.'
    : 'Repeat with allow_far: true if that is meant.';
  return new ApiError('E_TOO_FAR', `${what}: ${sentence} ${way}`, {
    distance_m: distance === null ? null : Math.round(distance * 10) / 10,
    bound,
    limit_m: limit,
    ...(isOwn ? {} : { override: { body: { allow_far: true } } }),
    ...extras,
  });
}

/** @param from where the distance is counted from; null: not known */
function faultsOf(goal: Goal, known: ReachFacts, from: Place | null): readonly Fault[] {
  const { maxM, home } = known;
  const { around = 0, alt } = goal;
  const distance = from === null ? null : metresBetween(from, goal) + around;
  const faults: Fault[] = [];
  const fail = (bound: Fault['bound'], limit: number | null, sentence: string): void => {
    faults.push({ bound, limit, distance, sentence });
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
  if (top !== null && alt !== null && alt > top.value)
    fail(
      'fence_height',
      top.value,
      `${metres(alt)} above home is higher than the vehicle's fence (${top.name}, ${metres(top.value)}).`,
    );
  if (bottom !== null && alt !== null && alt < bottom.value)
    fail(
      'fence_height',
      bottom.value,
      `${alt} m above home is lower than the vehicle's fence (${bottom.name}, ${bottom.value} m).`,
    );
  if (linesOf(known, goal)?.isBroken(null, goal) === true)
    fail('fence_area', null, `the place is outside of the vehicle's fence${away}.`);
  return faults;
}

/** Polygons and circles, of which PX4 and FENCE_OPTIONS want one to be around the vehicle, ArduPilot otherwise all. Null: none known. */
function linesOf(known: ReachFacts, origin: Place): FenceLines | null {
  const { px4, param, fence } = known;
  if (fence === null || !hasAreas(known)) return null;
  return new FenceLines(fence, origin, px4 || ((param('FENCE_OPTIONS') ?? 0) & UNION) !== 0);
}

/** MAV_FRAMEs with heights above the sea, above home, above the terrain. */
const SEA: ReadonlySet<number> = new Set([0, 5]);
const HOME: ReadonlySet<number> = new Set([3, 6]);
/** It looks there, and goes nowhere: ROI commands. */
const LOOKS: ReadonlySet<number> = new Set([80, 195, 201]);
/** MAV_CMD_NAV_LAST: commands up to it are flown to one after the other. */
const NAV_LAST = 95;

interface Stop {
  readonly item: MissionItem;
  readonly goal: Goal;
  /** Where it comes from; null: not known, or not flown to. */
  readonly before: Place | null;
}

function stopsOf(items: readonly MissionItem[], known: ReachFacts): readonly Stop[] {
  const seaOfHome = known.home?.alt ?? null;
  const here = known.here ?? known.home;
  let before = here;
  return items.flatMap((item): readonly Stop[] => {
    const { frame, command, x, y, z } = item;
    if (!isInDegrees(frame, command) || LOOKS.has(command)) return [];
    const place = x === 0 && y === 0 ? here : { lat: x, lon: y }; // 0, 0 is "here", as ArduPilot reads it
    if (place === null) return [];
    const alt = HOME.has(frame) ? z : SEA.has(frame) && seaOfHome !== null ? z - seaOfHome : null;
    const isFlown = command <= NAV_LAST;
    const stop = { item, goal: { ...place, alt }, before: isFlown ? before : null };
    if (isFlown) before = place;
    return [stop];
  });
}

/** A little below home is no fault of a list: places of landing lie so. */
const BELOW_M = 2;

function faultsOfStop({ item, goal, before }: Stop, known: ReachFacts): readonly Fault[] {
  const from = known.here ?? known.home;
  const faults = [...faultsOf(goal, known, from)];
  const lines = linesOf(known, goal);
  // Whoever begins outside has to cross it.
  const crosses =
    before !== null && lines?.isBroken(before, before) === false && lines.isBroken(before, goal);
  if (crosses && !faults.some(({ bound }) => bound === 'fence_area'))
    faults.push({
      bound: 'fence_area',
      limit: null,
      distance: from === null ? null : metresBetween(from, goal),
      sentence: "the way there leaves the vehicle's fence.",
    });
  const isTerrain = !SEA.has(item.frame) && !HOME.has(item.frame);
  const height = isTerrain ? item.z : goal.alt;
  if (known.flies !== false && height !== null && height < -BELOW_M)
    faults.push({
      bound: 'ground',
      limit: 0,
      distance: from === null ? null : metresBetween(from, goal),
      sentence: `${Math.round(height)} m above ${isTerrain ? 'the terrain' : 'home'} is below the ground.`,
    });
  return faults;
}

/**
 * What `goto` refuses, for every place of a mission or of its rally points; a vehicle whose place is not known is taken to be at home.
 * @param what the command or the part, for the sentence
 * @param mayBeNowhere a vehicle without a position is not judged by distance: an upload comes before it has one, and the start judges
 * @throws ApiError E_TOO_FAR, as `checkReach`, with the `index` of the first such item
 */
export function checkReachOf(
  what: string,
  items: readonly MissionItem[],
  known: ReachFacts,
  mayBeNowhere = false,
): void {
  for (const stop of stopsOf(items, known)) {
    const fault = faultsOfStop(stop, known).find((each) => !(mayBeNowhere && isNowhere(each)));
    if (fault === undefined) continue;
    const { seq } = stop.item;
    throw refusal(`${what}, item ${seq}`, fault, { index: items.indexOf(stop.item) });
  }
}

/** A bound that a place of a list breaks. */
interface BrokenBound {
  readonly seq: number;
  readonly bound: Fault['bound'];
  readonly sentence: string;
}

/** All that `checkReachOf` would refuse. */
export function brokenIn(items: readonly MissionItem[], known: ReachFacts): readonly BrokenBound[] {
  return stopsOf(items, known).flatMap((stop) =>
    faultsOfStop(stop, known).map(({ bound, sentence }) => ({ seq: stop.item.seq, bound, sentence })),
  );
}

/** Whether none of these places is refused by `checkReachOf`. */
export function reaches(items: readonly MissionItem[], known: ReachFacts, mayBeNowhere: boolean): boolean {
  return stopsOf(items, known).every((stop) =>
    faultsOfStop(stop, known).every((fault) => mayBeNowhere && isNowhere(fault)),
  );
}

/** An upload comes before the vehicle has a position. */
function isNowhere({ bound, distance }: Fault): boolean {
  return bound === 'max_goto_m' && distance === null;
}

/**
 * How far a list goes, for the person who allows it: the farthest place from the vehicle, the lowest height, and what the fence says.
 * Empty where it goes nowhere.
 * @param noun what `seq` counts
 */
export function reachText(items: readonly MissionItem[], known: ReachFacts, noun = 'item'): string {
  const stops = stopsOf(items, known);
  if (stops.length === 0) return '';
  const from = known.here ?? known.home;
  let far: { readonly seq: number; readonly metres: number } | null = null;
  let low: { readonly seq: number; readonly metres: number } | null = null;
  for (const { item, goal } of stops) {
    const distance = from === null ? 0 : metresBetween(from, goal);
    if (far === null || distance > far.metres) far = { seq: item.seq, metres: distance };
    if (goal.alt !== null && (low === null || goal.alt < low.metres))
      low = { seq: item.seq, metres: goal.alt };
  }
  const broken = stops.flatMap((stop) => {
    const fault = faultsOfStop(stop, known).find(({ bound }) => bound.startsWith('fence'));
    return fault === undefined ? [] : [`${noun} ${stop.item.seq}: ${fault.sentence}`];
  });
  const unknown = hasAreas(known) && known.fence === null;
  return [
    from === null
      ? "How far away it goes is not known: the vehicle's position is not."
      : `Farthest from ${known.here === null ? 'home' : 'the vehicle'}: ${metres(far?.metres ?? 0)} (${noun} ${far?.seq ?? 0}).`,
    low === null
      ? 'Its heights above home are not known.'
      : `Lowest: ${Math.round(low.metres * 10) / 10} m above home (${noun} ${low.seq})${low.metres < -BELOW_M ? ', below the ground' : ''}.`,
    broken.length > 0
      ? `Outside of the vehicle's fence: ${broken.join(' ')}`
      : unknown
        ? "What the vehicle's fence says is not known."
        : isFenced(known)
          ? "Inside of the vehicle's fence."
          : 'The vehicle has no fence that is on.',
  ].join(' ');
}

function isFenced(known: ReachFacts): boolean {
  const { radius, top, bottom } = limits(known);
  return radius !== null || top !== null || bottom !== null || hasAreas(known);
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
function limits({ px4, param }: ReachFacts): Limits {
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
function arduPilotTypes(param: ReachFacts['param']): number | null {
  const on = (param('FENCE_ENABLE') ?? 0) !== 0 || (param('FENCE_AUTOENABLE') ?? 0) !== 0;
  return on ? param('FENCE_TYPE') : null;
}

/** For people; rounded up, so that what is a little too far does not read as the bound itself. */
function metres(value: number): string {
  return value < 10_000 ? `${Math.ceil(value)} m` : `${Math.ceil(value / 1000)} km`;
}
