import { type FlightPhase, flightPhase, isFlightPhase } from '../flight/phase.ts';
import { type JsonObject, recordOf } from '../member.ts';

/** What a node does now, and what of it a person must look at: the same for the hub, which counts, and for its page. */

/** `unknown`: it is online, and does not say. `away`: the hub does not hear it. */
export type Phase = 'flying' | 'armed' | 'ground' | 'unknown' | 'away';
export type Attention = 'alarm' | 'wasArmed' | 'armedUnknown' | 'lowBattery' | 'silent';

/** A status comes at least every 10 s; what is older is not the present, s. */
export const STALE_S = 30;
/** Percent, as on the page to fly by. */
const LOW = 30;

/** What a status says, as far as lists show it. What the node did not say, or not in the form agreed, is null. */
export interface StatusFacts {
  readonly armed: boolean | 'unknown' | null;
  readonly flight: FlightPhase;
  readonly connected: boolean | null;
  readonly mode: string | null;
  /** Percent. */
  readonly battery: number | null;
  /** Degrees. */
  readonly place: { readonly lat: number; readonly lon: number; readonly heading: number | null } | null;
  /** Above home, m. */
  readonly height: number | null;
  readonly behind: number | null;
  /** Since the vehicle was heard when the status was made, s. */
  readonly silence: number;
}

/** Of a node, beside its status. */
export interface Standing {
  readonly online: boolean;
  readonly alarm: string | null;
  /** When the hub got its status, ms since 1970; null: never, or since when is not known. */
  readonly status_at?: number | null;
}

function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

/** Null for a number that is none, or no degrees. */
function within(value: unknown, most: number): number | null {
  const found = numberOr(value, null);
  return found === null || Math.abs(found) > most ? null : found;
}

/** Of the body of `NodeStatus` (told.ts), of which nothing is believed. */
export function factsOf(status: JsonObject | null): StatusFacts {
  const { armed: told, fc_connected: connected, mode, ...said } = recordOf(status);
  const armed = typeof told === 'boolean' || told === 'unknown' ? told : null;
  const { lat, lon, heading, relative_alt_m: height } = recordOf(said['position']);
  const phase = said['flight_phase'];
  const [north, east] = [within(lat, 90), within(lon, 180)];
  return {
    armed,
    // A node of 1.0 does not say it.
    flight: isFlightPhase(phase)
      ? phase
      : flightPhase({ armed, landed: null, height: numberOr(height, null) }),
    connected: typeof connected === 'boolean' ? connected : null,
    mode: typeof mode === 'string' ? mode : null,
    battery: numberOr(said['battery_percent'], null),
    place:
      north === null || east === null ? null : { lat: north, lon: east, heading: numberOr(heading, null) },
    height: numberOr(height, null),
    behind: numberOr(said['events_behind'], null),
    silence: numberOr(said['fc_heartbeat_age_s'], 0),
  };
}

/** s since the status was told, by the hub's clock; null: none, or since when is not known. */
export function toldSince({ status_at: at }: Standing, now: number): number | null {
  return at === null || at === undefined ? null : Math.max(0, (now - at) / 1000);
}

/** Told of lately by a node that is online. @param age s; of the status, or of what the vehicle said in it */
export function isPresent(online: boolean, age: number | null): boolean {
  return online && age !== null && age <= STALE_S;
}

/** @param now the hub's clock, ms since 1970 */
export function phaseOf(node: Standing, { armed, flight }: StatusFacts, now: number): Phase {
  if (!node.online) return 'away';
  if (typeof armed !== 'boolean' || !isPresent(true, toldSince(node, now))) return 'unknown';
  if (!armed) return 'ground';
  return flight === 'in_air' ? 'flying' : 'armed';
}

/** The gravest of what is the matter; null: nothing. @param now the hub's clock, ms since 1970 */
export function attentionOf(
  node: Standing,
  { armed, battery, silence }: StatusFacts,
  now: number,
): Attention | null {
  if (node.alarm !== null) return 'alarm';
  const told = toldSince(node, now);
  const present = isPresent(node.online, told);
  if (!present && armed === true) return 'wasArmed';
  if (armed === 'unknown') return 'armedUnknown';
  const isFresh = told !== null && isPresent(node.online, told + silence);
  if (isFresh && armed === true && battery !== null && battery < LOW) return 'lowBattery';
  return node.online && !present ? 'silent' : null;
}

const GRAVITY: Readonly<Record<Attention, number>> = {
  alarm: 0,
  wasArmed: 1,
  armedUnknown: 2,
  lowBattery: 3,
  silent: 4,
};
const AFTER: Readonly<Record<Phase, number>> = { flying: 5, armed: 6, unknown: 7, ground: 8, away: 9 };

/** What a person should see first, the lower the sooner. @param now the hub's clock, ms since 1970 */
export function urgencyOf(node: Standing, facts: StatusFacts, now: number): number {
  const attention = attentionOf(node, facts, now);
  return attention === null ? AFTER[phaseOf(node, facts, now)] : GRAVITY[attention];
}

/** Which nodes a list shows. `armed`: also those of which it is not known, whose motors may be running. */
export const NODE_STATES = ['online', 'offline', 'armed', 'ground', 'attention', 'alarm'] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** @param now the hub's clock, ms since 1970 */
export function isIn(state: NodeState, node: Standing, facts: StatusFacts, now: number): boolean {
  switch (state) {
    case 'online':
      return node.online;
    case 'offline':
      return !node.online;
    case 'armed':
      return facts.armed === true || facts.armed === 'unknown';
    case 'ground':
      return phaseOf(node, facts, now) === 'ground';
    case 'attention':
      return attentionOf(node, facts, now) !== null;
    case 'alarm':
      return node.alarm !== null;
  }
}

export const NODE_ORDERS = ['id', 'name', 'attention', 'oldest', 'newest', 'battery'] as const;
