import { type Family, modeName } from '../flight/modes.ts';
import { plainText } from '../plain-text.ts';
import type { FlightReport } from '../schemas/flight-report.ts';
import { Correlation } from './correlation.ts';
import { Extreme } from './extreme.ts';
import type { Fact, FactOf, FactSink, Firmware, LogKind } from './facts.ts';
import {
  ASTRAY,
  Findings,
  type Judged,
  type Motor,
  type MotorLayout,
  motorLayoutOf,
  motorsOf,
  SATURATED,
  WORKING_RPM,
} from './findings.ts';
import { metres, Track } from './track.ts';

/** A log may have a million of them. */
const MAX_LISTED = 500;
const MAX_TEXT = 200;
const MAX_FINDING = 500;
const MAX_SENSORS = 8;
const OUTPUTS = 32;
/** Parameters that a rule looks at. */
const PARAMS =
  /^(?:BATT_(?:LOW|CRT)_VOLT|FS_EKF_THRESH|SERVO\d{1,2}_FUNCTION|MOT_PWM_(?:MIN|MAX)|BAT1?_V_EMPTY)$/;
/** Between two positions of which one may be expected from the other. */
const JUMP_S = 5;
const MAX_ESCS = 12;
/** Of the range of the outputs. */
const IDLE = 0.05;
/** A supply below is one that is not measured. */
const LEAST_BOARD_V = 2;
/** The clock of a receiver before its first fix shows 1980, or nothing. */
const FIRST_UTC_MS = Date.UTC(2000);
const LAST_UTC_MS = Date.UTC(2100);

type Event = FlightReport['events'][number];

const CUT = {
  severity: 'info',
  text: 'The log has more modes or events than are listed.',
  at_s: null,
} as const satisfies FlightReport['findings'][number];

/** What the facts of one log come to. It takes so much memory, however long the log is. */
export class Flight implements FactSink, Judged {
  firmware: Firmware | null = null;
  family: Family | null = null;
  log: LogKind | null = null;
  rotary: boolean | null = null;
  armed: boolean | null = null;
  landed: boolean | null = null;
  height: number | null = null;
  heardAt: number | null = null;
  end = 0;
  amps: number | null = null;
  board: { highest: number; last: number } | null = null;
  fieldChange = 0;
  attitudeError: number | null = null;
  jump: number | null = null;
  readonly rpms: number[] = [];
  readonly worked = new Set<number>();
  readonly params = new Map<string, number>();
  changedFrom: number | null = null;
  readonly outputSums: number[] = Array.from({ length: OUTPUTS }, () => 0);
  outputSamples = 0;
  motors: readonly Motor[] = [];

  #findings = new Findings();
  #layout: MotorLayout | null = null;
  #vibration = new Extreme('max');
  #voltage = new Extreme('min');
  #cell = new Extreme('min');
  #satellites = new Extreme('min');
  #hdop = new Extreme('max');
  #isCut = false;
  /** It has not followed once: what the motors do then is no balance. */
  #isAstray = false;
  readonly #track = new Track();
  #speed = new Extreme('max');
  readonly #clips = new Map<number, { last: number; added: number }>();
  readonly #glitches = new Map<'ekf' | 'error', { count: number; active: boolean }>();
  readonly #active = new Set<string>();
  readonly #linked = new Set<string>();
  readonly #events: Event[] = [];
  readonly #modes: { mode: string | number; from: number }[] = [];
  #vehicle: string | null = null;
  #start: number | null = null;
  #startUtcMs: number | null = null;
  /** Of the flights that are over, s; and when the one that is not began. */
  #armedS = 0;
  #armedAt = 0;
  #volts: { first: number; last: number } | null = null;
  #used: { first: number; last: number } | null = null;
  #field: number | null = null;
  readonly #fieldOfCurrent = new Correlation();
  #lane: number | null = null;
  #desired: FactOf<'desired'> | null = null;
  #fix: { readonly at: number; readonly fix: FactOf<'fix'> } | null = null;

