import { MAX_ITEMS, type MissionItem } from '../../schemas/mission-item.ts';
import { lookAhead, lookAt, photo, trigger, type Unnumbered, waypoint } from './make-items.ts';
import { apart, type Flat, lengthOf, Plane, towards } from './plane.ts';
import { area as areaOf, around, beside, crossesItself, hull } from './polygon.ts';
import {
  type Corridor,
  cornersOf,
  leastCorners,
  MAX_CORNERS,
  type Orbit,
  type PatternSettings,
  type Structure,
  type Survey,
  settled,
  wrongFigure,
} from './settings.ts';
import { MAX_LINES, surveyLines } from './survey.ts';
import { type Transect, waysThrough } from './transects.ts';

/** The items that a pattern stands for. The same settings always give the same. */

export interface Expansion {
  /** Numbered from 0. */
  readonly items: readonly MissionItem[];
  /** About as many; 0: it takes none. */
  readonly photos: number;
  /** m over ground, from its first place to its last. */
  readonly distance: number;
  /** Lines, layers or turns. */
  readonly parts: number;
  /** Of the area that is covered, m²; null: it covers none. */
  readonly area: number | null;
}

/**
 * - `figures`: a number is beyond its bounds, and `figure` says which
 * - `corners`: too few of them, or too many
 * - `crossing`: the sides of the polygon cross
 * - `steps`: no distance between lines or layers
 * - `heights`: its top is not above its bottom
 * - `many`: more items than a mission has
 */
export interface Unexpanded {
  readonly problem: 'figures' | 'corners' | 'crossing' | 'steps' | 'heights' | 'many';
  readonly figure?: string;
}

type Expanded = Expansion | Unexpanded;

export function expand(given: PatternSettings): Expanded {
  const figure = wrongFigure(given);
  if (figure !== null) return { problem: 'figures', figure };
  const settings = settled(given);
  const places = cornersOf(settings);
  const [origin] = places;
  const usable = places.every(({ lat, lon }) => Math.abs(lat) <= 90 && Math.abs(lon) <= 180);
  if (
    origin === undefined ||
    !usable ||
    places.length < leastCorners(settings.kind) ||
    places.length > MAX_CORNERS
  )
    return { problem: 'corners' };
  const plane = new Plane(origin);
  const corners = places.map((place) => plane.toFlat(place));
  const made = make(settings, plane, corners);
  if ('problem' in made) return made;
  if (made.items.length > MAX_ITEMS) return { problem: 'many' };
  return { ...made, items: made.items.map((item, seq) => ({ seq, ...item })) };
}

type ExpandedPattern = (Omit<Expansion, 'items'> & { readonly items: readonly Unnumbered[] }) | Unexpanded;

function make(settings: PatternSettings, plane: Plane, corners: readonly Flat[]): ExpandedPattern {
  switch (settings.kind) {
    case 'survey':
      return makeSurvey(settings, plane, corners);
    case 'corridor':
      return makeCorridor(settings, plane, corners);
    case 'structure':
      return makeStructure(settings, plane, corners);
    case 'orbit':
      return makeOrbit(settings, plane);
  }
}

function makeSurvey(survey: Survey, plane: Plane, corners: readonly Flat[]): ExpandedPattern {
  if (crossesItself(corners) || hull(corners).length < 3) return { problem: 'crossing' };
  if (!(survey.sideStep > 0)) return { problem: 'steps' };
  const { angle, sideStep: spacing, entry, alternate } = survey;
  const lines = surveyLines(corners, { heading: angle, spacing, entry, alternate, from: null });
  if (lines === null) return { problem: 'many' };
  const from = lines.at(-1)?.at(-1) ?? null;
  const across = survey.crosshatch
    ? surveyLines(corners, { heading: angle + 90, spacing, entry, alternate, from })
    : [];
  if (across === null) return { problem: 'many' };
  return makeTransects(survey, plane, [...lines, ...across], areaOf(corners));
}

function makeCorridor(corridor: Corridor, plane: Plane, corners: readonly Flat[]): ExpandedPattern {
  const length = lengthOf(corners);
  if (length === 0) return { problem: 'corners' };
  const { width, sideStep } = corridor;
  if (!(sideStep > 0)) return { problem: 'steps' };
  const count = Math.max(1, Math.ceil(width / sideStep - 1e-9));
  if (count > MAX_LINES) return { problem: 'many' };
  const lines = Array.from({ length: count }, (_, at) => beside(corners, (at - (count - 1) / 2) * sideStep));
  return makeTransects(corridor, plane, waysThrough([lines], corridor.entry, false, null), length * width);
}

const HOVER_S = 4;

