import type { Armed } from '../flight/armed.ts';
import type { JsonObject } from '../member.ts';
import type { Profile } from '../profile.ts';

/** What a node tells the fleet, as JSON in UTF-8. `at` is its wall clock, ms since 1970, which may be wrong. */

export interface Presence {
  readonly online: boolean;
  /** Of one connection of one process: another one at the broker is another machine, or the one before. */
  readonly session: string;
  readonly at: number;
  readonly version: string;
  readonly profile: Profile;
  readonly name: string;
}

/** The body of GET /api/status (its other members are there too), and what a list of nodes shows. */
export interface NodeStatus {
  readonly at: number;
  readonly armed: Armed;
  readonly fc_connected: boolean;
  /** Since the vehicle's newest heartbeat, seconds. */
  readonly fc_heartbeat_age_s: number | null;
  readonly mode: string | null;
  readonly battery_percent: number | null;
  readonly position: Position | null;
  /** For the next call, see `CallStatement`. */
  readonly nonce: string;
  /** Number and hash of the newest audit record on the node's disk: the hub notices when they go back. */
  readonly audit_head: { readonly seq: number; readonly hash: string } | null;
  /** Events that the hub has not acknowledged. */
  readonly events_behind: number;
}

export interface Position {
  readonly lat: number;
  readonly lon: number;
  /** Above sea level and above home, m. */
  readonly alt_m: number | null;
  readonly relative_alt_m: number | null;
  /** Degrees from true north. */
  readonly heading: number | null;
}

export interface FleetEvent {
  /** Made with the queue on disk, so numbers of another one are never mixed up. */
  readonly stream: string;
  /** Rises by at least one; a gap is what a full queue has dropped. */
  readonly seq: number;
  readonly at: number;
  /** `vehicle.armed`, `vehicle.disarmed`, `vehicle.mode`, `vehicle.connected`, `vehicle.lost`, `vehicle.message`, `node.started`, `telemetry` (kept while offline), … */
  readonly kind: string;
  readonly detail: JsonObject;
}

/** The longest reply that a node sends, bytes of the JWS; more is answered with 413. */
export const MAX_REPLY_BYTES = 256 * 1024;
/** The longest call that a node reads, bytes of the JWS. */
export const MAX_CALL_BYTES = 256 * 1024;
/** The longest message at the broker, bytes with its topic: a policy that names 10 000 ended credentials, each by the longest id. */
export const MAX_PACKET_BYTES = 600_000;
/** Of a PUBLISH of MQTT 5 (3.3.2.3.3): a broker keeps it no longer than its sender waits, ms. */
export function callExpiry(ms: number): { readonly messageExpiryInterval: number } {
  return { messageExpiryInterval: Math.max(1, Math.ceil(ms / 1000)) };
}

/** The longest picture that a node sends, bytes of the JPEG, and its width, pixels. */
export const MAX_PICTURE_BYTES = 64 * 1024;
export const PICTURE_WIDTH = 320;
