import type { Telemetry } from '../../../shared/rpc/telemetry.ts';

/** Where the vehicle is. */
export interface KnownPlace {
  /** Degrees. */
  readonly lat: number;
  readonly lon: number;
  /** m above the sea. */
  readonly alt: number;
  /** GPS_FIX_TYPE; null: not known. */
  readonly fixType: number | null;
  readonly satellites: number | null;
  readonly hdop: number | null;
}

/** An older place is none: the vehicle may be far from there. */
const MAX_AGE_S = 10;
/** From GPS_FIX_TYPE to the quality of NMEA 0183: DGPS, RTK float, RTK fixed. */
const QUALITY: ReadonlyMap<number | null, number> = new Map([
  [4, 2],
  [5, 5],
  [6, 4],
]);
const PLAIN_FIX = 1;

/** Null while the vehicle does not know where it is, or has not said so lately. */
export function placeOf({ position, gps, ages }: Telemetry): KnownPlace | null {
  const { lat, lon, alt_msl: alt } = position;
  if (lat === null || lon === null || alt === null) return null;
  if (ages.position === null || ages.position > MAX_AGE_S) return null;
  return { lat, lon, alt, fixType: gps.fix_type, satellites: gps.satellites, hdop: gps.eph };
}

/** The sentence GGA of NMEA 0183, with its line end. @param wall ms since 1970 */
export function ggaOf({ lat, lon, alt, fixType, satellites, hdop }: KnownPlace, wall: number): string {
  const time = new Date(wall).toISOString().slice(11, 22).replaceAll(':', '');
  const fields = [
    'GPGGA',
    time,
    angle(lat, 2),
    lat < 0 ? 'S' : 'N',
    angle(lon, 3),
    lon < 0 ? 'W' : 'E',
    QUALITY.get(fixType) ?? PLAIN_FIX,
    String(Math.min(satellites ?? 0, 99)).padStart(2, '0'),
    (hdop ?? 1).toFixed(1),
    alt.toFixed(1),
    'M',
    '0.0',
    'M',
    '',
    '',
  ];
  const text = fields.join(',');
  const sum = Buffer.from(text).reduce((all, byte) => all ^ byte, 0);
  return `$${text}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
}

/** Degrees and minutes, `ddmm.mmmmm`. */
function angle(degrees: number, digits: number): string {
  const parts = Math.round(Math.abs(degrees) * 60 * 1e5); // rounded once, or 59.999999 minutes would be 60
  const whole = Math.floor(parts / (60 * 1e5));
  const minutes = (parts - whole * 60 * 1e5) / 1e5;
  return String(whole).padStart(digits, '0') + minutes.toFixed(5).padStart(8, '0');
}
