/** What an area is, in the words of a person: a place, how far around it, and how much is to be seen. */

/** Zooms up to: roads and villages, houses and trees, all that there is. */
export const DETAILS = ['region', 'field', 'all'] as const;
export type Detail = (typeof DETAILS)[number];

const HIGHEST: Readonly<Record<Detail, number>> = { region: 14, field: 17, all: 22 };
/** The view from afar costs next to nothing. */
const LOWEST = 8;
const KM_PER_DEGREE = 111.32;
const MAX_LAT = 85;

/** West, south, east, north of a square around `lat, lon`, degrees; null while that is no place, or no size. */
export function areaBounds(place: string, radiusKm: number): [number, number, number, number] | null {
  const [, latText, lonText] =
    /^\s*(-?\d{1,2}(?:\.\d+)?)\s*[,; ]\s*(-?\d{1,3}(?:\.\d+)?)\s*$/.exec(place) ?? [];
  const lat = Number(latText);
  const lon = Number(lonText);
  if (!(Math.abs(lat) <= MAX_LAT && Math.abs(lon) <= 180 && radiusKm > 0 && radiusKm <= 1000)) return null;
  const up = radiusKm / KM_PER_DEGREE;
  const aside = Math.min(179, up / Math.cos((lat * Math.PI) / 180));
  return [wrapped(lon - aside), Math.max(-90, lat - up), wrapped(lon + aside), Math.min(90, lat + up)];
}

/** Across the antimeridian, west is greater than east. */
function wrapped(lon: number): number {
  return lon < -180 ? lon + 360 : lon > 180 ? lon - 360 : lon;
}

export function zoomsOf(
  { min_zoom: least, max_zoom: most }: { readonly min_zoom: number; readonly max_zoom: number },
  detail: Detail,
): { readonly min_zoom: number; readonly max_zoom: number } {
  const highest = Math.max(least, Math.min(most, HIGHEST[detail]));
  return { min_zoom: Math.min(highest, Math.max(least, LOWEST)), max_zoom: highest };
}
