import { type GeoPoint, toLocal } from '../flight/geo.ts';

/** Where the demo's vehicle stands: the field in Canberra where ArduPilot's own simulator starts. Heading in degrees. */
export const SIM_HOME = { lat: -35.3632621, lon: 149.1652374, alt: 584, heading: 353 } as const;

/** A home so near to it counts as the demo's: its map stays where it is. */
const DEMO_M = 5000;
/** The landscape goes with the vehicle when it is further away from it. */
const LEFT_M = 20_000;

type Place = Pick<GeoPoint, 'lat' | 'lon'>;

/**
 * Where the landscape lies: below the demo's vehicle in its own place, so that its map agrees with the picture, and below any other
 * vehicle at the home that it told first. A home that is set anew in flight does not move it.
 */
export class LandscapePlace {
  #at: Place = SIM_HOME;
  #isFound = false;

  /** @returns metres east and north of the pad */
  locate(position: Place, home: Place | null): { readonly e: number; readonly n: number } {
    if (!this.#isFound || distance(this.#at, position) > LEFT_M) {
      const wanted = home !== null && distance(home, position) <= LEFT_M ? home : position;
      this.#at = distance(SIM_HOME, wanted) <= DEMO_M ? SIM_HOME : wanted;
      // Before it tells of a home, its first place stands in.
      this.#isFound = home !== null || this.#at === SIM_HOME;
    }
    return offset(this.#at, position);
  }
}

function offset(from: Place, to: Place): { readonly e: number; readonly n: number } {
  // The short way round.
  const lon = to.lon - 360 * Math.round((to.lon - from.lon) / 360);
  const { e, n } = toLocal({ ...from, alt: 0 }, { lat: to.lat, lon, alt: 0 });
  return { e, n };
}

function distance(from: Place, to: Place): number {
  const { e, n } = offset(from, to);
  return Math.hypot(e, n);
}
