/** What may be taken for true of the `position` that telemetry has: of a lost one, nothing. Members that are no numbers are not known. */

interface Told {
  readonly lat?: unknown;
  readonly lon?: unknown;
  readonly alt_rel?: unknown;
  readonly state?: unknown;
}

/** Degrees, WGS 84; null: not known, or where it was before it lost its position. */
export function knownPlace({ lat, lon, state }: Told = {}): {
  readonly lat: number;
  readonly lon: number;
} | null {
  return state !== 'lost' && typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : null;
}

/** Metres above home, for what is decided by it: a vehicle that does not know where it is does not know how high it is. */
export function knownHeight({ alt_rel: height, state }: Told = {}): number | null {
  return state !== 'lost' && typeof height === 'number' ? height : null;
}
