import { ApiError } from '../errors.ts';
import { metresBetween, type Place } from '../flight/seen.ts';
import { isOneOf, isRecord, type JsonObject, keysOf } from '../member.ts';
import type { MissionItem } from '../schemas/mission-item.ts';
import { CMD } from './commands.ts';
import { expand } from './patterns/expand.ts';
import { problemText } from './patterns/from-figures.ts';
import { bestAngle } from './patterns/new-pattern.ts';
import { type LatLon, Plane } from './patterns/plane.ts';
import type { PatternSettings } from './patterns/settings.ts';

/**
 * A flight that is approved once: steps as a person would say them, made into commands of the catalogue, one after the other. Heights are
 * m above home. The same steps from the same place always make the same plan.
 */

/** The members of each step besides `do`: bounds of its numbers, in which unit. */
const STEPS = {
  takeoff: { altitude_m: [1, 500] },
  move: {
    north_m: [-10_000, 10_000],
    east_m: [-10_000, 10_000],
    forward_m: [-10_000, 10_000],
    right_m: [-10_000, 10_000],
    up_m: [-500, 500],
  },
  goto: { lat: [-90, 90], lon: [-180, 180], altitude_m: [1, 500] },
  altitude: { altitude_m: [1, 500] },
  hover: { seconds: [1, 600] },
  orbit: {
    lat: [-90, 90],
    lon: [-180, 180],
    radius_m: [5, 1000],
    altitude_m: [1, 500],
    turns: [0.25, 20],
  },
  photo: {},
  survey: { altitude_m: [1, 500], spacing_m: [2, 1000], heading_deg: [0, 360], photo_every_m: [2, 1000] },
  land: {},
  return: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>>;
type StepName = keyof typeof STEPS;
export const STEP_NAMES = keysOf(STEPS);
/** Members that are no numbers. */
const OTHERS: Readonly<Partial<Record<StepName, readonly string[]>>> = {
  orbit: ['clockwise'],
  survey: ['polygon'],
};
export const MAX_STEPS = 50;
/** Commands of one plan: more would take hours, and nobody reads them. */
const MAX_LEGS = 400;
/** Fewer metres are no leg. */
const LEAST_M = 0.2;
const SPACING_M = 20;

/** Where a plan begins. */
interface PlanStart {
  readonly place: Place;
  /** m above home */
  readonly altitude: number;
  readonly inAir: boolean;
  readonly home: Place | null;
  /** Degrees from north; null: not known. */
  readonly heading: number | null;
  readonly speeds: Speeds;
  /** m above home that it returns at, at least; null: not known. */
  readonly returnsAt: number | null;
}

/** m/s, as far as the vehicle says; the usual ones otherwise. */
export interface Speeds {
  readonly across: number;
  readonly up: number;
  readonly down: number;
  readonly landing: number;
}

/** One command, or a time to stay. */
export interface Leg {
  /** From 1. */
  readonly step: number;
  readonly cmd: 'takeoff' | 'goto' | 'land' | 'rtl' | 'stop' | 'photo' | 'stay';
  /** Of the command; of `stay` the seconds. */
  readonly args: readonly number[];
  /** Where the vehicle is after it. */
  readonly place: Place;
  readonly altitude: number;
  readonly metres: number;
  readonly seconds: number;
}

export interface FlightPlan {
  readonly legs: readonly Leg[];
  /** What each step does, in words, in their order. */
  readonly words: readonly string[];
  readonly start: PlanStart;
}

class Maker {
  readonly legs: Leg[] = [];
  readonly #start: PlanStart;
  place: Place;
  altitude: number;
  inAir: boolean;
  home: Place;
  step = 0;

  constructor(start: PlanStart) {
    this.#start = start;
    ({ place: this.place, altitude: this.altitude, inAir: this.inAir } = start);
    this.home = start.home ?? start.place;
  }

  /** @throws ApiError that names the step */
  fail(name: string, sentence: string): never {
    throw stepError(this.step, name, sentence);
  }

  #add(leg: Omit<Leg, 'step' | 'place' | 'altitude'>): void {
    this.legs.push({ step: this.step, ...leg, place: this.place, altitude: this.altitude });
  }

  takeoff(altitude: number): void {
    const { up } = this.#start.speeds;
    // What it stands on may lie below home.
    const climb = Math.max(0, altitude - this.altitude);
    [this.altitude, this.inAir] = [altitude, true];
    this.#add({ cmd: 'takeoff', args: [altitude, 1], metres: 0, seconds: climb / up + 5 });
  }

  goto(place: Place, altitude: number): void {
    const { across, up, down } = this.#start.speeds;
    const metres = metresBetween(this.place, place);
    const climb = altitude - this.altitude;
    const seconds = Math.max(metres / across, climb > 0 ? climb / up : -climb / down) + 2;
    [this.place, this.altitude] = [place, altitude];
    this.#add({ cmd: 'goto', args: [place.lat, place.lon, altitude], metres, seconds });
  }

  stay(seconds: number): void {
    // What moves by another will is stopped; what has arrived stays by itself.
    if (this.legs.length === 0) this.#add({ cmd: 'stop', args: [], metres: 0, seconds: 2 });
    this.#add({ cmd: 'stay', args: [seconds], metres: 0, seconds });
  }

  photo(): void {
    this.#add({ cmd: 'photo', args: [], metres: 0, seconds: 1 });
  }

  down(cmd: 'land' | 'rtl'): void {
    const { across, up, landing, down } = this.#start.speeds;
    const top = cmd === 'rtl' ? Math.max(this.altitude, this.#start.returnsAt ?? 0) : this.altitude;
    const metres = cmd === 'rtl' ? metresBetween(this.place, this.home) : 0;
    const slow = Math.min(10, Math.max(0, top));
    const seconds =
      (top - this.altitude) / up + metres / across + Math.max(0, top - slow) / down + slow / landing + 5;
    if (cmd === 'rtl') this.place = this.home;
    [this.altitude, this.inAir] = [0, false];
    this.#add({ cmd, args: [], metres, seconds });
  }
}

function stepError(step: number, name: string, sentence: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `Step ${step} (${name}): ${sentence}`, { step });
}

