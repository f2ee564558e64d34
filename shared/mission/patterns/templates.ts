import { type LatLon, Plane } from './plane.ts';

/** Polygons to begin with. */

const CIRCLE_CORNERS = 24;

/** @param side m @param heading of its sides, degrees */
export function square(centre: LatLon, side: number, heading = 0): readonly LatLon[] {
  return ringOf(centre, side / Math.SQRT2, 4, heading + 45);
}

/** @param radius m */
export function circle(centre: LatLon, radius: number): readonly LatLon[] {
  return ringOf(centre, radius, CIRCLE_CORNERS, 0);
}

function ringOf(centre: LatLon, radius: number, corners: number, first: number): readonly LatLon[] {
  const plane = new Plane(centre);
  return Array.from({ length: corners }, (_, at) => {
    const angle = ((first + (360 * at) / corners) * Math.PI) / 180;
    return plane.toPlace({ x: radius * Math.sin(angle), y: radius * Math.cos(angle) });
  });
}
