/** Positions on a plane that touches the earth at an origin: good to centimetres over the few km of a simulated flight. */

/** Degrees, and metres above mean sea level. */
export interface GeoPoint {
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
}

/** Metres north, east and up of the origin. */
export interface LocalPoint {
  readonly n: number;
  readonly e: number;
  readonly u: number;
}

// ArduPilot's own scale (LOCATION_SCALING_FACTOR): another one would show as a drift against its ground stations.
const METRES_PER_DEGREE = 111318.84502145034;

export function toLocal(origin: GeoPoint, point: GeoPoint): LocalPoint {
  return {
    n: (point.lat - origin.lat) * METRES_PER_DEGREE,
    e: (point.lon - origin.lon) * METRES_PER_DEGREE * eastScale(origin),
    u: point.alt - origin.alt,
  };
}

export function toGeo(origin: GeoPoint, point: LocalPoint): GeoPoint {
  return {
    lat: origin.lat + point.n / METRES_PER_DEGREE,
    lon: origin.lon + point.e / (METRES_PER_DEGREE * eastScale(origin)),
    alt: origin.alt + point.u,
  };
}

/** An angle in rad as -pi..pi. */
export function wrapPi(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/** Compass degrees 0..360 of an angle in rad. */
export function compass(angle: number): number {
  const degrees = (angle * 180) / Math.PI;
  return ((degrees % 360) + 360) % 360;
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function eastScale(origin: GeoPoint): number {
  return Math.max(0.01, Math.cos((origin.lat * Math.PI) / 180));
}
