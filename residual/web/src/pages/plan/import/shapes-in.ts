import { isRecord, listOf } from '../../../../../../shared/member.ts';
import { type LatLon, Plane } from '../../../../../../shared/mission/patterns/plane.ts';
import { MAX_CORNERS } from '../../../../../../shared/mission/patterns/settings.ts';
import { plainText } from '../../../../../../shared/plain-text.ts';

/** Shapes of a GeoJSON document (RFC 7946), or of what was made one. */

export interface FoundShape {
  readonly kind: 'polygon' | 'line' | 'point';
  /** As the file says it; only ever shown as text. */
  readonly name: string;
  readonly places: readonly LatLon[];
  /** Polygons cut out of it. */
  readonly holes: readonly (readonly LatLon[])[];
}

export interface Found {
  readonly shapes: readonly FoundShape[];
  /** Shapes that have no place on the earth, or are more than are taken. */
  readonly dropped: number;
}

const MAX_SHAPES = 500;
const MAX_NAME = 80;
const MAX_DEPTH = 16;

export function shapesIn(document: unknown): Found {
  const shapes: FoundShape[] = [];
  let dropped = 0;
  const take = (kind: FoundShape['kind'], name: string, rings: readonly unknown[]): void => {
    const [places, ...holes] = rings.map((ring) => placesIn(ring, kind === 'polygon'));
    const least = { polygon: 3, line: 2, point: 1 }[kind];
    if (places === undefined || places.length < least || shapes.length >= MAX_SHAPES) dropped++;
    else
      shapes.push({
        kind,
        name,
        places,
        holes: holes.filter((hole) => hole.length >= 3).slice(0, MAX_SHAPES),
      });
  };
  const look = (value: unknown, name: string, depth: number): void => {
    if (!isRecord(value) || depth > MAX_DEPTH) return;
    const { type, coordinates } = value;
    const parts = listOf(coordinates);
    const inside = (list: unknown, own = name): void => {
      for (const each of listOf(list)) look(each, own, depth + 1);
    };
    if (type === 'FeatureCollection') inside(value['features']);
    else if (type === 'GeometryCollection') inside(value['geometries']);
    else if (type === 'Feature') look(value['geometry'], nameOf(value['properties']), depth + 1);
    else if (type === 'Point') take('point', name, [[coordinates]]);
    else if (type === 'MultiPoint') for (const each of parts) take('point', name, [[each]]);
    else if (type === 'LineString') take('line', name, [coordinates]);
    else if (type === 'MultiLineString') for (const each of parts) take('line', name, [each]);
    else if (type === 'Polygon') take('polygon', name, parts);
    else if (type === 'MultiPolygon') for (const each of parts) take('polygon', name, listOf(each));
  };
  look(document, '', 0);
  return { shapes, dropped };
}

function nameOf(properties: unknown): string {
  const name = isRecord(properties) ? (properties['name'] ?? properties['Name']) : '';
  return typeof name === 'string' ? plainText(name).trim().slice(0, MAX_NAME) : '';
}

/** Empty where one of them is no place. @param closed without the last one, which repeats the first */
function placesIn(value: unknown, closed: boolean): readonly LatLon[] {
  const places = listOf(value).map((position) => {
    const [lon, lat] = listOf(position);
    const known = typeof lat === 'number' && typeof lon === 'number';
    return known && Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon } : null;
  });
  const known = places.filter((place) => place !== null);
  if (known.length < places.length) return [];
  const apart = known.filter((place, at) => !isSame(place, known[at - 1]));
  const ring = closed && apart.length > 1 && isSame(apart[0], apart.at(-1)) ? apart.slice(0, -1) : apart;
  return simplified(ring, MAX_CORNERS);
}

function isSame(a: LatLon | undefined, b: LatLon | undefined): boolean {
  return a !== undefined && b !== undefined && a.lat === b.lat && a.lon === b.lon;
}

const FIRST_TOLERANCE_M = 0.25;

/** With at most so many points, none of those left out far beside the line (Ramer, Douglas and Peucker). */
function simplified(places: readonly LatLon[], most: number): readonly LatLon[] {
  const [origin] = places;
  if (origin === undefined || places.length <= most) return places;
  const plane = new Plane(origin);
  const points = places.map((place) => plane.toFlat(place));
  for (let tolerance = FIRST_TOLERANCE_M; ; tolerance *= 2) {
    const kept = new Set([0, points.length - 1]);
    const spans: [number, number][] = [[0, points.length - 1]];
    for (let span = spans.pop(); span !== undefined; span = spans.pop()) {
      const [from, to] = span;
      let [farthest, at] = [tolerance, -1];
      for (let index = from + 1; index < to; index++) {
        const far = beside(points, from, to, index);
        if (far > farthest) [farthest, at] = [far, index];
      }
      if (at < 0 || kept.size > most) continue;
      kept.add(at);
      spans.push([from, at], [at, to]);
    }
    if (kept.size <= most) return places.filter((_, index) => kept.has(index));
  }
}

function beside(points: readonly { x: number; y: number }[], from: number, to: number, at: number): number {
  const [a, b, point] = [points[from], points[to], points[at]];
  if (a === undefined || b === undefined || point === undefined) return 0;
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  if (length === 0) return Math.hypot(point.x - a.x, point.y - a.y);
  return Math.abs((b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x)) / length;
}
