/** A raw value in its unit, or null where it is MAVLink's mark for "unknown". */
export function scaled(raw: number, unknown: number, divisor: number): number | null {
  return raw === unknown ? null : raw / divisor;
}

/** NaN is MAVLink's "unknown" float; an infinity is no measurement either, and JSON has neither. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** The same, and null outside of what the value can be: senders have other marks than the definition's. */
export function within(value: number, least: number, most: number): number | null {
  return value >= least && value <= most ? value : null; // NaN is neither
}

/** A heading of hundredths of a degree. 36 000 is an older mark for "unknown", 65 535 the present one. */
export function headingOf(cdeg: number): number | null {
  return cdeg < 36_000 ? cdeg / 100 : null;
}

const I16_MOST = 0x7fff;
const I32_MOST = 0x7fffffff;

/** @param raw int16; both ends of its range are marks, never measurements */
export function signed16(raw: number, divisor: number): number | null {
  return raw >= I16_MOST || raw <= -I16_MOST ? null : raw / divisor;
}

/** @param raw int32; both ends of its range are marks, never measurements */
export function signed32(raw: number, divisor: number): number | null {
  return raw >= I32_MOST || raw <= -I32_MOST ? null : raw / divisor;
}

/** degE7 around 0,0 that are no place. */
const NOWHERE_E7 = 100_000;

/**
 * Whether degE7 are a place on Earth. INT32_MAX and 0,0 are marks. Until it knows where it is, ArduPilot sends 0,0; an ArduPlane
 * reckons on from there without GPS, some metres a minute (AP_AHRS_DCM). Within a kilometre of it there is only water.
 */
export function isPlace({ lat, lon }: { readonly lat: number; readonly lon: number }): boolean {
  const onEarth = Math.abs(lat) <= 90e7 && Math.abs(lon) <= 180e7;
  return onEarth && (Math.abs(lat) > NOWHERE_E7 || Math.abs(lon) > NOWHERE_E7);
}
