import type { FlightReport } from '../schemas/flight-report.ts';

/** The kind of the event that a node makes of each flight, after it. */
export const FLIGHT_KIND = 'flight';
/** Of the event's detail as JSON: below what a broker, the queue of a node and a hub take. */
export const MAX_FLIGHT_BYTES = 60 * 1024;
export const MAX_TRACK_POINTS = 2000;
export const MAX_LISTED = 50;

/** Of a flight. */
export const MAX_FLIGHT_FILES = 32;
/** The kind of the event that a node makes of each file once it is uploaded. */
export const UPLOAD_KIND = 'upload';
/** How the names of files begin that svc-fleet tells as such; the others are flights. */
export const UPLOAD_FILE = 'upload-';
/** As `upload.kinds`. */
export const UPLOAD_KINDS = ['tlogs', 'recordings', 'flight-logs'] as const;

export interface UploadDetail {
  readonly kind: (typeof UPLOAD_KINDS)[number];
  readonly name: string;
  /** Where the store has it; whoever reads it there needs the store's permission. */
  readonly url: string;
  readonly bytes: number;
  /** ms since 1970, by the node's clock. */
  readonly uploaded_at: number;
  /** When the vehicle wrote its own log last, ms since 1970; null: another file, or it does not know. */
  readonly logged_at: number | null;
}

/** s since arming, degrees, m above home (null: not measured). */
export type TrackPoint = readonly [s: number, lat: number, lon: number, height: number | null];

/** From arming to disarming. What was not measured is null. */
export interface FlightDetail {
  /** The same for the same flight, however often it is told: of the node's telemetry log, and which flight of it. */
  readonly flight: string;
  /** ms since 1970, by the node's clock; where that was set in flight, as it was then. */
  readonly started_at: number;
  readonly ended_at: number;
  /** By the monotonic clock. */
  readonly armed_s: number;
  readonly airborne_s: number | null;
  readonly distance_m: number | null;
  readonly max_height_m: number | null;
  readonly max_speed_ms: number | null;
  readonly battery: {
    readonly used_mah: number | null;
    readonly start_v: number | null;
    readonly end_v: number | null;
  };
  /** Firmware and version. */
  readonly vehicle: string | null;
  /** As in a flight report; s since arming. */
  readonly modes: FlightReport['modes'];
  /** Who commanded, had the sticks or sent set-points, as the node's audit names them; null: nobody has seen who. */
  readonly pilots: readonly string[] | null;
  readonly findings: FlightReport['findings'];
  /** The telemetry log that it was read from, of GET /api/tlogs. */
  readonly log: string;
  /** What the node has of this flight: its telemetry logs, and the recordings that ran, as far as anybody has seen. */
  readonly files: readonly Pick<UploadDetail, 'kind' | 'name'>[];
  /** Null: turned off, or no position came. */
  readonly track: readonly TrackPoint[] | null;
}
