/** Patterns are made on a plane that touches the ground at their first point: m east and north. */

export interface LatLon {
  readonly lat: number;
  readonly lon: number;
}

export interface Flat {
  /** m east */
  readonly x: number;
  /** m north */
  readonly y: number;
}

const EARTH_M = 6_371_000;
const RADIAN = Math.PI / 180;
/** Beyond it a metre east is more degrees than a plane makes sense for. */
const MIN_COSINE = 0.01;

/** Good to some parts in a thousand over 20 km; across the antimeridian as well. */
export class Plane {
  readonly #origin: LatLon;
  readonly #north = EARTH_M * RADIAN;
  readonly #east: number;

  constructor(origin: LatLon) {
    this.#origin = origin;
    this.#east = this.#north * Math.max(MIN_COSINE, Math.cos(origin.lat * RADIAN));
  }

  toFlat({ lat, lon }: LatLon): Flat {
    return {
      x: turned180(lon - this.#origin.lon) * this.#east,
      y: (lat - this.#origin.lat) * this.#north,
    };
  }

  /** In steps of 1e-7 degrees, as places travel. */
  toPlace({ x, y }: Flat): LatLon {
    return {
      lat: travelled(Math.max(-90, Math.min(90, this.#origin.lat + y / this.#north))),
      lon: travelled(turned180(this.#origin.lon + x / this.#east)),
    };
  }
}

/** Degrees as they travel: steps of 1e-7. */
function travelled(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7 + 0; // no -0
}

/** The same direction, -180 to 180 degrees. */
export function turned180(degrees: number): number {
  return degrees >= -180 && degrees <= 180 ? degrees : ((((degrees + 180) % 360) + 360) % 360) - 180;
}

/** Turned so that what heads to `heading` (degrees from north) heads north. */
export function turnedNorth({ x, y }: Flat, heading: number): Flat {
  const sine = Math.sin(heading * RADIAN);
  const cosine = Math.cos(heading * RADIAN);
  return { x: x * cosine - y * sine, y: x * sine + y * cosine };
}

export function apart(a: Flat, b: Flat): number {
  return Math.hypot(b.x - a.x, b.y - a.y);
}

/** From `a` towards `b` by `metres`; `a` itself where both are one point. */
export function towards(a: Flat, b: Flat, metres: number): Flat {
  const length = apart(a, b);
  if (length === 0) return a;
  return { x: a.x + ((b.x - a.x) * metres) / length, y: a.y + ((b.y - a.y) * metres) / length };
}

/** Along the points, m. */
export function lengthOf(points: readonly Flat[]): number {
  return points.reduce((sum, point, at) => sum + apart(points[at - 1] ?? point, point), 0);
}
