/** Web Mercator as MapLibre has it: the world is 512 px wide at zoom 0. */

export interface Place {
  /** Degrees. */
  readonly lat: number;
  readonly lon: number;
}

export interface View extends Place {
  readonly zoom: number;
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
  readonly #width: number;
  readonly #height: number;
  readonly #worldPx: number;
  readonly #centre: Point;

  constructor(view: View, width: number, height: number) {
    this.view = view;
    this.#width = width;
    this.#height = height;
    this.#worldPx = TILE_PX * 2 ** view.zoom;
    this.#centre = this.#world(view);
  }

  toScreen(place: Place): Point {
    const { x, y } = this.#world(place);
    return { x: x - this.#centre.x + this.#width / 2, y: y - this.#centre.y + this.#height / 2 };
  }

  toPlace({ x, y }: Point): Place {
    const wx = (this.#centre.x + x - this.#width / 2) / this.#worldPx;
    const wy = (this.#centre.y + y - this.#height / 2) / this.#worldPx;
    return { lat: Math.atan(Math.sinh(Math.PI * (1 - 2 * wy))) / RADIAN, lon: wx * 360 - 180 };
  }

  /** Whether a point is in the picture. */
  holds({ x, y }: Point): boolean {
    return x >= 0 && y >= 0 && x <= this.#width && y <= this.#height;
  }

  /** Length of a pixel at the middle of the map, m. */
  get metresPerPixel(): number {
    return (EQUATOR_M * Math.cos(this.view.lat * RADIAN)) / this.#worldPx;
  }

  #world({ lat, lon }: Place): Point {
    const phi = Math.max(-MAX_LAT, Math.min(MAX_LAT, lat)) * RADIAN;
    return {
      x: ((lon + 180) / 360) * this.#worldPx,
      y: ((1 - Math.asinh(Math.tan(phi)) / Math.PI) / 2) * this.#worldPx,
    };
  }
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

/** A view with all these places in it; null for none. */
export function viewOf(places: readonly Place[], width: number, height: number): View | null {
  const lats = places.map(({ lat }) => lat);
  const lons = places.map(({ lon }) => lon);
  if (places.length === 0) return null;
  const centre = {
    lat: (Math.min(...lats) + Math.max(...lats)) / 2,
    lon: (Math.min(...lons) + Math.max(...lons)) / 2,
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
