import { type GeoPoint, toGeo } from '../../../shared/flight/geo.ts';

const LAP_S = 1000;
const ROUND_MS = 1000;

/** Another aircraft. Speeds in m/s, heading in degrees. */
export interface Aircraft extends GeoPoint {
  readonly icao: number;
  readonly callsign: string;
  readonly heading: number;
  readonly speed: number;
}

/** Aircraft that circle around a point, the first 1 km away and 100 m up, each next one further out and higher. */
export class AirTraffic {
  readonly #centre: GeoPoint;
  readonly #count: number;
  #next = 0;
  #roundAt = -Infinity;

  constructor(centre: GeoPoint, count: number) {
    this.#centre = centre;
    this.#count = count;
  }

  /** Goes through the list once a second, as ArduPilot does. @param now ms @returns undefined: nothing is due */
  next(now: number): Aircraft | undefined {
    if (this.#next >= this.#count) {
      if (now - this.#roundAt < ROUND_MS) return undefined;
      this.#next = 0;
    }
    if (this.#count === 0) return undefined;
    if (this.#next === 0) this.#roundAt = now;
    return this.#at(this.#next++, now);
  }

  #at(index: number, now: number): Aircraft {
    const radius = 1000 + 500 * index;
    const bearing = ((now / 1000 / LAP_S) % 1) * 2 * Math.PI + index;
    const place = { n: radius * Math.cos(bearing), e: radius * Math.sin(bearing), u: 100 + 50 * index };
    return {
      ...toGeo(this.#centre, place),
      icao: 0x7c_0001 + index,
      callsign: `SIM${index + 1}`,
      heading: ((bearing * 180) / Math.PI + 90) % 360,
      speed: (2 * Math.PI * radius) / LAP_S,
    };
  }
}
