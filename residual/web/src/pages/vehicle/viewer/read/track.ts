import type { FieldId, LogSummary } from './summary.ts';

/** Where the vehicle was: times, and degrees. */
export interface Track {
  readonly times: Float64Array;
  readonly lats: Float64Array;
  readonly lons: Float64Array;
}

interface Source {
  readonly group: RegExp;
  readonly lat: string;
  readonly lon: string;
  readonly scale: number;
}

const MAX_PLACES = 2000;
/** The best first: what the estimator says, then what the receiver does. */
const SOURCES: readonly Source[] = [
  { group: /^POS$/, lat: 'Lat', lon: 'Lng', scale: 1 },
  { group: /^GPS(?:\[0\])?$/, lat: 'Lat', lon: 'Lng', scale: 1 },
  { group: /^vehicle_global_position$/, lat: 'lat', lon: 'lon', scale: 1 },
  { group: /^vehicle_gps_position$/, lat: 'latitude_deg', lon: 'longitude_deg', scale: 1 },
  { group: /^vehicle_gps_position$/, lat: 'lat', lon: 'lon', scale: 1e-7 },
  { group: /^GLOBAL_POSITION_INT /, lat: 'lat', lon: 'lon', scale: 1e-7 },
  { group: /^GPS_RAW_INT /, lat: 'lat', lon: 'lon', scale: 1e-7 },
];

/** Of the first source that has a place. @param columnOf all values of a field */
export function trackOf(
  groups: LogSummary['groups'],
  columnOf: (id: FieldId) => { readonly times: Float64Array; readonly values: Float64Array },
): Track | null {
  for (const { group, lat, lon, scale } of SOURCES)
    for (const [at, { name, fields }] of groups.entries()) {
      if (!group.test(name)) continue;
      const [latAt, lonAt] = [lat, lon].map((column) => fields.findIndex((field) => field.name === column));
      if (latAt === undefined || lonAt === undefined || latAt < 0 || lonAt < 0) continue;
      const { times, values: lats } = columnOf({ group: at, field: latAt });
      const track = thinnedTrack(times, lats, columnOf({ group: at, field: lonAt }).values, scale);
      if (track.times.length > 0) return track;
    }
  return null;
}

function thinnedTrack(times: Float64Array, lats: Float64Array, lons: Float64Array, scale: number): Track {
  const rows: number[] = [];
  const step = Math.max(1, times.length / MAX_PLACES);
  for (let next = 0; next < times.length; next += step) {
    const row = Math.floor(next);
    if (isPlace((lats[row] ?? Number.NaN) * scale, (lons[row] ?? Number.NaN) * scale)) rows.push(row);
  }
  return {
    times: Float64Array.from(rows, (row) => times[row] ?? 0),
    lats: Float64Array.from(rows, (row) => (lats[row] ?? 0) * scale),
    lons: Float64Array.from(rows, (row) => (lons[row] ?? 0) * scale),
  };
}

function isPlace(lat: number, lon: number): boolean {
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && !(lat === 0 && lon === 0);
}
