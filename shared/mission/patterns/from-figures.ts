import { ApiError } from '../../errors.ts';
import { isKeyOf, isRecord, type JsonObject, keysOf } from '../../member.ts';
import { CMD, FRAME_MISSION } from '../commands.ts';
import { expand } from './expand.ts';
import type { Unnumbered } from './make-items.ts';
import { newPattern } from './new-pattern.ts';
import type { LatLon } from './plane.ts';
import type { PatternKind, PatternSettings } from './settings.ts';
import { circle } from './templates.ts';

/** A whole mission of one pattern by a few figures: take off, the pattern as the page's plan makes it, and what follows. */

const KINDS = {
  survey: 'survey',
  corridor: 'corridor',
  orbit: 'orbit',
  tower: 'structure',
} as const satisfies Readonly<Record<string, PatternKind>>;
export const FIGURE_KINDS = keysOf(KINDS);

/** The number that a figure sets, for each kind. */
const FIGURES: Readonly<Record<PatternKind, Readonly<Record<string, string>>>> = {
  survey: {
    altitude_m: 'distance',
    spacing_m: 'sideStep',
    photo_every_m: 'frontStep',
    heading_deg: 'angle',
  },
  corridor: {
    altitude_m: 'distance',
    spacing_m: 'sideStep',
    photo_every_m: 'frontStep',
    width_m: 'width',
  },
  structure: {
    distance_m: 'distance',
    top_m: 'top',
    bottom_m: 'bottom',
    spacing_m: 'frontStep',
    photo_every_m: 'sideStep',
  },
  orbit: {
    altitude_m: 'height',
    radius_m: 'radius',
    turns: 'turns',
    photo_every_m: 'trigger',
  },
};
/** Figures of the whole mission, and those that say where. */
const COMMON: ReadonlySet<string> = new Set([
  'kind',
  'corners',
  'lat',
  'lon',
  'radius_m',
  'end',
  'speed_m_s',
  'clockwise',
]);
const ENDS = ['return', 'land', 'stay'] as const;
const SPEED: readonly [number, number] = [0.5, 50];
const RETURN = 20;
const FRAME_RELATIVE = 3;
/** Above the top of a tower, on the way there. */
const CLEAR_M = 5;

interface PatternItems {
  readonly items: readonly Unnumbered[];
  readonly photos: number;
  /** m over ground, of the pattern alone. */
  readonly distance: number;
  readonly parts: number;
}

/** @throws ApiError E_INVALID_VALUE that names the figure */
export function patternItems(figures: JsonObject): PatternItems {
  const settings = settingsOf(figures);
  const made = expand(settings);
  if ('problem' in made) throw wrong(problemText(made.problem, ownName(settings.kind, made.figure)));
  const { end = 'return', speed_m_s: speed } = figures;
  if (!ENDS.some((each) => each === end)) throw wrong(`end is one of ${ENDS.join(', ')}.`);
  if (speed !== undefined && (typeof speed !== 'number' || !(speed >= SPEED[0] && speed <= SPEED[1])))
    throw wrong(`speed_m_s must be a number from ${SPEED[0]} to ${SPEED[1]}.`);
  const plain = { param1: 0, param2: 0, param3: 0, param4: 0, x: 0, y: 0, z: 0, autocontinue: 1 } as const;
  const items = [
    { ...plain, command: CMD.takeoff, frame: FRAME_RELATIVE, z: firstHeight(settings) },
    ...(speed === undefined
      ? []
      : [
          {
            ...plain,
            command: CMD.changeSpeed,
            frame: FRAME_MISSION,
            param1: 1,
            param2: speed,
            param3: -1,
          },
        ]),
    // The vehicle's own numbers are given where the list is read.
    ...made.items.map(({ seq: _seq, ...item }) => item),
    ...(end === 'return' ? [{ ...plain, command: RETURN, frame: FRAME_MISSION }] : []),
    ...(end === 'land' ? [{ ...plain, command: CMD.land, frame: FRAME_RELATIVE }] : []),
  ];
  return { ...made, items };
}

function settingsOf(figures: JsonObject): PatternSettings {
  const { kind: named, corners, clockwise } = figures;
  if (!isKeyOf(KINDS, named)) throw wrong(`kind is one of ${FIGURE_KINDS.join(', ')}.`);
  const kind = KINDS[named];
  const known: ReadonlyMap<string, string> = new Map(Object.entries(FIGURES[kind]));
  const settings = {
    ...newPattern([], kind, placesOf(kind, figures, corners), Number(figures['radius_m'] ?? 30)),
  };
  const set: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(figures)) {
    const member = known.get(name);
    if (member === undefined) {
      if (!COMMON.has(name)) throw wrong(`${name} is none of the figures of a ${named}.`);
      continue;
    }
    if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(`${name} must be a number.`);
    set[member] = value;
  }
  // Steps that are given do not follow from a camera.
  const bySteps = 'sideStep' in set || 'frontStep' in set;
  if (kind === 'orbit' && clockwise === false) set['clockwise'] = false;
  const whole = { ...settings, ...set, ...(bySteps ? { camera: null } : {}) } as PatternSettings;
  return whole.kind === 'structure' ? { ...whole, entrance: whole.top + CLEAR_M } : whole;
}

function placesOf(
  kind: PatternKind,
  { lat, lon, radius_m: radius }: JsonObject,
  corners: unknown,
): readonly LatLon[] {
  const centre = typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : null;
  if (kind === 'orbit') return centre === null ? fail('lat and lon of the centre are missing.') : [centre];
  if (kind === 'structure' && centre !== null)
    return typeof radius === 'number' && radius > 0
      ? circle(centre, radius)
      : fail('radius_m of the tower is missing.');
  if (!Array.isArray(corners)) return fail('corners must be a list of {lat, lon}.');
  return corners.map((corner: unknown) => {
    const { lat: y, lon: x } = isRecord(corner) ? corner : {};
    return typeof y === 'number' && typeof x === 'number'
      ? { lat: y, lon: x }
      : fail('each corner has lat and lon, numbers.');
  });
}

/** m above home. */
function firstHeight(settings: PatternSettings): number {
  switch (settings.kind) {
    case 'orbit':
      return settings.height;
    case 'structure':
      return settings.entrance;
    default:
      return settings.distance;
  }
}

/** The name by which the figure was given. */
function ownName(kind: PatternKind, member: string | undefined): string | undefined {
  return Object.entries(FIGURES[kind]).find(([, each]) => each === member)?.[0] ?? member;
}

function wrong(sentence: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `The pattern: ${sentence}`);
}

function fail(sentence: string): never {
  throw wrong(sentence);
}

/** What a pattern cannot be made of, for whoever gave its figures. */
export function problemText(problem: string, figure?: string): string {
  switch (problem) {
    case 'figures':
      return `${figure ?? 'a number'} is beyond its bounds.`;
    case 'corners':
      return 'it has too few or too many corners, or corners that are all one place.';
    case 'crossing':
      return 'the sides of the polygon cross, or it has no area.';
    case 'steps':
      return 'the distance between its lines is 0.';
    case 'heights':
      return 'its top is not above its bottom.';
    default:
      return 'it has more items than a mission may have.';
  }
}
