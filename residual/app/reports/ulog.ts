import { ApiError } from '../../../shared/errors.ts';
import type { Fact, FactSink } from './facts.ts';
import type { LogBytes } from './log-bytes.ts';
import { LogClock } from './log-clock.ts';
import { factsOfText } from './tlog.ts';
import { type Place, UlogFormats } from './ulog-format.ts';

/**
 * PX4's log (https://docs.px4.io/main/en/dev_log/ulog_file_format.html), read once from its start to its end. The package for it,
 * @foxglove/ulog, first makes an index of every message in memory: 209 MB for a log of 104 MB.
 */

const MAGIC = Buffer.from([0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35]);
const HEADER_BYTES = 16;
const HEAD_BYTES = 3;
const SYNC = Buffer.from([0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12]);
const TYPES = new Set([...'BFIMPQARDLCSO'].map((letter) => letter.charCodeAt(0)));
/** Incompatible flags of the first byte that are known: data is appended at the end. */
const APPENDED = 1;
const MAX_SUBSCRIPTIONS = 1024;
/** What a log says about itself that is shown. */
const ABOUT: readonly string[] = ['sys_name', 'ver_hw', 'ver_sw_release'];
const MAX_ABOUT = 60;

const ARMED = 2;
const FIX_3D = 3;
const GLITCH_BIT = 10;
const BAD_ACCELEROMETER_BIT = 11;
/** NAVIGATION_STATE_* (msg/versioned/VehicleStatus.msg), as modes are called elsewhere. */
const MODES: Readonly<Record<number, string>> = {
  0: 'MANUAL',
  1: 'ALTCTL',
  2: 'POSCTL',
  3: 'AUTO.MISSION',
  4: 'AUTO.LOITER',
  5: 'AUTO.RTL',
  6: 'POSCTL.SLOW',
  10: 'ACRO',
  12: 'DESCEND',
  13: 'TERMINATION',
  14: 'OFFBOARD',
  15: 'STABILIZED',
  17: 'AUTO.TAKEOFF',
  18: 'AUTO.LAND',
  19: 'AUTO.FOLLOW_TARGET',
  20: 'AUTO.PRECLAND',
  21: 'POSCTL.ORBIT',
  22: 'AUTO.VTOL_TAKEOFF',
};

export function isUlog(log: LogBytes): boolean {
  return log.has(MAGIC.length) && MAGIC.equals(log.bytes.subarray(log.start, log.start + MAGIC.length));
}

/** @throws ApiError E_STORE if it is written in a way that this reader does not know */
export function readUlog(log: LogBytes, sink: FactSink): void {
  const reader = new UlogReader(sink);
  log.skip(HEADER_BYTES);
  while (log.has(HEAD_BYTES)) {
    const { bytes, start } = log;
    const size = bytes.readUInt16LE(start);
    const type = bytes.readUInt8(start + 2);
    const next = reader.nextPart(log.position);
    if (next !== null && log.position + HEAD_BYTES + size > next) {
      log.skip(next - log.position); // the part before it ended in the middle of a message
      continue;
    }
    if (!TYPES.has(type)) {
      if (!resynchronize(log)) break;
      continue;
    }
    if (!log.has(HEAD_BYTES + size)) break;
    reader.message(
      String.fromCharCode(type),
      log.bytes.subarray(log.start + HEAD_BYTES, log.start + HEAD_BYTES + size),
    );
    log.skip(HEAD_BYTES + size);
  }
}

/** Goes on at the next message whose bytes nothing else has. */
function resynchronize(log: LogBytes): boolean {
  while (log.seek(SYNC.length)) {
    if (!log.has(HEAD_BYTES + SYNC.length)) return false;
    if (SYNC.equals(log.bytes.subarray(log.start + HEAD_BYTES, log.start + HEAD_BYTES + SYNC.length)))
      return true;
  }
  return false;
}

interface Subscription {
  readonly topic: string;
  readonly places: ReadonlyMap<string, Place>;
}

class UlogReader {
  readonly #sink: FactSink;
  readonly #formats = new UlogFormats();
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #about = new Map<string, string>();
  #appended: readonly number[] = [];
  readonly #clock = new LogClock();
  #at = 0;
  #isTold = false;

  constructor(sink: FactSink) {
    this.#sink = sink;
  }

  /** Where the next appended part begins, of those behind this place. */
  nextPart(position: number): number | null {
    return this.#appended.find((offset) => offset > position) ?? null;
  }