/** @throws ApiError E_INVALID_VALUE with the number of the `step` that is wrong, from 1 */
export function planOf(steps: readonly unknown[], start: PlanStart): FlightPlan {
  if (steps.length === 0 || steps.length > MAX_STEPS)
    throw new ApiError('E_INVALID_VALUE', `A plan has 1 to ${MAX_STEPS} steps, not ${steps.length}.`);
  const maker = new Maker(start);
  const words = steps.map((given, index) => {
    maker.step = index + 1;
    const step = isRecord(given) ? given : {};
    const name = step['do'];
    if (!isOneOf(STEP_NAMES, name))
      throw stepError(maker.step, 'unknown', `do is one of ${STEP_NAMES.join(', ')}.`);
    const figures = figuresOf(step, name, (sentence) => maker.fail(name, sentence));
    if (name === 'takeoff' && maker.inAir) maker.fail(name, 'the vehicle is in the air by then.');
    if (name !== 'takeoff' && !maker.inAir)
      maker.fail(name, 'the vehicle is on the ground by then: takeoff comes first.');
    const said = fly(maker, name, figures, step, start);
    if (maker.legs.length > MAX_LEGS)
      maker.fail(name, `with it the plan has more than ${MAX_LEGS} commands; take fewer lines or photos.`);
    return said;
  });
  return { legs: maker.legs, words, start };
}

type Figures = Readonly<Record<string, number | undefined>>;

/** Its numbers, each checked. */
function figuresOf(step: JsonObject, name: StepName, fail: (sentence: string) => never): Figures {
  const bounds: Readonly<Record<string, readonly [number, number]>> = STEPS[name];
  const figures: Record<string, number> = {};
  for (const [member, value] of Object.entries(step)) {
    if (member === 'do' || OTHERS[name]?.includes(member) === true) continue;
    const [least, most] = bounds[member] ?? fail(`${member} is none of its members.`);
    if (typeof value !== 'number' || !Number.isFinite(value) || value < least || value > most)
      fail(`${member} must be a number from ${least} to ${most}.`);
    figures[member] = value;
  }
  return figures;
}

