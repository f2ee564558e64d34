// @ts-check

const METRES_PER_DEGREE = 111_320;

/**
 * @typedef {{ lat: number, lon: number }} Place degrees
 * @typedef {{ radius_m: number, height_m: number }} Fence a cylinder around home
 * @typedef {{ inside: boolean | null, distance_m: number | null, height_m: number | null, margin_m: number | null }} Status
 *   null: not known; `margin_m` is what is left to the nearer border, below 0 outside
 */

/** A fence from the configuration; what is missing or odd is as here. @type {Fence} */
const DEFAULT_FENCE = { radius_m: 300, height_m: 100 };

/**
 * @param {Readonly<Record<string, unknown>>} config
 * @returns {Fence}
 */
export function fenceOf(config) {
  const { radius_m: radius, height_m: height } = config;
  return {
    radius_m: typeof radius === 'number' && radius > 0 ? radius : DEFAULT_FENCE.radius_m,
    height_m: typeof height === 'number' && height > 0 ? height : DEFAULT_FENCE.height_m,
  };
}

/**
 * Over the ground, in metres; good to a percent at the few kilometres that matter here.
 * @param {Place} a
 * @param {Place} b
 */
export function distance(a, b) {
  const north = (b.lat - a.lat) * METRES_PER_DEGREE;
  const east = (b.lon - a.lon) * METRES_PER_DEGREE * Math.cos((a.lat * Math.PI) / 180);
  return Math.hypot(north, east);
}

/**
 * @param {Fence} fence
 * @param {Place | null} home
 * @param {(Place & { alt_rel: number }) | null} at
 * @returns {Status}
 */
export function check(fence, home, at) {
  if (home === null || at === null) return { inside: null, distance_m: null, height_m: null, margin_m: null };
  const away = distance(home, at);
  const margin = Math.min(fence.radius_m - away, fence.height_m - at.alt_rel);
  return {
    inside: margin >= 0,
    distance_m: round(away),
    height_m: round(at.alt_rel),
    margin_m: round(margin),
  };
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}

/**
 * The position in a telemetry snapshot, null when it is not complete: 0 would be a place in the sea.
 * @param {unknown} group
 * @returns {(Place & { alt_rel: number }) | null}
 */
export function positionIn(group) {
  const { lat, lon, alt_rel: height } = /** @type {Record<string, unknown>} */ (group ?? {});
  if (typeof lat !== 'number' || typeof lon !== 'number') return null;
  return { lat, lon, alt_rel: typeof height === 'number' ? height : 0 };
}