  message(type: string, body: Buffer): void {
    switch (type) {
      case 'B':
        this.#flags(body);
        break;
      case 'F':
        this.#formats.define(body.toString('latin1'));
        break;
      case 'I':
        this.#information(body);
        break;
      case 'P':
        this.#param(body);
        break;
      case 'A':
        this.#subscribe(body);
        break;
      case 'D':
        this.#data(body);
        break;
      case 'L':
        if (body.length > 9) this.#text(body.readUInt8(0), Number(body.readBigUInt64LE(1)), body.subarray(9));
        break;
      case 'C':
        if (body.length > 11)
          this.#text(body.readUInt8(0), Number(body.readBigUInt64LE(3)), body.subarray(11));
        break;
      default: // says nothing about the flight
    }
  }

  #flags(body: Buffer): void {
    if (body.length < 40) return;
    const [first = 0, ...others] = body.subarray(8, 16);
    if ((first & ~APPENDED) !== 0 || others.some((flags) => flags !== 0))
      throw new ApiError('E_STORE', 'This log of PX4 is written in a way that this node does not know.');
    this.#appended = [16, 24, 32].map((at) => Number(body.readBigUInt64LE(at)));
  }

  #information(body: Buffer): void {
    const { name, type, value } = keyed(body);
    if (name === 'ver_sw_release') {
      if (value.length === 4) this.#about.set(name, versionText(value.readUInt32LE(0)));
    } else if (ABOUT.includes(name) && type.startsWith('char['))
      this.#about.set(name, value.toString('latin1', 0, MAX_ABOUT));
  }

  #param(body: Buffer): void {
    const { name, type, value } = keyed(body);
    if (type === 'float' && value.length === 4)
      this.#sink.take(this.#at, { kind: 'param', name, value: value.readFloatLE(0) });
  }

  #subscribe(body: Buffer): void {
    if (body.length < 4 || this.#subscriptions.size >= MAX_SUBSCRIPTIONS) return;
    const [instance, id, topic] = [body.readUInt8(0), body.readUInt16LE(1), body.toString('latin1', 3)];
    const isWanted = Object.hasOwn(TOPICS, topic) && (instance === 0 || topic === 'vehicle_imu_status');
    const places = this.#formats.placesOf(topic);
    const timestamp = places.get('timestamp');
    this.#subscriptions.set(id, {
      topic: isWanted ? (instance === 0 ? topic : `${topic} ${instance}`) : '',
      places: isWanted ? places : new Map(timestamp === undefined ? [] : [['timestamp', timestamp]]),
    });
  }

  #data(body: Buffer): void {
    if (body.length < 2) return;
    const subscription = this.#subscriptions.get(body.readUInt16LE(0));
    if (subscription === undefined) return;
    const fields = new UlogFields(subscription.places, body.subarray(2));
    if (!this.#time(fields.number('timestamp'))) return;
    const [topic = '', instance = '0'] = subscription.topic.split(' ');
    for (const fact of TOPICS[topic]?.(fields, Number(instance)) ?? []) this.#sink.take(this.#at, fact);
  }

  #text(level: number, micros: number, words: Buffer): void {
    if (!this.#time(micros)) return;
    const severity = level - '0'.charCodeAt(0);
    for (const fact of factsOfText(severity, words.toString('utf8'))) this.#sink.take(this.#at, fact);
  }

  /** @returns whether this is a time */
  #time(micros: number): boolean {
    if (!this.#clock.isTime(micros / 1e6)) return false;
    this.#at = micros / 1e6;
    this.#sink.seen(this.#at);
    if (!this.#isTold) this.#tell();
    return true;
  }

  #tell(): void {
    this.#isTold = true;
    this.#sink.take(this.#at, { kind: 'firmware', firmware: 'px4' });
    const text = ABOUT.flatMap((name) => this.#about.get(name) ?? []).join(' ');
    this.#sink.take(this.#at, { kind: 'vehicle', text: text === '' ? 'PX4' : text, family: 'px4' });
  }
}

/** `type name` and the value of a message I or P. */
function keyed(body: Buffer): { readonly type: string; readonly name: string; readonly value: Buffer } {
  const length = body[0] ?? 0;
  const [type = '', name = ''] = body.toString('latin1', 1, 1 + length).split(' ', 2);
  return { type, name, value: body.subarray(1 + length) };
}

function versionText(version: number): string {
  return `v${[version >>> 24, (version >>> 16) & 0xff, (version >>> 8) & 0xff].join('.')}`;
}

/** The data of one message; a field that is not there is NaN. */
class UlogFields {
  readonly #places: ReadonlyMap<string, Place>;
  readonly #bytes: Buffer;

  constructor(places: ReadonlyMap<string, Place>, bytes: Buffer) {
    this.#places = places;
    this.#bytes = bytes;
  }

