/** A raw value in its unit, or null where it is MAVLink's mark for "unknown". */
export function scaled(raw: number, unknown: number, divisor: number): number | null {
  return raw === unknown ? null : raw / divisor;
}

/** NaN is MAVLink's "unknown" float; an infinity is no measurement either, and JSON has neither. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
