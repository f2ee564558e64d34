import {
  type FlightDetail,
  MAX_FLIGHT_BYTES,
  MAX_FLIGHT_FILES,
  MAX_LISTED,
  MAX_TRACK_POINTS,
  type TrackPoint,
} from '../../../shared/fleet/flight.ts';
import type { FlightInLog } from '../../../shared/reports/flights-in-log.ts';

interface FlightParts {
  /** The telemetry log in which it begins, and all of them. */
  readonly log: string;
  readonly logs: readonly string[];
  /** Names of recordings. */
  readonly recordings: readonly string[];
  readonly pilots: readonly string[] | null;
  readonly withTrack: boolean;
}

/** What the fleet is told of a flight: its id, its lists and its track are bounded. */
export function flightDetail(
  flight: FlightInLog,
  { log, logs, recordings, pilots, withTrack }: FlightParts,
): FlightDetail {
  const { index, armedAt, endedAt, airborne, report, track } = flight;
  const seconds = Math.max(0, endedAt - armedAt);
  const startedAt = Math.max(0, Math.round(armedAt * 1000));
  const detail: FlightDetail = {
    flight: `${log.replace(/\.tlog$/, '')}-${index + 1}`.slice(-64),
    started_at: startedAt,
    ended_at: startedAt + Math.round(seconds * 1000),
    armed_s: Number(seconds.toFixed(1)),
    airborne_s: airborne === null ? null : Number(Math.min(seconds, airborne).toFixed(1)),
    distance_m: report.distance_m,
    max_height_m: report.max.height_m,
    max_speed_ms: report.max.speed_mps,
    battery: {
      used_mah: report.battery.used_mah,
      start_v: report.battery.start,
      end_v: report.battery.end,
    },
    vehicle: report.vehicle,
    modes: report.modes.slice(0, MAX_LISTED),
    pilots,
    findings: report.findings
      .slice(0, MAX_LISTED)
      .map(({ severity, text, at_s }) => ({ severity, text, at_s })),
    log,
    files: [
      ...logs.map((name) => ({ kind: 'tlogs', name }) as const),
      ...recordings.map((name) => ({ kind: 'recordings', name }) as const),
    ].slice(0, MAX_FLIGHT_FILES),
    track: withTrack && track.length > 0 ? thinned(track, MAX_TRACK_POINTS) : null,
  };
  return fitted(detail);
}

/** The track gives way until the whole of it fits. */
function fitted(detail: FlightDetail): FlightDetail {
  const over = Buffer.byteLength(JSON.stringify(detail)) - MAX_FLIGHT_BYTES;
  if (over <= 0 || detail.track === null) return detail;
  const most = Math.floor((detail.track.length * 3) / 4);
  return fitted({ ...detail, track: most < 2 ? null : thinned(detail.track, most) });
}

/** Evenly, with the first and the last. */
function thinned(track: readonly TrackPoint[], most: number): readonly TrackPoint[] {
  if (track.length <= most) return track;
  const step = (track.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => track[Math.round(index * step)]).filter(
    (point) => point !== undefined,
  );
}
