import { ApiError } from '../errors.ts';
import { DataflashClock, type DataflashType, walkDataflash } from '../logs/dataflash.ts';
import {
  DATAFLASH_ERROR_GPS,
  DATAFLASH_ERRORS,
  DATAFLASH_EVENT,
  DATAFLASH_FAILSAFES,
  dataflashErrorWords,
  familyOfMessage,
} from '../logs/dataflash-names.ts';
import type { LogBytes } from '../logs/log-bytes.ts';
import { textAt } from '../logs/numbers.ts';
import { type Fact, type FactSink, type Verdict, verdictIn } from './facts.ts';

/** A message of the log; each column is read when it is asked for. */
class Row {
  #type: DataflashType | null = null;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #start = 0;

  load(type: DataflashType, { view, start }: LogBytes): this {
    this.#type = type;
    this.#view = view;
    this.#start = start;
    return this;
  }

  get columns(): Iterable<string> {
    return this.#type?.fields.keys() ?? [];
  }

  has(column: string): boolean {
    return this.#type?.fields.has(column) === true;
  }

  /** @param columns the first of them that is there: names have changed. NaN: there is none */
  number(...columns: readonly string[]): number {
    for (const column of columns) {
      const field = this.#type?.fields.get(column);
      if (field?.get != null) return field.get(this.#view, this.#start + field.at);
    }
    return Number.NaN;
  }

  /** Of a value that firmware before 3.4 wrote as a whole number of so small a part. */
  scaled(column: string, part: number): number {
    return this.number(column) * (this.#type?.fields.get(column)?.size === 2 ? part : 1);
  }

  text(column: string): string {
    const field = this.#type?.fields.get(column);
    return field === undefined ? '' : textAt(this.#view, this.#start + field.at, field.size);
  }
}

/** @throws ApiError E_LOG if it has no types */
export function readDataflash(log: LogBytes, sink: FactSink): void {
  const rows = new DataflashRows(log, sink);
  const types = walkDataflash(log, (type) => {
    rows.read(type, log);
    return true;
  });
  if (types === 0) throw new ApiError('E_LOG', 'This log of the vehicle names none of its messages.');
}

/** The messages that a report needs, of the first of several sensors. */
class DataflashRows {
  readonly #sink: FactSink;
  readonly #clock: DataflashClock;
  readonly #row = new Row();
  /** Of the last row, s. */
  #at: number | null = null;
  readonly #early: Fact[] = [];

  constructor(log: LogBytes, sink: FactSink) {
    this.#clock = new DataflashClock(log);
    this.#sink = sink;
  }

  read(type: DataflashType, log: LogBytes): void {
    // Messages, parameters and events had no time before 3.3: theirs is that of the row before, or of the first one that has one.
    const isTimed = type.fields.has('TimeUS') || type.fields.has('TimeMS');
    const at = isTimed ? this.#clock.timeOf(type, log.view, log.start) : this.#at;
    const tell = MESSAGES[type.name];
    const facts = tell === undefined ? [] : tell(this.#row.load(type, log));
    if (at === null) {
      if (!isTimed) this.#early.push(...facts);
      return;
    }
    if (this.#at === null) for (const fact of [...FIRST, ...this.#early.splice(0)]) this.#sink.take(at, fact);
    this.#at = at;
    this.#sink.seen(at);
    for (const fact of facts) this.#sink.take(at, fact);
  }
}

const FIRST: readonly Fact[] = [
  { kind: 'firmware', firmware: 'ardupilot' },
  { kind: 'log', log: 'dataflash' },
];
const GPS_EPOCH_MS = Date.UTC(1980, 0, 6);
const WEEK_MS = 7 * 24 * 3600 * 1000;
/** Since 2017. */
const LEAP_MS = 18_000;
const FIX_3D = 3;
const OUTPUTS = Array.from({ length: 14 }, (_, at) =>
  ['C', 'Ch', 'Chan', 'Mot'].map((name) => `${name}${at + 1}`),
);
const HOME = 1;
/** `gps_glitching` of nav_filter_status (libraries/AP_NavEKF/AP_Nav_Common.h). */
const GLITCHING_BIT = 14;

/** Of the first sensor; a column that an older firmware does not have means the only one. */
function isFirst(row: Row, ...columns: readonly string[]): boolean {
  return columns.every((column) => !row.has(column) || row.number(column) === 0);
}

/** A column that is there. */
function factOf(row: Row, column: string, make: (value: number) => Fact): readonly Fact[] {
  const value = row.number(column);
  return Number.isFinite(value) ? [make(value)] : [];
}

/** A part of an attitude, degrees. */
function leanOf(
  row: Row,
  kind: 'attitude' | 'desired',
  roll: string,
  pitch: string,
  of: string,
): readonly Fact[] {
  const lean = { roll: row.number(roll), pitch: row.number(pitch) };
  return Number.isFinite(lean.roll) && Number.isFinite(lean.pitch) ? [{ kind, ...lean, of }] : [];
}

const MESSAGES: Readonly<Record<string, (row: Row) => readonly Fact[]>> = {
  PARM: (row) =>
    factOf(row, 'Value', (value) => ({ kind: 'param', name: row.text('Name'), value, of: 'PARM.Value' })),
  MSG: (row) => factsOfMessage(row.text('Message')),
  MODE: (row) => [{ kind: 'mode', mode: row.number('ModeNum', 'Mode') }],
  EV: (row) => factsOfEvent(row.number('Id')),
  ERR: (row) => factsOfError(row.number('Subsys'), row.number('ECode')),
  GPS: (row) => (isFirst(row, 'I') ? factsOfGps(row) : []),
  POS: (row) => {
    const [lat, lon, alt] = [row.number('Lat'), row.number('Lng'), row.number('Alt')];
    const height = row.number('RelHomeAlt');
    return [{ kind: 'position', lat, lon, alt, height: Number.isFinite(height) ? height : null }];
  },
  ORGN: (row) => {
    if (row.number('Type') !== HOME) return [];
    const [lat, lon, alt] = [row.number('Lat'), row.number('Lng'), row.number('Alt')];
    return [{ kind: 'home', lat, lon, alt }];
  },
  BAT: (row) =>
    isFirst(row, 'Inst', 'Instance')
      ? [
          ...factOf(row, 'Curr', (amps) => ({ kind: 'current', amps })),
          ...factOf(row, 'Volt', (volts) => ({ kind: 'voltage', volts, of: 'BAT.Volt' })),
          ...factOf(row, 'CurrTot', (mah) => ({ kind: 'used', mah })),
        ]
      : [],
  BCL: (row) => {
    const cells = [...row.columns]
      .filter((column) => /^V\d+$/.test(column))
      .map((column) => row.number(column))
      .filter((mv) => mv > 0 && mv < 0xffff)
      .map((mv) => mv / 1000);
    return isFirst(row, 'Instance') && cells.length > 0
      ? [{ kind: 'cell', volts: Math.min(...cells), of: 'BCL.V1' }]
      : [];
  },
  // Before 3.7, and MOT before 3.2.
  CURR: (row) => [
    { kind: 'current', amps: row.scaled('Curr', 0.01) },
    { kind: 'voltage', volts: row.scaled('Volt', 0.01), of: 'CURR.Volt' },
    ...factOf(row, 'CurrTot', (mah) => ({ kind: 'used', mah })),
    ...factOf(row, 'Vcc', () => ({ kind: 'board', volts: row.scaled('Vcc', 0.001), of: 'CURR.Vcc' })),
  ],
  MOT: (row) => outputsOf(row, 'MOT.Mot#'),
  VIBE: (row) => factsOfVibration(row),
  MAG: (row) => {
    const length = Math.hypot(row.number('MagX'), row.number('MagY'), row.number('MagZ'));
    return isFirst(row, 'I') && length > 0 ? [{ kind: 'field', length, of: 'MAG.MagX' }] : [];
  },
  POWR: (row) => factOf(row, 'Vcc', (volts) => ({ kind: 'board', volts, of: 'POWR.Vcc' })),
  ATT: (row) => [
    ...leanOf(row, 'desired', 'DesRoll', 'DesPitch', 'ATT.DesRoll'),
    ...leanOf(row, 'attitude', 'Roll', 'Pitch', 'ATT.Roll'),
  ],
  IMU: (row) => {
    const length = Math.hypot(row.number('AccX'), row.number('AccY'), row.number('AccZ'));
    return isFirst(row, 'I') ? [{ kind: 'acceleration', length, of: 'IMU.AccZ' }] : [];
  },
  ESC: (row) =>
    factOf(row, 'RPM', (rpm) => ({ kind: 'esc', index: row.number('Instance'), rpm, of: 'ESC.RPM' })),
  XKF4: (row) => factsOfEstimator(row, 'XKF4'),
  NKF4: (row) => factsOfEstimator(row, 'NKF4'),
  EKF4: (row) => factsOfEstimator(row, 'EKF4'),
  RCOU: (row) => outputsOf(row, row.has('C1') ? 'RCOU.C#' : 'RCOU.Ch#'),
};

function outputsOf(row: Row, of: string): readonly Fact[] {
  const pwm = OUTPUTS.map((columns) => row.number(...columns));
  return [{ kind: 'outputs', pwm: pwm.map((value) => (Number.isFinite(value) ? value : 0)), of }];
}

/** The firmware is a message of its own: `ArduCopter V4.5.7 (2a3dc4b7)`. */
function factsOfMessage(words: string): readonly Fact[] {
  const family = familyOfMessage(words);
  if (family !== null) return [{ kind: 'vehicle', text: words, family }];
  const found = verdictIn(words, 'MSG.Message');
  return found.length > 0 || /failsafe/i.test(words)
    ? [{ kind: 'event', event: 'message', text: words }, ...found]
    : [];
}

function factsOfEvent(id: number): readonly Fact[] {
  switch (id) {
    // An event is a change, whatever was known before.
    case DATAFLASH_EVENT.ARMED:
      return [
        { kind: 'armed', armed: false },
        { kind: 'armed', armed: true },
      ];
    case DATAFLASH_EVENT.DISARMED:
      return [
        { kind: 'armed', armed: true },
        { kind: 'armed', armed: false },
      ];
    case DATAFLASH_EVENT.LAND_COMPLETE:
      return [{ kind: 'landed', landed: true }];
    case DATAFLASH_EVENT.TAKEOFF:
    case DATAFLASH_EVENT.NOT_LANDED:
      return [
        { kind: 'landed', landed: true },
        { kind: 'landed', landed: false },
      ];
    default:
      return [];
  }
}

function factsOfError(subsystem: number, code: number): readonly Fact[] {
  const [active, of] = [code !== 0, 'ERR.Subsys'];
  if (subsystem === DATAFLASH_ERROR_GPS)
    return [
      { kind: 'glitch', source: 'error', active, of },
      { kind: 'event', event: 'error', text: active ? 'GPS glitch' : 'GPS glitch: over' },
    ];
  const failsafe = DATAFLASH_FAILSAFES[subsystem];
  if (failsafe !== undefined) return [{ kind: 'failsafe', name: failsafe, active, of }];
  const name = DATAFLASH_ERRORS[subsystem] ?? `subsystem ${subsystem}`;
  const text = `${name}: ${dataflashErrorWords(subsystem, code)}`;
  const what = ERROR_VERDICTS[subsystem];
  return [
    { kind: 'event', event: 'error', text },
    ...(what !== undefined && active ? [{ kind: 'verdict', what, text, of } as const] : []),
    // It lies on the ground and disarms; the log may end with that.
    ...(subsystem === CRASH_CHECK && code === CRASHED ? [{ kind: 'landed', landed: true } as const] : []),
  ];
}

const CRASH_CHECK = 12;
const CRASHED = 1;
/** Subsystems whose ERR is a finding. */
const ERROR_VERDICTS: Readonly<Record<number, Verdict>> = {
  3: 'trouble',
  12: 'crash',
  15: 'trouble',
  18: 'trouble',
  19: 'trouble',
  24: 'EKF lane switch',
  25: 'thrust loss',
  30: 'trouble',
};

function factsOfGps(row: Row): readonly Fact[] {
  const status = row.number('Status');
  const [satellites, hdop] = [row.number('NSats'), row.number('HDop')];
  const [week, ms] = [row.number('GWk', 'Week'), row.number('GMS', 'TimeMS')];
  const facts: Fact[] = [
    { kind: 'gps', satellites, hdop, of: 'GPS.NSats' },
    {
      kind: 'fix',
      is3d: status >= FIX_3D,
      lat: row.number('Lat'),
      lon: row.number('Lng'),
      ms: row.number('Spd'),
      of: 'GPS.Status',
    },
  ];
  if (!(status >= FIX_3D)) return facts;
  facts.push(...factOf(row, 'Spd', (speed) => ({ kind: 'speed', ms: speed })));
  if (week > 0) facts.push({ kind: 'clock', utcMs: GPS_EPOCH_MS + week * WEEK_MS + ms - LEAP_MS });
  return facts;
}

/** `Clip` by accelerometer; before 4.0 one message for the first, with the counters of all. */
function factsOfVibration(row: Row): readonly Fact[] {
  const [level = Number.NaN, axis = ''] =
    ['VibeX', 'VibeY', 'VibeZ']
      .map((column) => [row.number(column), column] as const)
      .toSorted(([a], [b]) => b - a)[0] ?? [];
  const sensor = row.number('IMU');
  const clips = ['Clip0', 'Clip1', 'Clip2'].flatMap((column, index) =>
    factOf(row, column, (count) => ({ kind: 'clips', sensor: index, count, of: `VIBE.${column}` })),
  );
  return [
    ...(isFirst(row, 'IMU') ? [{ kind: 'vibration', level, of: `VIBE.${axis}` } as const] : []),
    ...factOf(row, 'Clip', (count) => ({
      kind: 'clips',
      sensor: Number.isFinite(sensor) ? sensor : 0,
      count,
      of: 'VIBE.Clip',
    })),
    ...clips,
  ];
}

/** Of the core that flies the vehicle. */
function factsOfEstimator(row: Row, message: string): readonly Fact[] {
  const primary = row.number('PI');
  const lane: readonly Fact[] = primary >= 0 ? [{ kind: 'lane', core: primary, of: `${message}.PI` }] : [];
  if (Number.isFinite(primary) && row.has('C') && row.number('C') !== primary) return lane;
  const status = row.number('SS');
  const ekf: Fact = {
    kind: 'ekf',
    compass: Math.max(...['SM', 'SMX', 'SMY', 'SMZ'].map((axis) => row.number(axis)).filter(Number.isFinite)),
    velocity: row.number('SV'),
    position: row.number('SP'),
    height: row.number('SH'),
    of: `${message}.SV`,
  };
  if (!Number.isFinite(status)) return [...lane, ekf];
  const active = ((status >>> GLITCHING_BIT) & 1) === 1;
  return [...lane, ekf, { kind: 'glitch', source: 'ekf', active, of: `${message}.SS` }];
}