function fly(maker: Maker, name: StepName, figures: Figures, step: JsonObject, start: PlanStart): string {
  const fail: (sentence: string) => never = (sentence) => maker.fail(name, sentence);
  const wanted = (member: string): number => figures[member] ?? fail(`${member} is missing.`);
  const altitude = figures['altitude_m'] ?? maker.altitude;
  const low = (height: number): number =>
    height >= 1 ? height : fail(`${inMetres(height)} above home is too low; 1 m is the least.`);
  switch (name) {
    case 'takeoff': {
      maker.takeoff(wanted('altitude_m'));
      return `Arm and take off to ${inMetres(maker.altitude)}.`;
    }
    case 'move': {
      if (Object.keys(figures).length === 0) fail('say how far: north_m, east_m, forward_m, right_m, up_m.');
      const target = movedBy(figures, { ...maker, heading: start.heading }, fail);
      const words = movedWords(figures);
      maker.goto(target, low(target.altitude));
      return `Move ${words}, to ${inMetres(maker.altitude)}.`;
    }
    case 'goto': {
      const place = { lat: wanted('lat'), lon: wanted('lon') };
      const far = metresBetween(maker.place, place);
      maker.goto(place, low(altitude));
      return `Go to ${placeWords(place)} at ${inMetres(altitude)}: ${inMetres(far)} away.`;
    }
    case 'altitude':
      maker.goto(maker.place, wanted('altitude_m'));
      return `Change to ${inMetres(maker.altitude)} at the same place.`;
    case 'hover':
      maker.stay(wanted('seconds'));
      return `Hover ${wanted('seconds')} s at ${inMetres(maker.altitude)}.`;
    case 'photo':
      maker.photo();
      return 'Take a photo.';
    case 'orbit':
      return orbit(maker, figures, step, low(altitude), fail);
    case 'survey':
      return survey(maker, figures, step, low(altitude), fail);
    case 'land':
      maker.down('land');
      return `Land there, at ${placeWords(maker.place)}.`;
    case 'return': {
      const far = metresBetween(maker.place, maker.home);
      const { returnsAt } = start;
      const from = Math.max(maker.altitude, returnsAt ?? 0);
      maker.down('rtl');
      const height = returnsAt === null ? 'at a height of its own' : `at ${inMetres(from)}`;
      return `Return ${height} over ${inMetres(far)} to ${start.home === null ? 'where it took off' : 'home'}, and land.`;
    }
  }
}

/** Where a relative move leads to. @param fail for a direction that needs the heading, where nobody knows it */
export function movedBy(
  figures: Figures,
  from: { readonly place: Place; readonly altitude: number; readonly heading: number | null },
  fail: (sentence: string) => never,
): Place & { readonly altitude: number } {
  const { north_m: n = 0, east_m: e = 0, forward_m: f = 0, right_m: r = 0, up_m: up = 0 } = figures;
  if ((f !== 0 || r !== 0) && from.heading === null)
    fail('the heading of the vehicle is not known: use north_m and east_m.');
  const angle = ((from.heading ?? 0) * Math.PI) / 180;
  const north = n + f * Math.cos(angle) - r * Math.sin(angle);
  const east = e + f * Math.sin(angle) + r * Math.cos(angle);
  const to = new Plane(from.place).toPlace({ x: east, y: north });
  const place = Math.hypot(north, east) < LEAST_M ? from.place : to;
  return { ...place, altitude: rounded(from.altitude + up) };
}

export function movedWords(figures: Figures): string {
  const ways = [
    ['north_m', 'north', 'south'],
    ['east_m', 'east', 'west'],
    ['forward_m', 'forward', 'back'],
    ['right_m', 'right', 'left'],
    ['up_m', 'up', 'down'],
  ] as const;
  const said = ways.flatMap(([member, there, back]) => {
    const value = figures[member] ?? 0;
    return value === 0 ? [] : [`${inMetres(Math.abs(value))} ${value > 0 ? there : back}`];
  });
  return said.length === 0 ? 'nowhere' : said.join(', ');
}

function orbit(
  maker: Maker,
  figures: Figures,
  { clockwise = true }: JsonObject,
  altitude: number,
  fail: (sentence: string) => never,
): string {
  if (typeof clockwise !== 'boolean') fail('clockwise must be true or false.');
  const { lat, lon, radius_m: radius = fail('radius_m is missing.'), turns = 1 } = figures;
  if ((lat === undefined) !== (lon === undefined)) fail('lat and lon go together.');
  const centre = lat === undefined || lon === undefined ? maker.place : { lat, lon };
  const { x, y } = new Plane(centre).toFlat(maker.place);
  // From where it is nearest.
  const start = (((Math.atan2(x, y) * 180) / Math.PI) % 360) + (x < 0 ? 360 : 0);
  const trigger = { trigger: 0, lookHeight: 0, height: altitude };
  flyPattern(maker, { kind: 'orbit', centre, radius, turns, clockwise, start, ...trigger }, altitude, fail);
  return `Orbit ${placeWords(centre)} with a radius of ${inMetres(radius)} at ${inMetres(altitude)}, ${turns} ${turns === 1 ? 'turn' : 'turns'} ${clockwise ? '' : 'counter-'}clockwise.`;
}

