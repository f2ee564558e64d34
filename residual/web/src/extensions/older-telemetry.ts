import { memberOf, recordOf } from '../../../../shared/member.ts';
import type { Telemetry } from '../api/telemetry.ts';
import { type Group, STALE_S } from '../api/telemetry.ts';

/**
 * The topics of `telemetry.subscribe` of pages that were written for ADOS Mission Control, in its names and units: degrees, metres,
 * volts, amperes, ms since 1970. What the vehicle does not report is null.
 */

interface Topic {
  /** It is sent while this part is fresh. */
  readonly group: Group | 'heartbeat';
  readonly value: (body: Telemetry, at: number) => unknown;
}

const DEGREES = 180 / Math.PI;

const attitude: Topic = {
  group: 'attitude',
  value: ({ attitude: { roll, pitch, yaw } }, timestamp) => ({
    timestamp,
    roll: degrees(roll),
    pitch: degrees(pitch),
    yaw: degrees(yaw),
  }),
};

const position: Topic = {
  group: 'position',
  value: ({ position: { lat, lon, alt_msl: alt, alt_rel, heading }, velocity }, timestamp) => ({
    timestamp,
    lat,
    lon,
    alt,
    relativeAlt: alt_rel,
    heading,
    groundSpeed: velocity.groundspeed,
    airSpeed: velocity.airspeed,
    climbRate: velocity.climb,
  }),
};

const gps: Topic = {
  group: 'gps',
  value: ({ gps: { fix_type, satellites, eph }, position: { lat, lon, alt_msl } }, timestamp) => ({
    timestamp,
    fixType: fix_type,
    satellites,
    hdop: eph,
    lat,
    lon,
    alt: alt_msl,
  }),
};

const battery: Topic = {
  group: 'battery',
  value: ({ battery: { voltage, current, remaining, temperature, cell_voltages: cells } }, timestampMs) => ({
    timestampMs,
    packId: 0,
    cellVoltagesV: cells ?? [],
    totalVoltageV: voltage,
    currentA: current,
    consumedAh: null,
    consumedWh: null,
    remainingPercent: remaining,
    temperatureC: temperature,
    cellCount: cells?.length ?? null,
    chemistry: 'unknown',
  }),
};

const heartbeat: Topic = {
  group: 'heartbeat',
  value: ({ armed, mode, mav_type, autopilot }, timestamp) => ({
    timestamp,
    armed,
    mode,
    vehicleType: mav_type,
    autopilot,
  }),
};

const TOPICS: Readonly<Record<string, Topic>> = {
  attitude,
  'mavlink.attitude': attitude,
  position,
  'mavlink.position': position,
  gps,
  'mavlink.gps': gps,
  battery,
  heartbeat,
  'mavlink.HEARTBEAT': heartbeat,
};
const TEXTS = ['statustext', 'mavlink.STATUSTEXT'];
/** Topics of the vehicle that this node does not tell in their form. */
const OF_THE_VEHICLE =
  /^(?:mavlink\..+|video\..+|attitude|position|battery|gps|vfr|rc|sysStatus|radio|heartbeat|statustext|event)$/;

/** `own`: no topic of the vehicle, so a value of the extension itself. Null: of the vehicle, and not offered here. */
export function kindOf(topic: string): 'vehicle' | 'texts' | 'own' | null {
  if (Object.hasOwn(TOPICS, topic)) return 'vehicle';
  if (TEXTS.includes(topic)) return 'texts';
  return OF_THE_VEHICLE.test(topic) ? null : 'own';
}

/** What is to be told of a topic by this snapshot; nothing where it is older than 3 s. @param state what was told of it last */
export function* valuesOf(topic: string, id: string, body: Telemetry, state: { last: unknown }): Generator {
  const at = Date.now();
  switch (kindOf(topic)) {
    case 'vehicle': {
      const { group, value } = TOPICS[topic] ?? heartbeat;
      const ages = recordOf(body['ages']);
      const age = group === 'heartbeat' ? body.heartbeat_age_s : ages[group];
      if (typeof age === 'number' && age <= STALE_S) yield value(body, at);
      return;
    }
    case 'texts': {
      // Each once; those that were there before the page are of no moment any more.
      const texts = body.statustext ?? [];
      const known = state.last;
      state.last = texts.map(keyOf);
      if (!Array.isArray(known)) return;
      for (const text of texts)
        if (!known.includes(keyOf(text)))
          yield { timestampMs: Date.parse(text.at ?? ''), severity: text.severity, text: text.text };
      return;
    }
    case 'own': {
      const value = memberOf(memberOf(memberOf(body, 'extensions'), id), topic);
      const text = JSON.stringify(value);
      if (value === undefined || text === state.last) return;
      state.last = text;
      yield value;
      return;
    }
    case null:
  }
}

function keyOf({ at, severity, text }: { at?: string; severity?: number; text?: string }): string {
  return `${at ?? ''} ${severity ?? ''} ${text ?? ''}`;
}

function degrees(radians: number | null | undefined): number | null {
  return typeof radians === 'number' ? radians * DEGREES : null;
}
