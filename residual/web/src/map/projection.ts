/** Web Mercator as MapLibre has it: the world is 512 px wide at zoom 0. */

export interface Place {
  /** Degrees. */
  readonly lat: number;
  readonly lon: number;
}

export interface View extends Place {
  readonly zoom: number;
  /** What is up, degrees from north, clockwise; not given: north. */
  readonly bearing?: number;
}

export interface Point {
  /** Pixels from the top left corner of the map. */
  readonly x: number;
  readonly y: number;
}

export const ZOOM = { min: 1, max: 21 } as const;
const TILE_PX = 512;
// Beyond it Web Mercator ends.
const MAX_LAT = 85.05;
const EQUATOR_M = 40_075_016.7;
const EARTH_M = 6_371_000;
const RADIAN = Math.PI / 180;

export class Projection {
  readonly view: View;
  readonly width: number;
  readonly height: number;
  /** Of the whole world. */
  readonly worldPx: number;
  readonly #centre: Point;
  readonly #cos: number;
  readonly #sin: number;

  constructor(view: View, width: number, height: number) {
    this.view = view;
    this.width = width;
    this.height = height;
    this.worldPx = TILE_PX * 2 ** view.zoom;
    this.#centre = worldOf(view);
    this.#cos = Math.cos(this.bearing * RADIAN);
    this.#sin = Math.sin(this.bearing * RADIAN);
  }

  /** Degrees from north, clockwise, of what is up. */
  get bearing(): number {
    return this.view.bearing ?? 0;
  }

  /** Of the copies of the world that lie side by side, the one nearest to the middle of the map. */
  toScreen(place: Place): Point {
    const { x, y } = worldOf(place);
    const dx = x - this.#centre.x;
    return this.worldToScreen(dx - Math.round(dx) + this.#centre.x, y);
  }

  /** @param x 0 at 180° west to 1 at 180° east, beyond it: the copies beside the world. @param y 0 at the north to 1 at the south */
  worldToScreen(x: number, y: number): Point {
    const east = (x - this.#centre.x) * this.worldPx;
    const south = (y - this.#centre.y) * this.worldPx;
    return {
      x: east * this.#cos + south * this.#sin + this.width / 2,
      y: south * this.#cos - east * this.#sin + this.height / 2,
    };
  }

  toPlace(point: Point): Place {
    const right = point.x - this.width / 2;
    const down = point.y - this.height / 2;
    const x = this.#centre.x + (right * this.#cos - down * this.#sin) / this.worldPx;
    const y = this.#centre.y + (down * this.#cos + right * this.#sin) / this.worldPx;
    const lat = Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) / RADIAN;
    return { lat: Math.max(-MAX_LAT, Math.min(MAX_LAT, lat)), lon: (x - Math.floor(x)) * 360 - 180 };
  }

  /** Whether a point is in the picture. */
  holds({ x, y }: Point): boolean {
    return x >= 0 && y >= 0 && x <= this.width && y <= this.height;
  }

  /** Length of a pixel at the middle of the map, m. */
  get metresPerPixel(): number {
    return (EQUATOR_M * Math.cos(this.view.lat * RADIAN)) / this.worldPx;
  }

  /** The view with this place at that point of the picture. */
  viewWith(place: Place, { x, y }: Point): View {
    const at = this.toScreen(place);
    const centre = this.toPlace({ x: this.width / 2 + at.x - x, y: this.height / 2 + at.y - y });
    return { ...this.view, ...centre };
  }
}

/** Where a place is in the world, 0 to 1 from west to east and from north to south. */
export function worldOf({ lat, lon }: Place): Point {
  const phi = Math.max(-MAX_LAT, Math.min(MAX_LAT, lat)) * RADIAN;
  return { x: (lon + 180) / 360, y: (1 - Math.asinh(Math.tan(phi)) / Math.PI) / 2 };
}

/** The CSS transform that lays what was drawn by one projection where it belongs in another. Both turn about their middles. */
export function carry(drawn: Projection, live: Projection): string {
  const { x, y } = live.toScreen(drawn.view);
  const dx = x - live.width / 2;
  const dy = y - live.height / 2;
  return `translate(${dx.toFixed(2)}px,${dy.toFixed(2)}px) rotate(${turn(live.bearing, drawn.bearing).toFixed(3)}deg) scale(${(live.worldPx / drawn.worldPx).toFixed(5)})`;
}

/** The shorter way from one direction to another, -180 to 180 degrees. */
export function turn(from: number, to: number): number {
  return ((((to - from + 180) % 360) + 360) % 360) - 180;
}

export function isSameView(a: View, b: View): boolean {
  return a.lat === b.lat && a.lon === b.lon && a.zoom === b.zoom && (a.bearing ?? 0) === (b.bearing ?? 0);
}

/** Along the great circle, m. */
export function distance(a: Place, b: Place): number {
  const dLat = (b.lat - a.lat) * RADIAN;
  const dLon = (b.lon - a.lon) * RADIAN;
  const h =
    Math.sin(dLat / 2) ** 2 + Math.cos(a.lat * RADIAN) * Math.cos(b.lat * RADIAN) * Math.sin(dLon / 2) ** 2;
  return 2 * EARTH_M * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** From the first to the second, degrees from north, 0 to 360. */
export function bearing(a: Place, b: Place): number {
  const dLon = (b.lon - a.lon) * RADIAN;
  const y = Math.sin(dLon) * Math.cos(b.lat * RADIAN);
  const x =
    Math.cos(a.lat * RADIAN) * Math.sin(b.lat * RADIAN) -
    Math.sin(a.lat * RADIAN) * Math.cos(b.lat * RADIAN) * Math.cos(dLon);
  return (Math.atan2(y, x) / RADIAN + 360) % 360;
}

/** A view with all these places in it, north up; null for none. */
export function viewOf(places: readonly Place[], width: number, height: number): View | null {
  const [first] = places;
  if (first === undefined) return null;
  const lats = places.map(({ lat }) => lat);
  // Beside the first, so that what lies on both sides of 180° is near each other.
  const lons = places.map(({ lon }) => first.lon + turn(first.lon, lon));
  const centre = {
    lat: (Math.min(...lats) + Math.max(...lats)) / 2,
    lon: turn(0, (Math.min(...lons) + Math.max(...lons)) / 2),
  };
  for (let zoom = 18; zoom > ZOOM.min; zoom -= 0.5) {
    const projection = new Projection({ ...centre, zoom }, width, height);
    const fits = places.every((place) => {
      const { x, y } = projection.toScreen(place);
      return x > width * 0.1 && x < width * 0.9 && y > height * 0.1 && y < height * 0.9;
    });
    if (fits) return { ...centre, zoom };
  }
  return { ...centre, zoom: ZOOM.min };
}