  number(name: string): number {
    const place = this.#places.get(name);
    if (place === undefined || place.at + place.step > this.#bytes.length) return Number.NaN;
    return place.get(this.#bytes, place.at);
  }

  numbers(name: string): readonly number[] {
    const place = this.#places.get(name);
    if (place === undefined || place.at + place.step * place.count > this.#bytes.length) return [];
    const { at, step, count, get } = place;
    return Array.from({ length: count }, (_, index) => get(this.#bytes, at + step * index));
  }
}

/** The topics that a report needs, and what they say; members as PX4's msg/*.msg has them. */
const TOPICS: Readonly<Record<string, (fields: UlogFields, instance: number) => readonly Fact[]>> = {
  vehicle_status: (fields) => {
    const [arming, nav] = [fields.number('arming_state'), fields.number('nav_state')];
    if (!Number.isFinite(arming) || !Number.isFinite(nav)) return [];
    return [
      { kind: 'armed', armed: arming === ARMED },
      { kind: 'mode', mode: MODES[nav] ?? `MODE_${nav}` },
      { kind: 'failsafe', name: 'the vehicle is in failsafe', active: fields.number('failsafe') === 1 },
    ];
  },
  vehicle_land_detected: (fields) => {
    const landed = fields.number('landed');
    return Number.isFinite(landed) ? [{ kind: 'landed', landed: landed === 1 }] : [];
  },
  vehicle_local_position: (fields) => {
    const ms = Math.hypot(fields.number('vx'), fields.number('vy'));
    return fields.number('v_xy_valid') === 0 ? [] : [{ kind: 'speed', ms }];
  },
  vehicle_global_position: (fields) => [
    {
      kind: 'position',
      lat: fields.number('lat'),
      lon: fields.number('lon'),
      alt: fields.number('alt'),
      height: null,
    },
  ],
  home_position: (fields) => {
    const [lat, lon, alt] = [fields.number('lat'), fields.number('lon'), fields.number('alt')];
    return [{ kind: 'home', lat, lon, alt: Number.isFinite(alt) ? alt : null }];
  },
  vehicle_gps_position: (fields) => {
    const [satellites, hdop] = [fields.number('satellites_used'), fields.number('hdop')];
    const utc = fields.number('time_utc_usec');
    const gps: Fact = {
      kind: 'gps',
      satellites: Number.isFinite(satellites) ? satellites : null,
      hdop: Number.isFinite(hdop) ? hdop : null,
    };
    if (fields.number('fix_type') < FIX_3D || !(utc > 0)) return [gps];
    return [gps, { kind: 'clock', utcMs: utc / 1000 }];
  },
  battery_status: (fields) => [...batteryFacts(fields)],
  vehicle_imu_status: (fields, instance) => {
    const level = { kind: 'vibration', level: fields.number('accel_vibration_metric') } as const;
    const axes = fields.numbers('accel_clipping');
    if (axes.length === 0) return [level];
    return [level, { kind: 'clips', sensor: instance, count: axes.reduce((sum, count) => sum + count, 0) }];
  },
  estimator_status: (fields) => {
    const flags = fields.number('solution_status_flags');
    const heading = fields.number('hdg_test_ratio'); // called mag_ before 1.16
    const ekf: Fact = {
      kind: 'ekf',
      compass: Number.isFinite(heading) ? heading : fields.number('mag_test_ratio'),
      velocity: fields.number('vel_test_ratio'),
      position: fields.number('pos_test_ratio'),
      height: fields.number('hgt_test_ratio'),
    };
    if (!Number.isFinite(flags)) return [ekf];
    const glitch = { kind: 'glitch', source: 'ekf', active: ((flags >>> GLITCH_BIT) & 1) === 1 } as const;
    return ((flags >>> BAD_ACCELEROMETER_BIT) & 1) === 1
      ? [ekf, glitch, { kind: 'bad-accelerometer' }]
      : [ekf, glitch];
  },
};

// BATTERY_WARNING_* of msg/BatteryStatus.msg.
const WARNING_LOW = 1;
const WARNING_FAILED = 4;

function* batteryFacts(fields: UlogFields): Generator<Fact> {
  const [volts, mah, warning] = [
    fields.number('voltage_v'),
    fields.number('discharged_mah'),
    fields.number('warning'),
  ];
  if (volts > 0) yield { kind: 'voltage', volts };
  if (mah >= 0) yield { kind: 'used', mah };
  const cells = fields.numbers('voltage_cell_v').filter((cell) => cell > 0);
  if (cells.length > 0) yield { kind: 'cell', volts: Math.min(...cells) };
  if (warning === WARNING_LOW) yield { kind: 'battery-state', state: 'low' };
  if (warning > WARNING_LOW && warning <= WARNING_FAILED) yield { kind: 'battery-state', state: 'critical' };
}
