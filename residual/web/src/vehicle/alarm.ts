import type { BatteryState } from '../../../../shared/flight/battery-state.ts';
import { keysOf } from '../../../../shared/member.ts';

/** What is wrong with the flight, from what the vehicle says now: what, why, what it does by itself, what a pilot can do about it. */

/** The worst first. */
const ORDER = [
  'link',
  'termination',
  'failsafe',
  'fence',
  'position',
  'battery',
  'estimator',
  'estimated',
] as const;
export type Trouble = (typeof ORDER)[number];

/** Modes, in words that every pilot knows; `stands`: on the ground; of one that is not heard, `disarmed` when it was last, or `failsafes`. */
export type Does =
  | 'returns'
  | 'lands'
  | 'hovers'
  | 'stays'
  | 'height'
  | 'mission'
  | 'sent'
  | 'sticks'
  | 'surfaces'
  | 'stands'
  | 'off'
  | 'disarmed'
  | 'failsafes';
/** `radio`: with the pilot's transmitter; the others are commands. */
export type Can = 'land' | 'rtl' | 'stop' | 'disarm' | 'radio';

/** What of it is not of now, or was never told, is null. */
export interface AlarmFacts {
  /** There is a vehicle, and it is not heard. */
  readonly isSilent: boolean;
  /** Of a silent one the last. */
  readonly phase: 'disarmed' | 'armed' | 'flight';
  /** What it last said of its motors. */
  readonly wasArmed: boolean | null;
  readonly mode: string | null;
  /** It says that it is landing now, in whichever mode. */
  readonly isLanding: boolean;
  readonly failsafe: { readonly active: boolean | null; readonly reasons: readonly string[] } | null;
  readonly system: string | null;
  readonly battery: BatteryState | null;
  readonly position: 'ok' | 'estimated' | 'lost' | null;
  readonly isBreached: boolean | null;
  /** Whether its estimator is well. */
  readonly isWell: boolean | null;
  /** `copter`: it can stand in the air; `ground`: it does not fly at all. */
  readonly craft: 'copter' | 'wing' | 'ground';
}

export interface Alarm {
  readonly what: Trouble;
  readonly tone: 'bad' | 'warn';
  /** Of the failsafe, as the node names them. */
  readonly reasons: readonly string[];
  /** Null: only its mode is known, or nothing. */
  readonly does: Does | null;
  readonly can: readonly Can[];
  /** What else is wrong. */
  readonly also: readonly Trouble[];
}

const MODES: Readonly<
  Record<'returns' | 'lands' | 'stays' | 'height' | 'mission' | 'sent' | 'sticks', string>
> = {
  returns: 'RTL SMART_RTL AUTO_RTL QRTL AUTO.RTL',
  lands: 'LAND QLAND AUTOLAND LOITER_ALT_QLAND AUTO.LAND AUTO.PRECLAND',
  stays: 'LOITER POSHOLD BRAKE QLOITER HOLD CIRCLE AUTO.LOITER',
  height: 'ALT_HOLD QHOVER ALTCTL',
  mission: 'AUTO AUTO.MISSION',
  sent: 'GUIDED OFFBOARD',
  sticks: 'STABILIZE STABILIZED ACRO MANUAL SPORT DRIFT FBWA FBWB CRUISE TRAINING QSTABILIZE STEERING POSCTL',
};
const DOES: ReadonlyMap<string, keyof typeof MODES> = new Map(
  keysOf(MODES).flatMap((does) => MODES[does].split(' ').map((mode) => [mode, does] as const)),
);
const OUT: ReadonlySet<BatteryState | null> = new Set(['critical', 'emergency', 'failed']);
const SHORT: ReadonlySet<BatteryState | null> = new Set([...OUT, 'low', 'unhealthy']);
/** Reasons of a failsafe that say what else was found. */
const SAYS: Readonly<Partial<Record<string, readonly Trouble[]>>> = {
  battery: ['battery'],
  fence: ['fence'],
  // Who lost its position has an estimator that is not well.
  estimator: ['estimator'],
  position: ['position', 'estimator'],
  gps: ['position', 'estimated'],
};
/** What it cannot do without a position. */
const NEEDS_PLACE: ReadonlySet<Does> = new Set(['returns', 'stays', 'mission', 'sent']);
/** With these it does not find home. */
const PLACELESS: readonly string[] = ['estimator', 'gps', 'dead_reckoning'];