  /** Whether anything was told at all. */
  get isEmpty(): boolean {
    return this.#start === null;
  }

  seen(at: number): void {
    if (!Number.isFinite(at)) return;
    this.#start ??= at;
    this.end = Math.max(this.end, this.#since(at));
  }

  take(at: number, fact: Fact): void {
    this.seen(at);
    const s = this.#since(at);
    if (fact.kind === 'link') {
      if (!fact.isLost) this.#linked.add(fact.name);
      if (this.#linked.has(fact.name)) this.take(at, { ...fact, kind: 'failsafe', active: fact.isLost });
      return;
    }
    const wasArmed = this.armed;
    if (!this.#whatItIs(s, fact) && this.armed !== false) this.#inFlight(s, fact);
    // Why it crashed is also said by one that has disarmed for it.
    if (wasArmed !== false || fact.kind === 'verdict' || (fact.kind === 'failsafe' && !fact.active))
      this.#findings.take(s, fact, this);
    this.heardAt = s;
  }

  /** @returns what the schema of the same name says */
  report(): FlightReport {
    const inFlight = this.#armedS + (this.armed === true ? this.end - this.#armedAt : 0);
    const duration = this.isEmpty
      ? null
      : rounded(this.armed === null ? this.end : Math.min(this.end, inFlight));
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
        min: rounded(this.#voltage.value),
        min_at_s: this.#voltage.value === null ? null : rounded(this.#voltage.at),
        used_mah: this.#used === null ? null : rounded(this.#used.last - this.#used.first, 1),
        min_cell_v: rounded(this.#cell.value),
      },
      gps: {
        min_satellites: this.#satellites.value,
        worst_hdop: rounded(this.#hdop.value, 2),
        glitches: this.glitches,
      },
      vibration: { max: rounded(this.#vibration.value, 2), clips: this.clips },
      modes: this.#modes.map(({ mode, from }, index) => ({
        name: typeof mode === 'string' ? mode : modeName(this.family, mode),
        from_s: rounded(from),
        to_s: rounded(this.#modes[index + 1]?.from ?? this.end),
      })),
      events: this.#events,
      track: this.#track.points.map(({ lat, lon }) => ({ lat: rounded(lat, 6), lon: rounded(lon, 6) })),
      findings: [
        ...this.#findings
          .found(this)
          .map((finding) => ({ ...finding, text: plainText(finding.text).slice(0, MAX_FINDING) })),
        ...(this.#isCut ? [CUT] : []),
      ],
    };
  }

  get mode(): string | null {
    const last = this.#modes.at(-1)?.mode;
    if (last === undefined) return null;
    return typeof last === 'string' ? last : modeName(this.family, last);
  }

  get restingVolts(): number | null {
    return this.#volts?.first ?? null;
  }

  get fieldOfCurrent(): number | null {
    return this.#fieldOfCurrent.value;
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
      case 'log':
        this.log = fact.log;
        return true;
      case 'rotary':
        this.rotary = fact.rotary;
        return true;
      case 'vehicle':
        this.#vehicle = shortened(fact.text);
        this.family = fact.family ?? this.family;
        return true;
      case 'clock':
        this.#onClock(fact.utcMs - at * 1000);
        return true;
      case 'param':
        this.#onParam(fact.name, fact.value);
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
      case 'lane':
        this.#onLane(at, fact);
        return true;
      case 'verdict':
        return true;
      default:
        return false;
    }
  }

  #inFlight(at: number, fact: Fact): void {
    switch (fact.kind) {
      case 'position':
        this.#track.position(at, fact);
        this.height = fact.height ?? this.#track.above(fact.alt);
        break;
      case 'speed':
        this.#speed.take(at, fact.ms);
        break;
      case 'voltage':
        this.#volts = { first: this.#volts?.first ?? fact.volts, last: fact.volts };
        this.#voltage.take(at, fact.volts);
        break;
      case 'used':
        this.#used = { first: this.#used?.first ?? fact.mah, last: fact.mah };
        break;
      case 'cell':
        this.#cell.take(at, fact.volts);
        break;
      case 'current':
        this.amps = fact.amps;
        break;
      case 'board':
        this.#onBoard(fact.volts);
        break;
      case 'gps':
        if (fact.satellites !== null) this.#satellites.take(at, fact.satellites);
        if (fact.hdop !== null) this.#hdop.take(at, fact.hdop);
        break;
      default:
        this.#ofSensors(at, fact);
    }
  }

  #ofSensors(at: number, fact: Fact): void {
    switch (fact.kind) {
      case 'glitch':
        this.#onGlitch(fact.source, fact.active);
        break;
      case 'vibration':
        this.#vibration.take(at, fact.level);
        break;
      case 'clips':
        this.#onClips(fact.sensor, fact.count);
        break;
      case 'field':
        this.#field ??= fact.length;
        this.fieldChange = Math.abs(fact.length - this.#field) / this.#field;
        if (this.amps !== null) this.#fieldOfCurrent.take(this.amps, fact.length);
        break;
      case 'fix':
        this.#onFix(at, fact);
        break;
      case 'desired':
        this.#desired = fact;
        break;
      case 'attitude':
        this.attitudeError =
          this.#desired === null
            ? null
            : Math.max(
                Math.abs(turned(fact.roll - this.#desired.roll)),
                Math.abs(fact.pitch - this.#desired.pitch),
              );
        this.#isAstray ||= this.landed !== true && (this.attitudeError ?? 0) > ASTRAY;
        break;
      case 'esc':
        if (fact.index < MAX_ESCS) this.#onEsc(fact.index, fact.rpm);
        break;
      case 'outputs':
        this.#layout ??= motorLayoutOf(this.params);
        this.motors = motorsOf(fact.pwm, this.#layout);
        if (this.landed !== true) this.#onOutputs(fact.pwm);
        break;
      default: // told by #whatItIs
    }
  }

  #onBoard(volts: number): void {
    if (volts < LEAST_BOARD_V) return;
    this.board = { highest: Math.max(volts, this.board?.highest ?? 0), last: volts };
  }

  #onLane(at: number, { core, of = '' }: FactOf<'lane'>): void {
    if (this.#lane !== null && core !== this.#lane && this.armed !== false) {
      const text = `the estimator changed its core from ${this.#lane} to ${core}`;
      this.#findings.take(at, { kind: 'verdict', what: 'EKF lane switch', text, of }, this);
    }
    this.#lane = core;
  }

  /** Where the speed does not explain it. */
  #onFix(at: number, fix: FactOf<'fix'>): void {
    const last = this.#fix;
    this.jump = null;
    if (!fix.is3d) return;
    this.#fix = { at, fix };
    if (last === null || at - last.at > JUMP_S || at <= last.at) return;
    const speed = Math.max(...[fix.ms, last.fix.ms].filter(Number.isFinite), 0);
    this.jump = metres(last.fix, fix) - speed * (at - last.at);
  }

  #onClock(startUtcMs: number): void {
    if (startUtcMs > FIRST_UTC_MS && startUtcMs < LAST_UTC_MS) this.#startUtcMs ??= Math.round(startUtcMs);
  }

  #onArmed(at: number, armed: boolean): void {
    if (armed === this.armed) return;
    const isFirst = this.armed === null;
    if (isFirst && !armed) this.#forgetGround();
    // ArduCopter tells each takeoff.
    if (armed && !isFirst && this.log === 'dataflash' && this.family === 'copter') this.landed = true;
    if (armed) this.#list(at, 'armed', isFirst ? 'before the log begins' : '');
    else if (!isFirst) this.#list(at, 'disarmed', '');
    if (armed) this.#armedAt = isFirst ? 0 : at;
    else if (this.armed === true) this.#armedS += at - this.#armedAt;
    this.armed = armed;
    this.#track.interrupt();
  }

  /** What was told before the first arming was not of a flight: a log may begin long before its receiver has a fix. */
  #forgetGround(): void {
    this.#findings = new Findings();
    this.#vibration = new Extreme('max');
    this.#voltage = new Extreme('min');
    this.#cell = new Extreme('min');
    this.#satellites = new Extreme('min');
    this.#hdop = new Extreme('max');
    this.#speed = new Extreme('max');
    this.#volts = this.#used = this.#field = this.#fix = this.board = null;
    this.#glitches.clear();
    this.#clips.clear();
  }

  #onParam(name: string, value: number): void {
    const known = this.params.get(name);
    this.changedFrom = known === undefined || known === value ? null : known;
    if (!PARAMS.test(name)) return;
    this.params.set(name, value);
    this.#layout = null;
  }

