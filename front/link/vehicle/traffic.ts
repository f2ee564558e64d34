import { metresBetween, type Place } from '../../../shared/flight/seen.ts';
import type { AdsbVehicle } from '../../../shared/mavlink/decode-traffic.ts';
import type { TrafficVehicle } from '../../../shared/rpc/telemetry.ts';
import { headingOf, isPlace, signed16, signed32, within } from './known.ts';

/** A vehicle on a busy approach hears hundreds; the nearest ones count. */
const KEEP = 32;
const EXPIRE_S = 30;
const U16_UNKNOWN = 0xffff;
/** ADSB_EMITTER_TYPE_POINT_OBSTACLE, the last one. */
const MOST_EMITTER = 19;
/** Four octal digits. */
const MOST_SQUAWK = 7777;

/** ADSB_FLAGS: which values are valid, and what the aircraft says of itself. */
const FLAG = {
  coordinates: 1,
  altitude: 2,
  heading: 4,
  velocity: 8,
  callsign: 16,
  squawk: 32,
  simulated: 64,
  climb: 128,
} as const;
const ALTITUDES = ['pressure', 'gnss'] as const;

interface TrafficEntry {
  readonly vehicle: Omit<TrafficVehicle, 'age_s' | 'distance_m'>;
  readonly place: Place | null;
  /** When the receiver heard it, on the clock, ms. */
  readonly at: number;
}

/** Other aircraft that the vehicle's receiver hears (ADSB_VEHICLE), the nearest 32, until 30 s after they were last heard. */
export class Traffic {
  readonly #heard = new Map<number, TrafficEntry>();

  /**
   * Takes one message.
   * @param now ms, monotonic
   * @param own where the vehicle is; null: not known
   * @returns false for one that names no aircraft
   */
  take(message: AdsbVehicle, now: number, own: Place | null): boolean {
    const { icao } = message;
    if (icao === 0) return false;
    this.#forgetOld(now);
    this.#heard.delete(icao);
    const place = placeOf(message);
    const at = now - message.silentS * 1000;
    if (now - at > EXPIRE_S * 1000) return true;
    this.#heard.set(icao, { vehicle: inUnits(message, place), place, at });
    if (this.#heard.size > KEEP) this.#dropFarthest(own);
    return true;
  }

  /** The aircraft of the last 30 s, the nearest first; those at an unknown distance last. */
  list(now: number, own: Place | null): TrafficVehicle[] {
    this.#forgetOld(now);
    return [...this.#heard.values()]
      .map((heard) => ({ heard, distance: distanceTo(heard, own) }))
      .sort((a, b) => a.distance - b.distance)
      .map(({ heard: { vehicle, at }, distance }) => ({
        ...vehicle,
        distance_m: Number.isFinite(distance) ? Math.round(distance) : null,
        age_s: Math.round((now - at) / 100) / 10,
      }));
  }

  #forgetOld(now: number): void {
    for (const [icao, { at }] of this.#heard) if (now - at > EXPIRE_S * 1000) this.#heard.delete(icao);
  }

  /** Of several at the same distance, or at none that is known, the one heard longest ago goes. */
  #dropFarthest(own: Place | null): void {
    let farthest: number | null = null;
    let most = -1;
    for (const [icao, heard] of this.#heard) {
      const distance = distanceTo(heard, own);
      if (distance <= most) continue;
      farthest = icao;
      most = distance;
    }
    if (farthest !== null) this.#heard.delete(farthest);
  }
}

/** An ICAO address as text: hexadecimal, at least six digits. */
export function icaoText(icao: number): string {
  return icao.toString(16).toUpperCase().padStart(6, '0');
}

function distanceTo({ place }: TrafficEntry, own: Place | null): number {
  return own === null || place === null ? Infinity : metresBetween(own, place);
}

function placeOf({ flags, lat, lon }: AdsbVehicle): Place | null {
  return (flags & FLAG.coordinates) !== 0 && isPlace({ lat, lon })
    ? { lat: lat / 1e7, lon: lon / 1e7 }
    : null;
}

/** @returns in the API's units; null for what its flags, or the range of the value, call invalid */
function inUnits(message: AdsbVehicle, place: Place | null): TrafficEntry['vehicle'] {
  const { icao, flags, altitude, heading, horizontalSpeed, verticalSpeed, squawk, emitter } = message;
  const valid = (flag: number): boolean => (flags & flag) !== 0;
  const callsign = message.callsign.replaceAll(/[^\x20-\x7e]/g, '').trim();
  const metres = valid(FLAG.altitude) ? signed32(altitude, 1000) : null;
  const speed = valid(FLAG.velocity) && horizontalSpeed !== U16_UNKNOWN ? horizontalSpeed / 100 : null;
  const climb = valid(FLAG.climb) ? signed16(verticalSpeed, 100) : null;
  return {
    icao: icaoText(icao),
    callsign: valid(FLAG.callsign) && callsign !== '' ? callsign : null,
    squawk: valid(FLAG.squawk) ? within(squawk, 0, MOST_SQUAWK) : null,
    emitter: within(emitter, 1, MOST_EMITTER),
    lat: place?.lat ?? null,
    lon: place?.lon ?? null,
    alt_m: metres,
    alt_type: metres !== null ? (ALTITUDES[message.altitudeType] ?? null) : null,
    heading_deg: valid(FLAG.heading) ? headingOf(heading) : null,
    speed_mps: speed,
    climb_mps: climb,
    speed_ms: speed,
    climb_ms: climb,
    simulated: valid(FLAG.simulated),
  };
}
