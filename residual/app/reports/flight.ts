import { type Family, modeName } from '../../../shared/flight/modes.ts';
import { plainText } from '../../../shared/plain-text.ts';
import type { FlightReport } from '../../../shared/schemas/flight-report.ts';
import { Extreme } from './extreme.ts';
import type { Fact, FactSink, Firmware } from './facts.ts';
import { findingsOf, type Judged } from './findings.ts';
import { Track } from './track.ts';

/** A log may have a million of them. */
const MAX_LISTED = 500;
const MAX_TEXT = 200;
const MAX_SENSORS = 8;
const OUTPUTS = 32;
/** Parameters that a rule looks at. */
const PARAMS = /^(?:BATT_(?:LOW|CRT)_VOLT|FS_EKF_THRESH|SERVO\d{1,2}_FUNCTION|BAT1?_V_EMPTY)$/;
/** The clock of a receiver before its first fix shows 1980, or nothing. */
const FIRST_UTC_MS = Date.UTC(2000);
const LAST_UTC_MS = Date.UTC(2100);

type Event = FlightReport['events'][number];

/** What the facts of one log come to. It takes so much memory, however long the log is. */
export class Flight implements FactSink, Judged {
  firmware: Firmware | null = null;
  family: Family | null = null;
  readonly params = new Map<string, number>();
  readonly vibration = new Extreme('max');
  readonly voltage = new Extreme('min');
  readonly cell = new Extreme('min');
  readonly satellites = new Extreme('min');
  readonly hdop = new Extreme('max');
  readonly compass = new Extreme('max');
  readonly estimator = new Extreme('max');
  readonly fieldChange = new Extreme('max');
  readonly batteryStates = new Map<'low' | 'critical', number>();
  badAccelerometerAt: number | null = null;
  glitchAt: number | null = null;
  clipAt: number | null = null;
  readonly failsafes = new Map<string, number>();
  readonly outputSums: number[] = Array.from({ length: OUTPUTS }, () => 0);
  outputSamples = 0;
  isCut = false;

  readonly #track = new Track();
  readonly #speed = new Extreme('max');
  readonly #clips = new Map<number, { last: number; added: number }>();
  readonly #glitches = new Map<'ekf' | 'error', { count: number; active: boolean }>();
  readonly #active = new Set<string>();
  readonly #events: Event[] = [];
  readonly #modes: { mode: string | number; from: number }[] = [];
  #vehicle: string | null = null;
  #start: number | null = null;
  #end = 0;
  #startUtcMs: number | null = null;
  #armed: boolean | null = null;
  /** Of the flights that are over, s; and when the one that is not began. */
  #armedS = 0;
  #armedAt = 0;
  #landed: boolean | null = null;
  #volts: { first: number; last: number } | null = null;
  #used: { first: number; last: number } | null = null;
  #field: number | null = null;

  /** Whether anything was told at all. */
  get isEmpty(): boolean {
    return this.#start === null;
  }

  seen(at: number): void {
    if (!Number.isFinite(at)) return;
    this.#start ??= at;
    this.#end = Math.max(this.#end, this.#since(at));
  }

