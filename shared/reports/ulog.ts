import { ApiError } from '../errors.ts';
import type { LogBytes } from '../logs/log-bytes.ts';
import { LogClock } from '../logs/log-clock.ts';
import { NUMBERS, textAt } from '../logs/numbers.ts';
import { loggedWords, ulogStart, walkUlog } from '../logs/ulog.ts';
import { type Place, UlogFormats } from '../logs/ulog-format.ts';
import { ULOG_ARMED, ulogModeName } from '../logs/ulog-names.ts';
import { type Fact, type FactOf, type FactSink, factsOfText, type Verdict } from './facts.ts';

/**
 * What PX4's log says, read once from its start to its end. The package for it, @foxglove/ulog, first makes an index of every message in
 * memory: 209 MB for a log of 104 MB.
 */

const MAX_SUBSCRIPTIONS = 1024;
/** What a log says about itself that is shown. */
const ABOUT: readonly string[] = ['sys_name', 'ver_hw', 'ver_sw_release'];
const MAX_ABOUT = 60;

const FIX_3D = 3;
const GLITCH_BIT = 10;
const BAD_ACCELEROMETER_BIT = 11;
/** VEHICLE_TYPE_ROTARY_WING of vehicle_status. */
const ROTARY = 1;
const DEGREES = 180 / Math.PI;
const MGAUSS = 1000;
const MAX_PARAMS = 4096;
const MAX_MOTORS = 12;
const MAX_ESCS = 8;

/** @throws ApiError E_LOG if it is written in a way that this reader does not know */
export function readUlog(log: LogBytes, sink: FactSink): void {
  const reader = new UlogReader(new LogClock(ulogStart(log)), sink);
  const isKnown = walkUlog(log, (type, at, size) => {
    reader.message(type, log.view, at, size);
    return true;
  });
  if (!isKnown)
    throw new ApiError('E_LOG', 'This log of PX4 is written in a way that this node does not know.');
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
  readonly #clock: LogClock;
  /** Those that stand before all that has a time. */
  readonly #params: FactOf<'param'>[] = [];
  #at = 0;
  #isTold = false;

  constructor(clock: LogClock, sink: FactSink) {
    this.#clock = clock;
    this.#sink = sink;
  }

  /** @param at where the body begins in `view` */
  message(type: string, view: DataView, at: number, size: number): void {
    switch (type) {
      case 'F':
        this.#formats.define(textAt(view, at, size));
        break;
      case 'I':
        this.#information(keyed(view, at, size));
        break;
      case 'P':
        this.#param(keyed(view, at, size));
        break;
      case 'A':
        this.#subscribe(view, at, size);
        break;
      case 'D':
        this.#data(view, at, size);
        break;
      case 'L':
        this.#text(view, at, 9, size);
        break;
      case 'C':
        this.#text(view, at, 11, size);
        break;
      default: // says nothing about the flight
    }
  }

  #information({ name, type, view, at, size }: Keyed): void {
    if (name === 'ver_sw_release') {
      if (size === 4) this.#about.set(name, versionText(view.getUint32(at, true)));
    } else if (ABOUT.includes(name) && type.startsWith('char['))
      this.#about.set(name, textAt(view, at, Math.min(size, MAX_ABOUT)));
  }

  #param({ name, type, view, at, size }: Keyed): void {
    if (type !== 'float' || size !== 4) return;
    const param = { kind: 'param', name, value: view.getFloat32(at, true), of: 'parameter.value' } as const;
    if (this.#isTold) this.#sink.take(this.#at, param);
    else if (this.#params.length < MAX_PARAMS) this.#params.push(param);
  }

  #subscribe(view: DataView, at: number, size: number): void {
    if (size < 4 || this.#subscriptions.size >= MAX_SUBSCRIPTIONS) return;
    const [instance, id] = [view.getUint8(at), view.getUint16(at + 1, true)];
    const topic = textAt(view, at + 3, size - 3);
    const isWanted = Object.hasOwn(TOPICS, topic) && (instance === 0 || topic === 'vehicle_imu_status');
    const places = topic === 'esc_status' ? this.#flatPlacesOf(topic) : this.#formats.placesOf(topic);
    const timestamp = places.get('timestamp');
    this.#subscriptions.set(id, {
      topic: isWanted ? (instance === 0 ? topic : `${topic} ${instance}`) : '',
      places: isWanted ? places : new Map(timestamp === undefined ? [] : [['timestamp', timestamp]]),
    });
  }

  /** With the fields of what is nested in it. */
  #flatPlacesOf(topic: string): ReadonlyMap<string, Place> {
    return new Map(
      this.#formats
        .flatFieldsOf(topic)
        .flatMap(({ name, at, get, size }) =>
          get === null ? [] : [[name, { at, step: size, count: 1, get }] as const],
        ),
    );
  }

  #data(view: DataView, at: number, size: number): void {
    if (size < 2) return;
    const subscription = this.#subscriptions.get(view.getUint16(at, true));
    if (subscription === undefined) return;
    const fields = new UlogFields(subscription.places, view, at + 2, at + size);
    const told = fields.number('timestamp');
    if (!this.#time(told)) return;
    const [topic = '', instance = '0'] = subscription.topic.split(' ');
    const before = this.#at * 1000 - told / 1000; // of a topic that was published before the log began
    for (const fact of TOPICS[topic]?.(fields, Number(instance)) ?? [])
      this.#sink.take(this.#at, fact.kind === 'clock' ? { ...fact, utcMs: fact.utcMs + before } : fact);
  }

  /** @param head bytes before the words, the last eight of which are the time */
  #text(view: DataView, at: number, head: number, size: number): void {
    if (size <= head || !this.#time(NUMBERS.uint64_t[1](view, at + head - 8))) return;
    const severity = view.getUint8(at) - '0'.charCodeAt(0);
    const words = loggedWords(new Uint8Array(view.buffer, at + head, size - head));
    for (const fact of factsOfText(severity, words, 'logging.text')) this.#sink.take(this.#at, fact);
  }

  /** @returns whether this is a time */
  #time(micros: number): boolean {
    const at = this.#clock.timeOf(micros / 1e6);
    if (at === null) return false;
    this.#at = at;
    this.#sink.seen(this.#at);
    if (!this.#isTold) this.#tell();
    return true;
  }

  #tell(): void {
    this.#isTold = true;
    for (const param of this.#params) this.#sink.take(this.#at, param);
    this.#sink.take(this.#at, { kind: 'firmware', firmware: 'px4' });
    this.#sink.take(this.#at, { kind: 'log', log: 'ulog' });
    const text = ABOUT.flatMap((name) => this.#about.get(name) ?? []).join(' ');
    this.#sink.take(this.#at, { kind: 'vehicle', text: text === '' ? 'PX4' : text, family: 'px4' });
  }
}