/** Null: nothing that a pilot has to know at once. */
export function alarmOf(facts: AlarmFacts): Alarm | null {
  const { phase, failsafe } = facts;
  const tones = tonesOf(facts);
  const found = ORDER.filter((trouble) => tones[trouble] !== null);
  const [what, ...others] = found;
  if (what === undefined) return null;
  const reasons = (what === 'failsafe' ? (failsafe?.reasons ?? []) : []).map((reason) =>
    reason === 'estimator' && found.includes('position') ? 'position' : reason,
  );
  const said = new Set(reasons.flatMap((reason) => SAYS[reason] ?? []));
  const does = what === 'termination' ? 'off' : doesOf(facts);
  const tone = tones[what] ?? 'warn';
  return {
    what,
    tone,
    reasons,
    does,
    can: phase === 'disarmed' || what === 'termination' ? [] : canOf(facts, does, tone),
    also: others.filter(
      (each) =>
        !said.has(each) &&
        !(each === 'estimator' && found.includes('position')) &&
        !(each === 'failsafe' && what === 'termination'),
    ),
  };
}

function tonesOf({
  isSilent,
  phase,
  failsafe,
  system,
  battery,
  position,
  isBreached,
  isWell,
}: AlarmFacts): Readonly<Record<Trouble, Alarm['tone'] | null>> {
  const flies = phase === 'flight';
  const isOn = phase !== 'disarmed';
  const when = (is: boolean, tone: Alarm['tone']): Alarm['tone'] | null => (is && !isSilent ? tone : null);
  return {
    link: isSilent ? (isOn ? 'bad' : 'warn') : null,
    termination: when(system === 'flight_termination', 'bad'),
    failsafe: when(failsafe?.active === true, isOn || hasCrashed(failsafe) ? 'bad' : 'warn'),
    fence: when(isOn && isBreached === true, 'bad'),
    position: when(isOn && position === 'lost', flies ? 'bad' : 'warn'),
    battery: when(isOn && SHORT.has(battery), OUT.has(battery) ? 'bad' : 'warn'),
    estimator: when(flies && isWell === false, 'bad'),
    estimated: when(flies && position === 'estimated', 'warn'),
  };
}

function doesOf({
  isSilent,
  phase,
  wasArmed,
  mode,
  isLanding,
  failsafe,
  position,
  craft,
}: AlarmFacts): Does | null {
  if (isSilent && phase === 'disarmed') return wasArmed === false ? 'disarmed' : null;
  if (isSilent) return 'failsafes';
  if (hasCrashed(failsafe)) return 'off';
  if (phase !== 'flight') return 'stands';
  if (mode === 'SURFACE') return 'surfaces';
  const does = DOES.get(mode ?? '') ?? null;
  // In these it wants to; whether it does, nobody knows.
  if (position === 'lost' && does !== null && NEEDS_PLACE.has(does)) return null;
  // Back at home, or where it is to end, it comes down.
  if (does === 'returns' && isLanding) return 'lands';
  return does === 'stays' && craft === 'copter' ? 'hovers' : does;
}

/** Its own check has disarmed it, wherever it lies. */
function hasCrashed(failsafe: AlarmFacts['failsafe']): boolean {
  return failsafe?.reasons.includes('crash') === true;
}

function canOf(
  { isSilent, phase, mode, failsafe, battery, position, craft }: AlarmFacts,
  does: Does | null,
  tone: Alarm['tone'],
): readonly Can[] {
  if (phase === 'armed') return ['disarm'];
  const reasons = failsafe?.reasons ?? [];
  const knowsWay = position !== 'lost' && !PLACELESS.some((reason) => reasons.includes(reason));
  const can: Readonly<Record<Can, boolean>> = {
    land: craft !== 'ground' && does !== 'lands',
    stop: craft === 'ground',
    // One that is nearly empty does not go far.
    rtl: DOES.get(mode ?? '') !== 'returns' && (isSilent || (knowsWay && !OUT.has(battery))),
    disarm: false,
    radio: tone === 'bad' && (isSilent || !reasons.includes('radio')),
  };
  return (['land', 'stop', 'rtl', 'radio'] as const).filter((each) => can[each]);
}