  take(at: number, fact: Fact): void {
    this.seen(at);
    const s = this.#since(at);
    if (!this.#whatItIs(s, fact) && this.#armed !== false) this.#inFlight(s, fact);
  }

  /** @returns what the schema of the same name says */
  report(): FlightReport {
    const inFlight = this.#armedS + (this.#armed === true ? this.#end - this.#armedAt : 0);
    const duration = this.isEmpty
      ? null
      : rounded(this.#armed === null ? this.#end : Math.min(this.#end, inFlight));
    const speed = rounded(this.#speed.value, 2);
    return {
      vehicle: this.#vehicle,
      start: this.#startUtcMs === null ? null : new Date(this.#startUtcMs).toISOString(),
      duration_s: duration,
      distance_m: rounded(this.#track.distance, 1),
      max: {
        height_m: rounded(this.#track.height.value, 2),
        speed_mps: speed,
        speed_ms: speed,
        distance_home_m: rounded(this.#track.fromHome.value, 1),
      },
      battery: {
        start: rounded(this.#volts?.first ?? null),
        end: rounded(this.#volts?.last ?? null),
        min: rounded(this.voltage.value),
        min_at_s: this.voltage.value === null ? null : rounded(this.voltage.at),
        used_mah: this.#used === null ? null : rounded(this.#used.last - this.#used.first, 1),
        min_cell_v: rounded(this.cell.value),
      },
      gps: {
        min_satellites: this.satellites.value,
        worst_hdop: rounded(this.hdop.value, 2),
        glitches: this.glitches,
      },
      vibration: { max: rounded(this.vibration.value, 2), clips: this.clips },
      modes: this.#modes.map(({ mode, from }, index) => ({
        name: typeof mode === 'string' ? mode : modeName(this.family, mode),
        from_s: rounded(from),
        to_s: rounded(this.#modes[index + 1]?.from ?? this.#end),
      })),
      events: this.#events,
      track: this.#track.points.map(({ lat, lon }) => ({ lat: rounded(lat, 6), lon: rounded(lon, 6) })),
      findings: findingsOf(this).map(({ severity, text, at }) => ({
        severity,
        text,
        at_s: at === null ? null : rounded(at),
      })),
    };
  }

  /** Both sources tell of the same glitches. */
  get glitches(): number | null {
    const counts = [...this.#glitches.values()].map(({ count }) => count);
    return counts.length === 0 ? null : Math.max(...counts);
  }

  get clips(): number | null {
    if (this.#clips.size === 0) return null;
    return [...this.#clips.values()].reduce((sum, { added }) => sum + added, 0);
  }

  /** Facts that count at any time. @returns false for all others */
  #whatItIs(at: number, fact: Fact): boolean {
    switch (fact.kind) {
      case 'firmware':
        this.firmware = fact.firmware;
        return true;
      case 'vehicle':
        this.#vehicle = shortened(fact.text);
        this.family = fact.family ?? this.family;
        return true;
      case 'clock':
        this.#onClock(fact.utcMs - at * 1000);
        return true;
      case 'param':
        if (PARAMS.test(fact.name)) this.params.set(fact.name, fact.value);
        return true;
      case 'armed':
        this.#onArmed(at, fact.armed);
        return true;
      case 'landed':
        this.#onLanded(at, fact.landed);
        return true;
      case 'mode':
        this.#onMode(at, fact.mode);
        return true;
      case 'home':
        this.#track.home(fact);
        return true;
      case 'failsafe':
        this.#onFailsafe(at, fact.name, fact.active);
        return true;
      case 'event':
        this.#list(at, fact.event, fact.text);
        return true;
      default:
        return false;
    }
  }

  #inFlight(at: number, fact: Fact): void {
    switch (fact.kind) {
      case 'position':
        this.#track.position(at, fact);
        break;
      case 'speed':
        this.#speed.take(at, fact.ms);
        break;
      case 'voltage':
        this.#volts = { first: this.#volts?.first ?? fact.volts, last: fact.volts };
        this.voltage.take(at, fact.volts);
        break;
      case 'used':
        this.#used = { first: this.#used?.first ?? fact.mah, last: fact.mah };
        break;
      case 'cell':
        this.cell.take(at, fact.volts);
        break;
      case 'battery-state':
        if (!this.batteryStates.has(fact.state)) this.batteryStates.set(fact.state, at);
        break;
      case 'gps':
        if (fact.satellites !== null) this.satellites.take(at, fact.satellites);
        if (fact.hdop !== null) this.hdop.take(at, fact.hdop);
        break;
      default:
        this.#ofSensors(at, fact);
    }
  }

  #ofSensors(at: number, fact: Fact): void {
    switch (fact.kind) {
      case 'glitch':
        this.#onGlitch(at, fact.source, fact.active);
        break;
      case 'vibration':
        this.vibration.take(at, fact.level);
        break;
      case 'clips':
        this.#onClips(at, fact.sensor, fact.count);
        break;
      case 'field':
        this.#field ??= fact.length;
        this.fieldChange.take(at, Math.abs(fact.length - this.#field) / this.#field);
        break;
      case 'ekf':
        this.compass.take(at, fact.compass);
        this.estimator.take(at, this.firmware === 'px4' ? worstRatio(fact) : ardupilotVariance(fact));
        break;
      case 'bad-accelerometer':
        this.badAccelerometerAt ??= at;
        break;
      case 'outputs':
        if (this.#landed !== true) this.#onOutputs(fact.pwm);
        break;
      default: // told by #whatItIs
    }
  }

  #onClock(startUtcMs: number): void {
    if (startUtcMs > FIRST_UTC_MS && startUtcMs < LAST_UTC_MS) this.#startUtcMs ??= Math.round(startUtcMs);
  }

  #onArmed(at: number, armed: boolean): void {
    if (armed === this.#armed) return;
    const isFirst = this.#armed === null;
    if (armed) this.#list(at, 'armed', isFirst ? 'before the log begins' : '');
    else if (!isFirst) this.#list(at, 'disarmed', '');
    if (armed) this.#armedAt = isFirst ? 0 : at;
    else if (this.#armed === true) this.#armedS += at - this.#armedAt;
    this.#armed = armed;
    this.#track.interrupt();
  }

  #onLanded(at: number, landed: boolean): void {
    if (this.#landed !== null && landed !== this.#landed) this.#list(at, landed ? 'landed' : 'takeoff', '');
    this.#landed = landed;
  }

  #onMode(at: number, mode: string | number): void {
    if (this.#modes.at(-1)?.mode === mode) return;
    if (this.#modes.length < MAX_LISTED) this.#modes.push({ mode, from: at });
    else this.isCut = true;
  }

  #onFailsafe(at: number, told: string, active: boolean): void {
    const name = shortened(told);
    if (this.#active.has(name) === active) return;
    if (active) {
      if (this.#active.size >= MAX_LISTED) return;
      this.#active.add(name);
      if (this.failsafes.size < MAX_LISTED && !this.failsafes.has(name)) this.failsafes.set(name, at);
    } else this.#active.delete(name);
    this.#list(at, 'failsafe', active ? name : `${name}: over`);
  }

  #onGlitch(at: number, source: 'ekf' | 'error', active: boolean): void {
    const known = this.#glitches.get(source) ?? { count: 0, active: false };
    if (active && !known.active) {
      known.count++;
      this.glitchAt ??= at;
    }
    known.active = active;
    this.#glitches.set(source, known);
  }

  #onClips(at: number, sensor: number, count: number): void {
    if (!Number.isSafeInteger(count) || count < 0) return; // a damaged log
    const known = this.#clips.get(sensor);
    if (known === undefined) {
      if (this.#clips.size < MAX_SENSORS) this.#clips.set(sensor, { last: count, added: 0 });
      return;
    }
    if (count > known.last) {
      known.added += count - known.last;
      this.clipAt ??= at;
    }
    known.last = count;
  }

  #onOutputs(pwm: readonly number[]): void {
    for (const [index, value] of pwm.entries())
      this.outputSums[index] = (this.outputSums[index] ?? 0) + value;
    this.outputSamples++;
  }

  #list(at: number, kind: Event['kind'], text: string): void {
    if (this.#events.length < MAX_LISTED)
      this.#events.push({ at_s: rounded(at), kind, text: shortened(text) });
    else this.isCut = true;
  }

  /** Never before the first record. */
  #since(at: number): number {
    return Math.max(0, at - (this.#start ?? at));
  }
}

type Ratios = Extract<Fact, { readonly kind: 'ekf' }>;

function worstRatio({ velocity, position, height }: Ratios): number {
  return Math.max(...[velocity, position, height].filter(Number.isFinite));
}

/**
 * What ArduPilot's EKF check compares with FS_EKF_THRESH: it fails if two of the three are above it, or the velocity is above twice as
 * much (`ekf_over_threshold`, https://github.com/ArduPilot/ardupilot/blob/master/ArduCopter/ekf_check.cpp).
 */
function ardupilotVariance({ compass, velocity, position }: Ratios): number {
  const [, second = 0] = [compass, velocity, position].filter(Number.isFinite).toSorted((a, b) => b - a);
  return Math.max(second, Number.isFinite(velocity) ? velocity / 2 : 0);
}

function shortened(text: string): string {
  return plainText(text).trim().slice(0, MAX_TEXT);
}

function rounded(value: number, digits?: number): number;
function rounded(value: number | null, digits?: number): number | null;
function rounded(value: number | null, digits = 3): number | null {
  return value === null || !Number.isFinite(value) ? null : Number(value.toFixed(digits));
}
