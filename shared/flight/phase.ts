/** Where a vehicle is between two landings: the same for node, hub, pages, CLI and connector. */

/** `armed`: its motors are on, and nobody knows whether it stands. `unknown`: not known whether it is armed. */
export const FLIGHT_PHASES = ['disarmed', 'on_ground', 'armed', 'in_air', 'unknown'] as const;
export type FlightPhase = (typeof FLIGHT_PHASES)[number];

/** A vehicle that says nothing of landing, so many metres from home's height, has left the ground. */
const LEFT_M = 2;

export interface PhaseFacts {
  readonly armed: boolean | 'unknown' | null;
  /** EXTENDED_SYS_STATE.landed_state in lower case; null: not every firmware says. */
  readonly landed: string | null;
  /** Above home, m; null: not known. */
  readonly height: number | null;
}

/** What takes off or lands is in the air. A disarmed vehicle has no thrust, wherever it is. */
export function flightPhase({ armed, landed, height }: PhaseFacts): FlightPhase {
  if (typeof armed !== 'boolean') return 'unknown';
  if (!armed) return 'disarmed';
  if (landed !== null) return landed === 'on_ground' ? 'on_ground' : 'in_air';
  return height !== null && Math.abs(height) >= LEFT_M ? 'in_air' : 'armed';
}

/** For a line of text. */
export const PHASE_TEXT: Readonly<Record<FlightPhase, string>> = {
  disarmed: 'disarmed',
  on_ground: 'ARMED, on the ground',
  armed: 'ARMED',
  in_air: 'ARMED, in the air',
  unknown: 'not known whether it is armed',
};

export function isFlightPhase(value: unknown): value is FlightPhase {
  return FLIGHT_PHASES.some((each) => each === value);
}