  #onLanded(at: number, landed: boolean): void {
    if (this.landed !== null && landed !== this.landed) this.#list(at, landed ? 'landed' : 'takeoff', '');
    this.landed = landed;
  }

  #onMode(at: number, mode: string | number): void {
    if (this.#modes.at(-1)?.mode === mode) return;
    if (this.#modes.length < MAX_LISTED) this.#modes.push({ mode, from: at });
    else this.#isCut = true;
  }

  #onFailsafe(at: number, told: string, active: boolean): void {
    const name = shortened(told);
    if (this.#active.has(name) === active) return;
    if (active) {
      if (this.#active.size >= MAX_LISTED) return;
      this.#active.add(name);
    } else this.#active.delete(name);
    this.#list(at, 'failsafe', active ? name : `${name}: over`);
  }

  #onGlitch(source: 'ekf' | 'error', active: boolean): void {
    const known = this.#glitches.get(source) ?? { count: 0, active: false };
    if (active && !known.active) known.count++;
    known.active = active;
    this.#glitches.set(source, known);
  }

  #onClips(sensor: number, count: number): void {
    if (!Number.isSafeInteger(count) || count < 0) return; // a damaged log
    const known = this.#clips.get(sensor);
    if (known === undefined) {
      if (this.#clips.size < MAX_SENSORS) this.#clips.set(sensor, { last: count, added: 0 });
      return;
    }
    if (count > known.last) known.added += count - known.last;
    known.last = count;
  }

  #onEsc(index: number, rpm: number): void {
    this.rpms[index] = rpm;
    if (rpm > WORKING_RPM) this.worked.add(index);
  }

  /** One that is at its limit, or not yet at work, says nothing about balance; nor does a vehicle that does not follow any more. */
  #onOutputs(pwm: readonly number[]): void {
    if (this.#isAstray || this.motors.some(({ part }) => part > SATURATED || part < IDLE)) return;
    for (const [index, value] of pwm.entries())
      this.outputSums[index] = (this.outputSums[index] ?? 0) + value;
    this.outputSamples++;
  }

  #list(at: number, kind: Event['kind'], text: string): void {
    if (this.#events.length < MAX_LISTED)
      this.#events.push({ at_s: rounded(at), kind, text: shortened(text) });
    else this.#isCut = true;
  }

  /** Never before the first record. */
  #since(at: number): number {
    return Math.max(0, at - (this.#start ?? at));
  }
}

/** Between -180 and 180 degrees. */
function turned(degrees: number): number {
  return ((((degrees + 180) % 360) + 360) % 360) - 180;
}

function shortened(text: string): string {
  return plainText(text).trim().slice(0, MAX_TEXT);
}

function rounded(value: number, digits?: number): number;
function rounded(value: number | null, digits?: number): number | null;
function rounded(value: number | null, digits = 3): number | null {
  return value === null || !Number.isFinite(value) ? null : Number(value.toFixed(digits));
}