function makeTransects(
  settings: Survey | Corridor,
  plane: Plane,
  transects: readonly Transect[],
  area: number,
): ExpandedPattern {
  const { distance: height, above, turnaround, photosInTurns, hover, frontStep } = settings;
  const items: Unnumbered[] = [];
  const flown: Flat[] = [];
  let photos = 0;
  const fly = (point: Flat, hold = 0): void => {
    flown.push(point);
    items.push(waypoint(plane.toPlace(point), height, above, hold));
  };
  const isLast = (at: number): boolean => at === transects.length - 1;
  for (const [at, transect] of transects.entries()) {
    const [a, b] = transect;
    const [y, z] = transect.slice(-2);
    if (a === undefined || b === undefined || y === undefined || z === undefined) continue;
    const points = hover && frontStep > 0 ? stops(transect, frontStep, MAX_ITEMS - items.length) : transect;
    if (points === null || items.length > MAX_ITEMS) return { problem: 'many' };
    const goesOn = photosInTurns && !hover && frontStep > 0;
    if (turnaround > 0) fly(towards(a, b, -turnaround));
    if (goesOn && at === 0 && turnaround > 0) items.push(trigger(frontStep));
    for (const [index, point] of points.entries()) {
      const takes = frontStep > 0;
      fly(point, takes && hover ? HOVER_S : 0);
      if (!takes) continue;
      if (hover) items.push(photo());
      else if (index === 0) items.push(trigger(frontStep));
      else if (index === points.length - 1 && !(goesOn && (!isLast(at) || turnaround > 0)))
        items.push(trigger(0));
    }
    if (turnaround > 0) fly(towards(z, y, -turnaround));
    if (goesOn && isLast(at) && turnaround > 0) items.push(trigger(0));
    if (frontStep > 0) photos += hover ? points.length : Math.floor(lengthOf(transect) / frontStep) + 2;
  }
  const distance = lengthOf(flown);
  if (photosInTurns && !hover && frontStep > 0) photos = Math.floor(distance / frontStep) + 2;
  return { items, photos, distance, parts: transects.length, area };
}

/** Where photos are taken one by one, its corners included; null: more than `most`. */
function stops(line: readonly Flat[], step: number, most: number): readonly Flat[] | null {
  if (lengthOf(line) / step > most) return null;
  return line.flatMap((a, at) => {
    const b = line[at + 1];
    if (b === undefined) return [a];
    const count = Math.max(1, Math.ceil(apart(a, b) / step - 1e-9));
    return Array.from({ length: count }, (_, n) => towards(a, b, Math.min(n * step, apart(a, b))));
  });
}

function makeStructure(structure: Structure, plane: Plane, corners: readonly Flat[]): ExpandedPattern {
  const { distance: away, top, bottom, entrance, fromTop, pitch, sideStep, frontStep } = structure;
  const outline = hull(corners);
  if (outline.length < 3) return { problem: 'crossing' };
  if (top <= bottom) return { problem: 'heights' };
  if (!(frontStep > 0)) return { problem: 'steps' };
  const layers = Math.max(1, Math.ceil((top - bottom) / frontStep - 1e-9));
  const way = around(corners, away);
  const [first] = way;
  if (first === undefined || layers * (way.length + 4) > MAX_ITEMS) return { problem: 'many' };
  const ring = [...way, first];
  const middle = plane.toPlace(meanOf(outline));
  const enter = waypoint(plane.toPlace(first), entrance, 'home');
  const layerHeight = (top - bottom) / layers;
  const items = Array.from({ length: layers }, (_, at) => {
    const height = bottom + ((fromTop ? layers - 1 - at : at) + 0.5) * layerHeight;
    const looked = height + away * Math.tan((pitch * Math.PI) / 180);
    const places = ring.map((point) => waypoint(plane.toPlace(point), height, 'home'));
    const photos = sideStep > 0 ? { on: [trigger(sideStep)], off: [trigger(0)] } : { on: [], off: [] };
    return [lookAt(middle, looked), ...places.slice(0, 1), ...photos.on, ...places.slice(1), ...photos.off];
  }).flat();
  return {
    items: [enter, ...items, lookAhead(), enter],
    photos: sideStep > 0 ? layers * (Math.floor(lengthOf(ring) / sideStep) + 2) : 0,
    distance: layers * lengthOf(ring),
    parts: layers,
    area: null,
  };
}

/** Enough of them that the vehicle flies no visible corners. */
const ORBIT_STEP_M = 15;
const ORBIT_POINTS: readonly [number, number] = [16, 48];

function makeOrbit(orbit: Orbit, plane: Plane): ExpandedPattern {
  const { centre, radius, height, lookHeight, turns, clockwise, start } = orbit;
  const [least, most] = ORBIT_POINTS;
  const wanted = Math.round((2 * Math.PI * radius) / ORBIT_STEP_M);
  const legs = Math.ceil(turns * Math.max(least, Math.min(most, wanted)));
  const ring = Array.from({ length: legs + 1 }, (_, at) => {
    const angle = ((start + (clockwise ? 360 : -360) * ((turns * at) / legs)) * Math.PI) / 180;
    return { x: radius * Math.sin(angle), y: radius * Math.cos(angle) };
  });
  const places = ring.map((point) => waypoint(plane.toPlace(point), height, 'home'));
  const photos = orbit.trigger > 0;
  return {
    items: [
      lookAt(centre, lookHeight),
      ...places.slice(0, 1),
      ...(photos ? [trigger(orbit.trigger)] : []),
      ...places.slice(1),
      ...(photos ? [trigger(0)] : []),
      lookAhead(),
    ],
    photos: photos ? Math.floor(lengthOf(ring) / orbit.trigger) + 2 : 0,
    distance: lengthOf(ring),
    parts: turns,
    area: null,
  };
}

function meanOf(points: readonly Flat[]): Flat {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}