function survey(
  maker: Maker,
  figures: Figures,
  { polygon }: JsonObject,
  altitude: number,
  fail: (sentence: string) => never,
): string {
  const corners = placesIn(polygon) ?? fail('polygon must be a list of 3 or more {lat, lon}.');
  const { spacing_m: sideStep = SPACING_M, heading_deg: angle = Math.round(bestAngle(corners)) } = figures;
  const { photo_every_m: frontStep = 0 } = figures;
  const photos = { camera: null, byResolution: false, frontOverlap: 0, sideOverlap: 0, sideStep, frontStep };
  const lines = { above: 'home', turnaround: 0, photosInTurns: false, hover: true, entry: 0 } as const;
  const shape = { polygon: corners, angle: ((angle % 360) + 360) % 360, crosshatch: false, alternate: false };
  const { parts, distance, taken } = flyPattern(
    maker,
    { kind: 'survey', ...photos, ...lines, ...shape, distance: altitude },
    altitude,
    fail,
  );
  return `Survey ${corners.length} corners at ${inMetres(altitude)}: ${parts} lines, ${inMetres(distance)}, ${taken === 0 ? 'no photos' : `${taken} photos`}.`;
}

/** Flies the places of a pattern of the page's plan one by one, and takes its photos. */
function flyPattern(
  maker: Maker,
  settings: PatternSettings,
  altitude: number,
  fail: (sentence: string) => never,
): { readonly parts: number; readonly distance: number; readonly taken: number } {
  const made = expand(settings);
  if ('problem' in made) return fail(problemText(made.problem, made.figure));
  let taken = 0;
  if (made.items.length > 2 * MAX_LEGS) fail(`it has ${made.items.length} places and photos, too many.`);
  for (const { command, x, y } of made.items) {
    if (command === CMD.waypoint) maker.goto({ lat: x, lon: y }, altitude);
    else if (command === IMAGE) {
      maker.photo();
      taken += 1;
    }
  }
  return { parts: made.parts, distance: made.distance, taken };
}

/** MAV_CMD_IMAGE_START_CAPTURE */
const IMAGE = 2000;

/** Places of a list; null where it is none. */
export function placesIn(list: unknown): readonly LatLon[] | null {
  if (!Array.isArray(list)) return null;
  const places = list.map((each: unknown) => {
    const { lat, lon } = isRecord(each) ? each : {};
    return typeof lat === 'number' && typeof lon === 'number' && Math.abs(lat) <= 90 && Math.abs(lon) <= 180
      ? { lat, lon }
      : null;
  });
  const known = places.filter((place) => place !== null);
  return known.length === places.length ? known : null;
}

/** MAV_FRAME_GLOBAL_RELATIVE_ALT */
const FRAME_RELATIVE = 3;

/** The places of a plan as items of a mission, numbered by their steps: what is said of reach counts for both. */
export function itemsOfPlan({ legs }: Pick<FlightPlan, 'legs'>): readonly MissionItem[] {
  const plain = { param1: 0, param2: 0, param3: 0, param4: 0, autocontinue: 1 } as const;
  return legs.flatMap(({ cmd, step, place, altitude }) =>
    cmd === 'goto' || cmd === 'takeoff'
      ? [
          {
            seq: step,
            frame: FRAME_RELATIVE,
            command: CMD.waypoint,
            ...plain,
            x: place.lat,
            y: place.lon,
            z: altitude,
          },
        ]
      : [],
  );
}

/** For people. */
export function inMetres(value: number): string {
  return Math.abs(value) >= 10_000 ? `${(value / 1000).toFixed(1)} km` : `${rounded(value)} m`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10 + 0; // no -0
}

function placeWords({ lat, lon }: Place): string {
  return `${lat.toFixed(6)}, ${lon.toFixed(6)}`;
}
