import {
  type FlightDetail,
  MAX_FLIGHT_FILES,
  MAX_LISTED,
  MAX_TRACK_POINTS,
  type TrackPoint,
  UPLOAD_KINDS,
} from '../../../shared/fleet/flight.ts';
import { isOneOf, type JsonObject, listOf, memberOf } from '../../../shared/member.ts';
import { plainText } from '../../../shared/plain-text.ts';
import { isFileName } from './uploads.ts';

/** As every id of the hub's paths. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_TEXT = 300;
const MAX_NAME = 64;
const MAX_PILOTS = 16;
/** The year 10000: what is no date at all is no flight. */
const MAX_TIME = 253_402_300_799_999;
const DAY_S = 24 * 3600;
/** What no vehicle of these does; more is a fault of measurement, and not kept. */
const MOST = {
  armed_s: 30 * DAY_S,
  distance_m: 1e7,
  height_m: 1e5,
  speed_ms: 1e4,
  used_mah: 1e7,
  volts: 1e4,
} as const;
/** The worst last. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;

type Severity = (typeof SEVERITIES)[number];

/** A flight as a node has told it, each member checked. */
export interface ToldFlight extends Omit<FlightDetail, 'battery' | 'log'> {
  readonly battery: FlightDetail['battery'] & {
    /** Which one it was; null: nobody knows. */
    readonly id: string | null;
  };
  readonly log: string | null;
  readonly worst: Severity | null;
}

/**
 * Takes what a node says of a flight; it may say anything. A member that cannot be is null, or left out of its list. A flight of the
 * future, by more than a day, has ended when the hub heard of it, and has a finding that says so: else it would be the newest for ever.
 * @param heardAt ms since 1970
 * @returns null where it does not say which flight it was, when, or how long
 */
export function toldFlight(detail: JsonObject, heardAt: number): ToldFlight | null {
  const flight = memberOf(detail, 'flight');
  const saidStart = timeOf(memberOf(detail, 'started_at'));
  const saidEnd = timeOf(memberOf(detail, 'ended_at'));
  const armed = numberOf(memberOf(detail, 'armed_s'), 0, MOST.armed_s);
  if (typeof flight !== 'string' || !ID.test(flight)) return null;
  if (saidStart === null || saidEnd === null || armed === null) return null;
  const isAhead = Math.max(saidStart, saidEnd) > heardAt + DAY_S * 1000;
  const [startedAt, endedAt] = isAhead
    ? [Math.max(0, Math.round(heardAt - armed * 1000)), heardAt]
    : [saidStart, saidEnd];
  const battery = memberOf(detail, 'battery');
  const id = memberOf(battery, 'id');
  const pilots = memberOf(detail, 'pilots');
  const told = findingsOf(memberOf(detail, 'findings'));
  const findings = isAhead ? [clockAhead(saidEnd), ...told] : told;
  return {
    flight,
    started_at: startedAt,
    ended_at: endedAt,
    armed_s: armed,
    airborne_s: numberOf(memberOf(detail, 'airborne_s'), 0, MOST.armed_s),
    distance_m: numberOf(memberOf(detail, 'distance_m'), 0, MOST.distance_m),
    max_height_m: numberOf(memberOf(detail, 'max_height_m'), -MOST.height_m, MOST.height_m),
    max_speed_ms: numberOf(memberOf(detail, 'max_speed_ms'), 0, MOST.speed_ms),
    battery: {
      id: typeof id === 'string' && ID.test(id) ? id : null,
      used_mah: numberOf(memberOf(battery, 'used_mah'), 0, MOST.used_mah),
      start_v: numberOf(memberOf(battery, 'start_v'), 0, MOST.volts),
      end_v: numberOf(memberOf(battery, 'end_v'), 0, MOST.volts),
    },
    vehicle: textOf(memberOf(detail, 'vehicle'), MAX_TEXT),
    modes: modesOf(memberOf(detail, 'modes')),
    pilots: Array.isArray(pilots) ? textsOf(pilots) : null,
    findings,
    log: textOf(memberOf(detail, 'log'), MAX_TEXT),
    files: filesOf(memberOf(detail, 'files')),
    track: trackOf(memberOf(detail, 'track')),
    worst: SEVERITIES.findLast((each) => findings.some(({ severity }) => severity === each)) ?? null,
  };
}

function clockAhead(saidEnd: number): FlightDetail['findings'][number] {
  const text = `The clock of the node was ahead: it said that the flight ended at ${new Date(saidEnd).toISOString()}. The times are those at which the hub heard of it.`;
  return { severity: 'warning', text, at_s: null };
}

function timeOf(value: unknown): number | null {
  const time = numberOf(value, 0, MAX_TIME);
  return time === null ? null : Math.round(time);
}

function numberOf(value: unknown, least: number, most: number): number | null {
  return typeof value === 'number' && value >= least && value <= most ? value : null;
}

function textOf(value: unknown, most: number): string | null {
  if (typeof value !== 'string') return null;
  const text = plainText(value).slice(0, most).toWellFormed().trim();
  return text === '' ? null : text;
}

function textsOf(values: readonly unknown[]): readonly string[] {
  return values
    .slice(0, MAX_PILOTS)
    .map((value) => textOf(value, MAX_NAME))
    .filter((text) => text !== null);
}

function modesOf(value: unknown): FlightDetail['modes'] {
  return listOf(value)
    .slice(0, MAX_LISTED)
    .flatMap((each) => {
      const name = textOf(memberOf(each, 'name'), MAX_NAME);
      const from = numberOf(memberOf(each, 'from_s'), 0, MOST.armed_s);
      const to = numberOf(memberOf(each, 'to_s'), 0, MOST.armed_s);
      return name === null || from === null || to === null ? [] : [{ name, from_s: from, to_s: to }];
    });
}

function findingsOf(value: unknown): FlightDetail['findings'] {
  return listOf(value)
    .slice(0, MAX_LISTED)
    .flatMap((each) => {
      const severity = memberOf(each, 'severity');
      const text = textOf(memberOf(each, 'text'), MAX_TEXT);
      if (text === null || !isOneOf(SEVERITIES, severity)) return [];
      return [{ severity, text, at_s: numberOf(memberOf(each, 'at_s'), 0, MOST.armed_s) }];
    });
}

function filesOf(value: unknown): FlightDetail['files'] {
  return listOf(value)
    .slice(0, MAX_FLIGHT_FILES)
    .flatMap((each) => {
      const [kind, name] = [memberOf(each, 'kind'), memberOf(each, 'name')];
      return isOneOf(UPLOAD_KINDS, kind) && isFileName(name) ? [{ kind, name }] : [];
    });
}

function trackOf(value: unknown): readonly TrackPoint[] | null {
  const points = listOf(value)
    .slice(0, MAX_TRACK_POINTS)
    .flatMap((each): readonly TrackPoint[] => {
      const [s, lat, lon, height] = listOf(each);
      const [at, north, east] = [
        numberOf(s, 0, MOST.armed_s),
        numberOf(lat, -90, 90),
        numberOf(lon, -180, 180),
      ];
      if (at === null || north === null || east === null) return [];
      return [[at, north, east, numberOf(height, -MOST.height_m, MOST.height_m)]];
    });
  return points.length === 0 ? null : points;
}