/** Of a message I or P: `type name`, and where its value is. */
interface Keyed {
  readonly type: string;
  readonly name: string;
  readonly view: DataView;
  readonly at: number;
  readonly size: number;
}

function keyed(view: DataView, at: number, size: number): Keyed {
  const length = size === 0 ? 0 : Math.min(view.getUint8(at), size - 1);
  const [type = '', name = ''] = textAt(view, at + 1, length).split(' ', 2);
  return { type, name, view, at: at + 1 + length, size: Math.max(0, size - 1 - length) };
}

function versionText(version: number): string {
  return `v${[version >>> 24, (version >>> 16) & 0xff, (version >>> 8) & 0xff].join('.')}`;
}

/** The data of one message; a field that is not there is NaN. */
class UlogFields {
  readonly #places: ReadonlyMap<string, Place>;
  readonly #view: DataView;
  readonly #start: number;
  readonly #end: number;

  constructor(places: ReadonlyMap<string, Place>, view: DataView, start: number, end: number) {
    this.#places = places;
    this.#view = view;
    this.#start = start;
    this.#end = end;
  }

  number(name: string): number {
    const place = this.#places.get(name);
    if (place === undefined || this.#start + place.at + place.step > this.#end) return Number.NaN;
    return place.get(this.#view, this.#start + place.at);
  }

  numbers(name: string): readonly number[] {
    const place = this.#places.get(name);
    if (place === undefined || this.#start + place.at + place.step * place.count > this.#end) return [];
    const { at, step, count, get } = place;
    return Array.from({ length: count }, (_, index) => get(this.#view, this.#start + at + step * index));
  }
}

/** The topics that a report needs, and what they say; members as PX4's msg/*.msg has them. */
const TOPICS: Readonly<Record<string, (fields: UlogFields, instance: number) => readonly Fact[]>> = {
  vehicle_status: (fields) => {
    const [arming, nav] = [fields.number('arming_state'), fields.number('nav_state')];
    if (!Number.isFinite(arming) || !Number.isFinite(nav)) return [];
    return [
      { kind: 'armed', armed: arming === ULOG_ARMED },
      { kind: 'mode', mode: ulogModeName(nav) },
      ...rotaryFacts(fields),
      ...linkFacts(fields, 'vehicle_status', LINKS_OF_STATUS),
      {
        kind: 'failsafe',
        name: 'the vehicle is in failsafe',
        active: fields.number('failsafe') === 1,
        of: 'vehicle_status.failsafe',
      },
    ];
  },
  failsafe_flags: (fields) => [...linkFacts(fields, 'failsafe_flags', LINKS_OF_FLAGS)],
  failure_detector_status: (fields) =>
    FAILURES.flatMap(([field, what, text]) =>
      fields.number(field) === 1
        ? [{ kind: 'verdict', what, text, of: `failure_detector_status.${field}` } as const]
        : [],
    ),
  system_power: (fields) => {
    const volts = fields.number('voltage5v_v');
    return volts > 0 ? [{ kind: 'board', volts, of: 'system_power.voltage5v_v' }] : [];
  },
  vehicle_attitude: (fields) => leanOf(fields.numbers('q'), 'attitude', 'vehicle_attitude.q[0]'),
  vehicle_attitude_setpoint: (fields) =>
    leanOf(fields.numbers('q_d'), 'desired', 'vehicle_attitude_setpoint.q_d[0]'),
  vehicle_magnetometer: (fields) => {
    const length = Math.hypot(...fields.numbers('magnetometer_ga')) * MGAUSS;
    return length > 0 ? [{ kind: 'field', length, of: 'vehicle_magnetometer.magnetometer_ga[0]' }] : [];
  },
  sensor_combined: (fields) => {
    const axes = fields.numbers('accelerometer_m_s2');
    const of = 'sensor_combined.accelerometer_m_s2[2]';
    return axes.length === 3 ? [{ kind: 'acceleration', length: Math.hypot(...axes), of }] : [];
  },
  actuator_motors: (fields) => {
    const parts = fields.numbers('control').slice(0, MAX_MOTORS);
    return parts.length === 0 ? [] : [{ kind: 'motors', parts, of: 'actuator_motors.control[@]' }];
  },
  esc_status: (fields) => {
    const count = Math.min(MAX_ESCS, fields.number('esc_count'));
    return Array.from({ length: count > 0 ? count : 0 }, (_, index) => ({
      kind: 'esc' as const,
      index,
      rpm: Math.abs(fields.number(`esc[${index}].esc_rpm`)),
      of: `esc_status.esc[${index}].esc_rpm`,
    })).filter(({ rpm }) => Number.isFinite(rpm));
  },
  estimator_selector_status: (fields) => {
    const core = fields.number('primary_instance');
    return core < MAX_ESCS ? [{ kind: 'lane', core, of: 'estimator_selector_status.primary_instance' }] : [];
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
    const is3d = fields.number('fix_type') >= FIX_3D;
    const [lat, lon] = [fields.number('latitude_deg'), fields.number('longitude_deg')];
    const facts: Fact[] = [
      {
        kind: 'gps',
        satellites: Number.isFinite(satellites) ? satellites : null,
        hdop: Number.isFinite(hdop) ? hdop : null,
        of: 'vehicle_gps_position.satellites_used',
      },
      {
        kind: 'fix',
        is3d,
        // Before 1.14 in 1e-7 degrees.
        lat: Number.isFinite(lat) ? lat : fields.number('lat') / 1e7,
        lon: Number.isFinite(lon) ? lon : fields.number('lon') / 1e7,
        ms: fields.number('vel_m_s'),
        of: 'vehicle_gps_position.fix_type',
      },
    ];
    if (is3d && utc > 0) facts.push({ kind: 'clock', utcMs: utc / 1000 });
    return facts;
  },
  battery_status: (fields) => [...batteryFacts(fields)],
  vehicle_imu_status: (fields, instance) => {
    const level = {
      kind: 'vibration',
      level: fields.number('accel_vibration_metric'),
      of: 'vehicle_imu_status.accel_vibration_metric',
    } as const;
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
      of: 'estimator_status.pos_test_ratio',
    };
    if (!Number.isFinite(flags)) return [ekf];
    const of = 'estimator_status.solution_status_flags';
    const glitch = { kind: 'glitch', source: 'ekf', active: ((flags >>> GLITCH_BIT) & 1) === 1, of } as const;
    return ((flags >>> BAD_ACCELEROMETER_BIT) & 1) === 1
      ? [ekf, glitch, { kind: 'bad-accelerometer', of }]
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
  const amps = fields.number('current_a');
  if (amps >= 0) yield { kind: 'current', amps };
  if (volts > 0) yield { kind: 'voltage', volts, of: 'battery_status.voltage_v' };
  if (mah >= 0) yield { kind: 'used', mah };
  const cells = fields.numbers('voltage_cell_v').filter((cell) => cell > 0);
  const count = fields.number('cell_count');
  if (cells.length > 0)
    yield { kind: 'cell', volts: Math.min(...cells), of: 'battery_status.voltage_cell_v[0]' };
  else if (count > 0 && volts > 0)
    yield { kind: 'cell', volts: volts / count, of: 'battery_status.voltage_v' };
  const of = 'battery_status.warning';
  if (warning === WARNING_LOW) yield { kind: 'battery-state', state: 'low', of };
  if (warning > WARNING_LOW && warning <= WARNING_FAILED)
    yield { kind: 'battery-state', state: 'critical', of };
}

/** Field that is true while a link is lost, and the name of the link: of vehicle_status before 1.14, of failsafe_flags since. */
const LINKS_OF_STATUS = [
  ['rc_signal_lost', 'radio'],
  ['data_link_lost', 'ground station'],
  ['gcs_connection_lost', 'ground station'],
] as const;
const LINKS_OF_FLAGS = [
  ['manual_control_signal_lost', 'radio'],
  ['gcs_connection_lost', 'ground station'],
] as const;

function* linkFacts(
  fields: UlogFields,
  topic: string,
  links: readonly (readonly [field: string, name: string])[],
): Generator<Fact> {
  for (const [field, name] of links) {
    const lost = fields.number(field);
    if (Number.isFinite(lost)) yield { kind: 'link', name, isLost: lost === 1, of: `${topic}.${field}` };
  }
}

function* rotaryFacts(fields: UlogFields): Generator<Fact> {
  const [type, old] = [fields.number('vehicle_type'), fields.number('is_rotary_wing')];
  if (Number.isFinite(type)) yield { kind: 'rotary', rotary: type === ROTARY };
  else if (Number.isFinite(old)) yield { kind: 'rotary', rotary: old === 1 };
}

/** Flags of failure_detector_status that are findings. */
const FAILURES: readonly (readonly [field: string, what: Verdict, text: string])[] = [
  ['fd_motor', 'motor failure', 'a motor has failed'],
  ['fd_arm_escs', 'ESC failure', 'an ESC has failed'],
  ['fd_imbalanced_prop', 'trouble', 'a propeller is out of balance'],
  ['fd_roll', 'attitude failure', 'it rolls too far'],
  ['fd_pitch', 'attitude failure', 'it pitches too far'],
];

/** Roll and pitch of a rotation [w, x, y, z], degrees. */
function leanOf(
  [w = Number.NaN, x = Number.NaN, y = Number.NaN, z = Number.NaN]: readonly number[],
  kind: 'attitude' | 'desired',
  of: string,
): readonly Fact[] {
  const roll = Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) * DEGREES;
  const pitch = Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x)))) * DEGREES;
  return Number.isFinite(roll) && Number.isFinite(pitch) ? [{ kind, roll, pitch, of }] : [];
}
