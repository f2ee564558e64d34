import { ARM_ADVICE, armTopic } from '../../../shared/flight/arm-advice.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { PrearmReason, PrearmReport } from '../../../shared/rpc/telemetry.ts';
import type { Clock } from '../clock.ts';
import type { Part, SessionReason, StatusLine } from '../part.ts';
import { armReasons, saysMode } from './arm-reasons.ts';
import type { Sensors } from './telemetry.ts';
import type { Vehicle } from './vehicle.ts';

/** How the firmwares begin the text of a check that fails before arming. */
export const FAILED_CHECK = /^(?:PreArm|Preflight Fail): /;
/** ArduPilot repeats its failed checks every 30 s; one that is left out twice has been fixed. */
const TOLD_MS = 65_000;
const MAX_REASONS = 32;
/** A SYS_STATUS that is older than this says nothing about now. */
const FRESH_MS = 10_000;

/** ArduPilot and PX4 run their checks at least this often, for the mode that they are in. */
const CHECKS_MS = 1000;

/** MAV_SYS_STATUS_SENSOR_RC_RECEIVER */
const RC_RECEIVER = 0x1_0000;
/** MAV_SYS_STATUS_PREARM_CHECK */
const PREARM_CHECK = 0x1000_0000;
/** MAV_SYS_STATUS_SENSOR in words; bit 28 is the check itself, 31 not a sensor. */
const SENSORS: readonly (readonly [bit: number, words: string])[] = [
  [0x1, 'gyroscope'],
  [0x2, 'accelerometer'],
  [0x4, 'compass'],
  [0x8, 'barometer'],
  [0x10, 'airspeed sensor'],
  [0x20, 'GPS'],
  [0x40, 'optical flow'],
  [0x80, 'position by vision'],
  [0x100, 'laser rangefinder'],
  [0x200, 'external position'],
  [0x400, 'rate control'],
  [0x800, 'attitude control'],
  [0x1000, 'yaw control'],
  [0x2000, 'altitude control'],
  [0x4000, 'position control'],
  [0x8000, 'motor outputs'],
  [0x1_0000, 'RC receiver'],
  [0x2_0000, 'second gyroscope'],
  [0x4_0000, 'second accelerometer'],
  [0x8_0000, 'second compass'],
  [0x10_0000, 'fence'],
  [0x20_0000, 'attitude estimate'],
  [0x40_0000, 'terrain data'],
  [0x80_0000, 'motor direction'],
  [0x100_0000, 'logging'],
  [0x200_0000, 'battery'],
  [0x400_0000, 'proximity sensor'],
  [0x800_0000, 'satellite link'],
  [0x2000_0000, 'obstacle avoidance'],
  [0x4000_0000, 'propulsion'],
];

/** Something that the vehicle told, and when: on the clock, and by the wall. */
export interface PrearmLine {
  readonly text: string;
  readonly at: number;
  readonly wall: number;
}

interface PrearmOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  /** The checks that fail by the vehicle's events. */
  readonly checks: () => readonly PrearmLine[];
  /** The words of those that fail by its events and do not keep it from arming in the present mode. */
  readonly harmless: () => readonly string[];
  /** A parameter's value, null: not known. */
  readonly param: (name: string) => number | null;
  /** The mode that a take-off changes to; null: none, or not known. */
  readonly takesOffIn: () => string | null;
  /** What the Remote ID transmitter says against it; null: nothing. */
  readonly remoteId: () => string | null;
}

/**
 * Whether the vehicle would arm, and what speaks against it, in its own words: texts (ArduPilot), events (PX4), and
 * SYS_STATUS of both; and what it looks at only when somebody arms (arm-reasons.ts).
 */
export class Prearm implements Part {
  readonly #options: PrearmOptions;
  /** Texts of failed checks, the newest last. */
  #told: readonly PrearmLine[] = [];
  #mode: number | null = null;
  /** On the clock: checks from before are not of the present mode. */
  #checkedFrom = -Infinity;
  #status: (Sensors & Omit<PrearmLine, 'text'>) | null = null;

  constructor(options: PrearmOptions) {
    this.#options = options;
  }

  onLine({ text }: StatusLine): void {
    if (!FAILED_CHECK.test(text)) return;
    const others = this.#told.filter((told) => told.text !== text);
    this.#told = [...others, { text, ...this.#stamp() }].slice(-MAX_REASONS);
  }

