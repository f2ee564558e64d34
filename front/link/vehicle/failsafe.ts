import type { BatteryState } from '../../../shared/flight/battery-state.ts';
import type { SystemState } from '../../../shared/flight/system-state.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';
import type { Clock } from '../clock.ts';
import type { StatusLine } from '../part.ts';
import type { Sensors } from './telemetry.ts';

/** What a vehicle calls a failsafe by, in its own texts; ArduCopter has three that it acts on and never shows in its state. */
const SAID = /fail-?safe|^crash: disarming|^vibration compensation|^potential thrust loss/i;
/** Texts that only warn of it: before arming, or of a setting. */
const NOT_ONE = /prearm|^arm:|fs_|disabled|enabled|changed to .* failsafe options/i;
const OVER = /clear(ed)?\b|\boff\b|deactivated|ended|recovered|regained/i;
/** Words in a text, and what it is about. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^crash/i, 'crash'],
  [/\bdead ?reckon/i, 'dead_reckoning'],
  [/\b(ekf|estimat\w*|position|velocity|altitude|heading|attitude)\b/i, 'estimator'],
  [/\b(gcs|ground ?(control )?station|data ?link|connection)\b/i, 'station'],
  [/\b(batter(y|ies)|voltage|energy)\b/i, 'battery'],
  [/\b(radio|rc|throttle|manual control|short|long)\b/i, 'radio'],
  [/\b(geo)?fence\b/i, 'fence'],
  [/\bterrain\b/i, 'terrain'],
  [/\bvibration/i, 'vibration'],
  [/\bleak/i, 'leak'],
  [/\b(adsb|traffic|avoid\w*)\b/i, 'traffic'],
  [/\bwind\b/i, 'wind'],
  [/\b(motors?|escs?|actuators?|thrust)\b/i, 'motor'],
  [/\b(gps|gnss)\b/i, 'gps'],
  [/\boffboard\b/i, 'offboard'],
  [/\bmission\b/i, 'mission'],
];
/** Has disarmed it, and stands until somebody arms it again. */
const CRASH = 'crash';
/** Of a text that names none. */
const OTHER = 'other';
/** MAV_SYS_STATUS_SENSOR: in use and not working. Said of only while a failsafe acts and no text has said why. */
const SENSORS: readonly (readonly [number, string])[] = [
  [65_536, 'radio'],
  [33_554_432, 'battery'],
  [1_048_576, 'fence'],
  [2_097_152, 'estimator'],
  [32, 'gps'],
];
const ACTING: ReadonlySet<SystemState | null> = new Set(['critical', 'emergency', 'flight_termination']);
const SHORT: ReadonlySet<BatteryState | null> = new Set(['critical', 'emergency', 'failed']);
/** How long a reason stands beside a heartbeat that shows no failsafe: one that only warns never shows, and its end may be lost. */
const STANDS_MS = 5000;
/** Of one the vehicle tells the end, another it repeats as long as it lasts. */
const LASTS_MS: Readonly<Record<string, number>> = { vibration: Infinity, motor: 15_000 };
/** Its words come later than its state; a sensor that does not work may be no reason. */
const WORDS_MS = 3000;
const MOST = 8;

/**
 * Whether the vehicle acts by itself because something failed, and why: from the state in its heartbeat (both firmwares say
 * "critical" while a failsafe acts), its fence, its batteries and sensors, and its texts where nothing else says it.
 */
export class Failsafes {
  readonly #clock: Clock;
  /** Reasons of texts, and when each was said. */
  readonly #said = new Map<string, number>();
  /** Since when its state shows one; null: it does not. */
  #actsFrom: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  forget(): void {
    this.#said.clear();
  }

  onLine({ text }: StatusLine): void {
    if (!SAID.test(text) || NOT_ONE.test(text)) return;
    // ArduCopter's "Radio + Battery Failsafe" is about two.
    for (const part of text.split(' + ')) {
      const cause = CAUSES.find(([words]) => words.test(part))?.[1] ?? OTHER;
      if (OVER.test(text)) this.#said.delete(cause);
      else if (this.#said.size < MOST) this.#said.set(cause, this.#clock.now());
    }
  }

  /** Whether a text has told of one since. @param since monotonic ms */
  actsSince(since: number): boolean {
    return [...this.#said.values()].some((at) => at >= since);
  }

  /** Writes it into the telemetry. */
  write(telemetry: Telemetry, sensors: Sensors | null): void {
    const { system_state: state, fence, battery, armed, position } = telemetry;
    const acts = ACTING.has(state);
    const now = this.#clock.now();
    this.#actsFrom = acts ? (this.#actsFrom ?? now) : null;
    for (const [cause, at] of this.#said) {
      const isOld = now - at > (LASTS_MS[cause] ?? STANDS_MS);
      const isOver = cause === CRASH ? armed === true && isOld : !acts && (armed === false || isOld);
      if (isOver) this.#said.delete(cause);
    }
    const reasons = new Set(this.#said.keys());
    if (fence?.breached === true && armed === true) reasons.add('fence');
    if (SHORT.has(battery.state) && (acts || armed === true)) reasons.add('battery');
    // PX4's "Autopilot disengaged, switching to Descend" has no cause in it.
    reasons.delete(OTHER);
    if (acts && position.state === 'lost') reasons.add('estimator');
    if (reasons.size === 0 && sensors !== null && this.#actsFrom !== null && now - this.#actsFrom >= WORDS_MS)
      for (const [bit, cause] of SENSORS)
        if ((sensors.enabled & bit) !== 0 && (sensors.health & bit) === 0) reasons.add(cause);
    // PX4 only warns of a low one: it is the reason where there is no other.
    if (acts && reasons.size === 0 && battery.state === 'low') reasons.add('battery');
    if (acts && reasons.size === 0 && this.#said.has(OTHER)) reasons.add(OTHER);
    telemetry.failsafe = {
      active: state === null ? null : acts || reasons.has(CRASH) || (armed === true && reasons.size > 0),
      reasons: [...reasons].toSorted(),
    };
  }
}
