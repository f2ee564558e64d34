import { isRecord, listOf, memberOf } from '../../../../../../shared/member.ts';
import { type LatLon, Plane, turned180 } from '../../../../../../shared/mission/patterns/plane.ts';
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

export interface FoundShapes {
  readonly shapes: readonly FoundShape[];
  /** Shapes that have no place on the earth, or are more than are taken. */
  readonly dropped: number;
  /** One of those has, with latitude and longitude swapped. */
  readonly swapped: boolean;
}

/** The places are in another system of coordinates, which the message names. */
export class ForeignSystem extends Error {}

/** @throws ForeignSystem */

const MAX_SHAPES = 500;
const MAX_NAME = 80;
const MAX_DEPTH = 16;

export function shapesIn(document: unknown): FoundShapes {
  const shapes: FoundShape[] = [];
  let dropped = 0;
  let swapped = false;
  const toPlace = systemOf(document);
  const take = (kind: FoundShape['kind'], name: string, rings: readonly unknown[]): void => {
    const [places, ...holes] = rings.map((ring) => placesIn(ring, kind === 'polygon', toPlace));
    const least = { polygon: 3, line: 2, point: 1 }[kind];
    if (places === undefined || places.length < least || shapes.length >= MAX_SHAPES) {
      dropped++;
      swapped ||= placesIn(rings[0], false, ([lon, lat]) => toPlace([lat, lon])).length >= least;
    } else
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
  return { shapes, dropped, swapped };
}

function nameOf(properties: unknown): string {
  const name = isRecord(properties) ? (properties['name'] ?? properties['Name']) : '';
  return typeof name === 'string' ? plainText(name).trim().slice(0, MAX_NAME) : '';
}

/** The place of a position (longitude or easting first); null for none. */
type ToPlace = (position: readonly unknown[]) => LatLon | null;

/** Those of the coordinates of GeoJSON before RFC 7946 that are what it has today. */
const WGS84 = /^(?:urn:ogc:def:crs:)?(?:EPSG:[\d.]*:?4326|OGC:[\d.]*:?(?:CRS84|84)|WGS ?84)$/i;
/** Metres of web maps, under all the names it had. */
const WEB_MERCATOR = /^(?:urn:ogc:def:crs:)?(?:EPSG|ESRI):[\d.]*:?(?:3857|900913|3785|102100|102113)$/i;
const EQUATOR_M = 6_378_137;
const DEGREES = 180 / Math.PI;

/** @throws ForeignSystem for a `crs` (GeoJSON 2008) that is not known here */
function systemOf(document: unknown): ToPlace {
  const crs = memberOf(document, 'crs');
  const name = memberOf(memberOf(crs, 'properties'), 'name');
  if (crs === undefined || crs === null || (typeof name === 'string' && WGS84.test(name))) return degrees;
  if (typeof name === 'string' && WEB_MERCATOR.test(name))
    return ([east, north]) =>
      typeof east !== 'number' || typeof north !== 'number'
        ? null
        : degrees([
            (east / EQUATOR_M) * DEGREES,
            (2 * Math.atan(Math.exp(north / EQUATOR_M)) - Math.PI / 2) * DEGREES,
          ]);
  throw new ForeignSystem(typeof name === 'string' ? plainText(name).slice(0, MAX_NAME) : 'another system');
}

/** A shape over the 180th meridian may go on beyond it, as far as once around. */
function degrees([lon, lat]: readonly unknown[]): LatLon | null {
  if (typeof lat !== 'number' || typeof lon !== 'number') return null;
  return Math.abs(lat) <= 90 && Math.abs(lon) < 360 ? { lat, lon: turned180(lon) } : null;
}

/** Empty where one of them is no place. @param closed without the last one, which repeats the first */
function placesIn(value: unknown, closed: boolean, toPlace: ToPlace): readonly LatLon[] {
  const places = listOf(value).map((position) => toPlace(listOf(position)));
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
