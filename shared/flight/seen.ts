/** What `GET /api/telemetry` says of the vehicle, as far as a wait needs it. Null: never received. */
import { recordOf } from '../member.ts';
import { knownHeight, knownPlace } from './known-place.ts';
import { type FlightPhase, flightPhase } from './phase.ts';

export interface Place {
  /** Degrees, WGS 84. */
  readonly lat: number;
  readonly lon: number;
}

export interface SeenVehicle {
  /** Whether anything of the vehicle comes. */
  readonly alive: boolean;
  readonly armed: boolean | null;
  readonly mode: string | null;
  /** Null also where the vehicle has lost its position. */
  readonly place: Place | null;
  readonly home: Place | null;
  /** Metres above home. */
  readonly altitude: number | null;
  /** on_ground, in_air, takeoff, landing; not every firmware says. */
  readonly landed: string | null;
  readonly phase: FlightPhase;
  /** m/s */
  readonly speed: number | null;
  /** Percent. */
  readonly battery: number | null;
  /** MAV_AUTOPILOT */
  readonly autopilot: number | null;
  /** MAV_TYPE */
  readonly type: number | null;
}

export function seenIn(telemetry: unknown): SeenVehicle {
  const body = recordOf(telemetry);
  const position = recordOf(body['position']);
  const armed = typeof body['armed'] === 'boolean' ? body['armed'] : null;
  const altitude = numberOf(position['alt_rel']);
  const landed = textOf(body['landed_state']);
  return {
    alive: body['mavlink_alive'] === true,
    armed,
    mode: textOf(body['mode']),
    place: knownPlace(position),
    home: knownPlace(recordOf(body['home'])),
    altitude,
    landed,
    phase: flightPhase({ armed, landed, height: knownHeight(position) }),
    speed: numberOf(recordOf(body['velocity'])['groundspeed']),
    battery: numberOf(recordOf(body['battery'])['remaining']),
    autopilot: numberOf(body['autopilot']),
    type: numberOf(body['mav_type']),
  };
}

/** One line for a person. @param goal adds the distance to it */
export function stateLine(seen: SeenVehicle | null, goal: Place | null = null): string {
  if (seen === null) return 'nothing was received';
  const { mode, armed, landed, altitude, place, speed, battery } = seen;
  const far = goal === null || place === null ? null : metresBetween(place, goal);
  const parts = [
    mode ?? 'mode unknown',
    armed === null ? 'arming unknown' : armed ? 'armed' : 'disarmed',
    landed?.replace('_', ' '),
    altitude === null ? null : `${altitude.toFixed(1)} m above home`,
    far === null ? null : `${far.toFixed(1)} m from the place`,
    speed === null ? null : `${speed.toFixed(1)} m/s`,
    battery === null ? null : `battery ${battery} %`,
  ];
  return parts.filter((part) => part !== null && part !== undefined).join(', ');
}

const EARTH_M = 6_371_000;

/** Over the ground, metres. */
export function metresBetween(a: Place, b: Place): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const [latA, latB] = [radians(a.lat), radians(b.lat)];
  const half =
    Math.sin((latB - latA) / 2) ** 2 +
    Math.cos(latA) * Math.cos(latB) * Math.sin(radians(b.lon - a.lon) / 2) ** 2;
  return 2 * EARTH_M * Math.asin(Math.min(1, Math.sqrt(half)));
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