  onTelemetry(id: number): void {
    if (id !== MSG.SYS_STATUS) return;
    const { sensors } = this.#options.vehicle;
    this.#status = sensors === null ? null : { ...sensors, ...this.#stamp() };
    if (this.#verdict() === true) this.#told = []; // what was told before it has been fixed
  }

  /** A heartbeat has come: another mode has other checks, and the last status is still of the former. */
  onHeartbeat(): void {
    const { clock, vehicle } = this.#options;
    if (this.#mode !== null && this.#mode !== vehicle.customMode) this.#checkedFrom = clock.now() + CHECKS_MS;
    this.#mode = vehicle.customMode;
    if (vehicle.armed === true) this.#forget();
  }

  onSession(reason: SessionReason): void {
    if (reason !== 'connected') this.#forget();
  }

  /** The vehicle has armed, or it is another vehicle. */
  #forget(): void {
    this.#told = [];
    this.#status = null;
  }

  /** The vehicle has told all failed checks anew. @param since on the clock: what it has not told since then is over */
  renewed(since: number): void {
    this.#told = this.#told.filter(({ at }) => at >= since);
  }

  /** The failed checks in the vehicle's words, the newest last. */
  get failing(): readonly string[] {
    return [...new Set([...this.#options.checks(), ...this.#texts()].map(({ text }) => text))];
  }

  get report(): PrearmReport {
    const { vehicle, param, clock, takesOffIn } = this.#options;
    const known = vehicle.firmware === 'ardupilot' || vehicle.firmware === 'px4';
    const takeoff_mode = known && vehicle.alive ? takesOffIn() : null;
    if (!known || !vehicle.alive || vehicle.armed !== false)
      return { can_arm: null, reasons: [], checked_at: this.#checkedAt(null), takeoff_mode };
    const verdict = this.#verdict();
    const receiver = ((this.#fresh()?.health ?? 0) & RC_RECEIVER) !== 0;
    const own = armReasons(vehicle, { param, receiver, wall: clock.wall() });
    // ArduPilot's text stays for a minute, and the mode may have been changed since.
    const byMode = vehicle.firmware === 'ardupilot' || own.some(({ source }) => source === 'mode');
    const isNew = ({ text }: PrearmLine): boolean => !(byMode && saysMode(text));
    // A check that failed after the verdict counts; the next verdict will agree.
    const since = verdict === true ? (this.#status?.at ?? 0) : -Infinity;
    const events = this.#options.checks().filter((check) => check.at >= since && isNew(check));
    const said = new Set(events.map(({ text }) => text.toLowerCase()));
    const texts = this.#texts().filter(
      (told) =>
        told.at >= since && isNew(told) && !said.has(told.text.replace(FAILED_CHECK, '').toLowerCase()),
    );
    const told = [...reasons(events, 'event'), ...reasons(texts, 'statustext')];
    const canArm = own.length + told.length > 0 ? false : verdict;
    const remoteId = this.#remoteId(told.map(({ text }) => text));
    const unexplained = verdict === false && own.length + told.length === 0;
    // PX4's events say all; its sensors may be ones that the present mode does not need.
    const explained = vehicle.firmware === 'px4' && events.length > 0;
    const silent = verdict === true || explained ? [] : this.#unhealthy(unexplained);
    return {
      can_arm: canArm,
      reasons: [...own, ...told, ...reasons(silent, 'sys_status'), ...remoteId].slice(0, MAX_REASONS),
      checked_at: this.#checkedAt([...events, ...texts]),
      takeoff_mode,
    };
  }

  /** Of the transmitter, unless the vehicle has said the same: it may arm all the same. */
  #remoteId(said: readonly string[]): PrearmReason[] {
    const problem = this.#options.remoteId();
    const told = problem?.replace(/^Remote ID: /, '') ?? '';
    if (problem === null || said.some((text) => text.includes(told))) return [];
    return reasons([{ text: problem, ...this.#stamp() }], 'remote_id');
  }

  #texts(): readonly PrearmLine[] {
    const { clock, harmless } = this.#options;
    const since = clock.now() - TOLD_MS;
    const known = new Set(harmless().map((text) => text.toLowerCase()));
    return this.#told.filter(
      ({ at, text }) => at >= since && !known.has(text.replace(FAILED_CHECK, '').toLowerCase()),
    );
  }

  #fresh(): (Sensors & Omit<PrearmLine, 'text'>) | null {
    const status = this.#status;
    return status !== null && this.#options.clock.now() - status.at <= FRESH_MS ? status : null;
  }

  /**
   * What the bit for the check says. ArduPilot enables it unless all checks are off (ARMING_CHECK 0; GCS.cpp); PX4 since 1.14
   * has it only in `health` (SYS_STATUS.hpp), for the present mode.
   */
  #verdict(): boolean | null {
    const status = this.#fresh();
    if (status === null || status.at < this.#checkedFrom) return null;
    const { present, enabled, health } = status;
    if (this.#options.vehicle.firmware === 'px4') return (health & PREARM_CHECK) !== 0;
    return (present & enabled & PREARM_CHECK) === 0 ? null : (health & PREARM_CHECK) !== 0;
  }

  /** Sensors that do not work. @param unexplained the check fails, and nothing else says why */
  #unhealthy(unexplained: boolean): readonly PrearmLine[] {
    const status = this.#fresh();
    if (status === null) return [];
    const { present, enabled, health, at, wall } = status;
    // PX4 enables what it needs and does not have.
    const bad = SENSORS.filter(([bit]) => (enabled & bit) !== 0 && (health & bit) === 0).map(
      ([bit, words]) => `${words}: ${(present & bit) === 0 ? 'missing' : 'unhealthy'}`,
    );
    const all = bad.length === 0 && unexplained ? ['the checks fail, and the vehicle has not said why'] : bad;
    return all.map((text) => ({ text, at, wall }));
  }

  #checkedAt(told: readonly PrearmLine[] | null): string | null {
    const walls = [...(told ?? []), ...(this.#status === null ? [] : [this.#status])].map(({ wall }) => wall);
    return walls.length === 0 ? null : new Date(Math.max(...walls)).toISOString();
  }

  #stamp(): Omit<PrearmLine, 'text'> {
    const { clock } = this.#options;
    return { at: clock.now(), wall: clock.wall() };
  }
}

function reasons(told: readonly PrearmLine[], source: PrearmReason['source']): PrearmReason[] {
  return told.map(({ text, wall }) => ({
    text,
    source,
    at: new Date(wall).toISOString(),
    help: { text: ARM_ADVICE[armTopic(text, source)], commands: [] },
  }));
}
