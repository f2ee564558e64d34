import type { Family } from './modes.ts';

/**
 * What a calibration of the radio writes, from what its channels were seen to do. As with QGroundControl and Mission Planner: no vehicle
 * has such a calibration of its own (PX4's rc_calibration.cpp is about the trim of an aircraft), it is parameters that a ground station
 * writes. Sources: ArduPilot's RC_Channel.cpp, AP_Arming::rc_calibration_checks and radio.cpp of each vehicle; PX4's rc_update.cpp and
 * rcCalibrationCheck.cpp.
 */

const STICKS = ['roll', 'pitch', 'throttle', 'yaw'] as const;
export type Stick = (typeof STICKS)[number];

/** The sticks of a family: a rover steers by roll, and what it has on the channels of pitch and yaw need not be sticks (its radio.cpp). */
export function sticksIn(family: Family): readonly Stick[] {
  return family === 'rover' ? ['roll', 'throttle'] : STICKS;
}

/** The channel of each stick, from 1; 0: none. */
export type StickChannels = Readonly<Record<Stick, number>>;

/** The lowest and the highest that a channel was, µs. */
interface Span {
  readonly low: number;
  readonly high: number;
}
/** By channel; null: nothing came on it. */
export type Spans = readonly (Span | null)[];

/** Where a channel ends and rests, µs. */
interface Travel {
  readonly min: number;
  readonly max: number;
  readonly trim: number;
}

/** Why a channel is left as it is. Of a stick all but the first is a reason to write nothing at all. */
type Fault = 'still' | 'unsteady' | 'beyond' | 'off-centre' | 'throttle-up';

interface RadioProblem {
  readonly problem: Fault | 'nothing' | 'unmapped' | 'shared';
  readonly stick: Stick | null;
  /** 0: of none. */
  readonly channel: number;
}

export interface PlannedChannel {
  readonly channel: number;
  readonly stick: Stick | null;
  /** As it stands: a calibration does not turn a channel round. */
  readonly reversed: boolean;
  readonly was: Travel;
  /** Null: it is left as it is. */
  readonly next: Travel | null;
  readonly fault: Fault | null;
}

interface RadioPlan {
  /** Those that something came on and that the vehicle has parameters of. */
  readonly channels: readonly PlannedChannel[];
  /** While there is one, `writes` is empty. */
  readonly problems: readonly RadioProblem[];
  /** What differs from what the vehicle holds. */
  readonly writes: ReadonlyMap<string, number>;
}

type Value = (name: string) => number | null;

/** A channel that moved less was not moved on purpose: QGroundControl's rcCalMoveDelta. */
const MOVED_US = 300;
/** What is let go stays within this: QGroundControl's rcCalSettleDelta. */
const STEADY_US = 20;
/** A centre nearer to an end was not centred, or the stick was moved to one side alone. */
const SIDE_US = 100;
/** Of its travel: how far from its low end the throttle may rest. */
const LOW_SHARE = 0.1;
/** RC_MIN_LIMIT_PWM and RC_MAX_LIMIT_PWM of ArduPilot, and the range of PX4's RCn_MIN and RCn_MAX, which part at the middle. */
const [LOWEST, MIDDLE, HIGHEST] = [800, 1500, 2200] as const;

/** The parameter that says which channel a stick is on. */
function stickParam(family: Family, stick: Stick): string {
  return `${family === 'px4' ? 'RC_MAP' : 'RCMAP'}_${stick.toUpperCase()}`;
}

/** The channels of the sticks as the vehicle has them. */
export function sticksOf(family: Family, value: Value): StickChannels {
  const of = (stick: Stick): number => value(stickParam(family, stick)) ?? 0;
  return { roll: of('roll'), pitch: of('pitch'), throttle: of('throttle'), yaw: of('yaw') };
}

/** What was seen so far, with one more reading of all channels; 0 is a channel that nothing comes on. */
export function widened(seen: Spans, channels: readonly number[]): Spans {
  return Array.from({ length: Math.max(seen.length, channels.length) }, (_, at) => {
    const [span = null, us = 0] = [seen[at], channels[at]];
    if (us === 0) return span;
    return { low: Math.min(span?.low ?? us, us), high: Math.max(span?.high ?? us, us) };
  });
}

/**
 * Whether the throttle rests at its low end. A rover's and a submarine's rest in the middle, and so does a plane's whose thrust goes both
 * ways (`have_reverse_thrust` in ArduPlane's radio.cpp).
 */
export function restsLow(family: Family, value: Value): boolean {
  if (family === 'plane') return (value('THR_MIN') ?? 0) >= 0;
  return family !== 'rover' && family !== 'sub';
}

/**
 * @param sticks the channels that the sticks are to be on
 * @param seen `ends`: while all was moved to its ends; `rest`: afterwards, with the sticks let go and the throttle down
 * @param value of a parameter; null: the vehicle has none of this name
 */
export function planRadio(
  family: Family,
  sticks: StickChannels,
  seen: { readonly ends: Spans; readonly rest: Spans },
  value: Value,
): RadioPlan {
  const channels = seen.ends.flatMap((ends, at): PlannedChannel[] => {
    const channel = at + 1;
    const rest = seen.rest[at] ?? null;
    const was = travelOf(channel, value);
    if (ends === null || rest === null || was === null) return [];
    const stick = sticksIn(family).find((each) => sticks[each] === channel) ?? null;
    const reversed = isReversed(family, channel, value);
    const isLow = stick === 'throttle' && restsLow(family, value);
    const found = measured(ends, rest, { stick, isLow, reversed });
    const result = typeof found === 'string' ? { next: null, fault: found } : { next: found, fault: null };
    return [{ channel, stick, reversed, was, ...result }];
  });
  const problems = [...mapProblems(sticksIn(family), sticks), ...channelProblems(channels)];
  const writes = problems.length > 0 ? [] : writesOf(family, sticks, channels);
  return { channels, problems, writes: new Map(writes.filter(([name, us]) => value(name) !== us)) };
}

/** How one channel is to be set; a text: why it cannot be. */
function measured(
  ends: Span,
  rest: Span,
  {
    stick,
    isLow,
    reversed,
  }: { readonly stick: Stick | null; readonly isLow: boolean; readonly reversed: boolean },
): Travel | Fault {
  const travel = ends.high - ends.low;
  if (travel < MOVED_US) return 'still';
  if (rest.high - rest.low > STEADY_US) return 'unsteady';
  const min = Math.round(Math.min(ends.low, rest.low));
  const max = Math.round(Math.max(ends.high, rest.high));
  if (min < LOWEST || max > HIGHEST || min > MIDDLE || max < MIDDLE) return 'beyond';
  const middle = Math.round((rest.low + rest.high) / 2);
  // A switch rests at an end; PX4 reads its positions from both sides of the trim, and ArduPilot wants it between the ends.
  if (stick === null) return { min, max, trim: Math.round((min + max) / 2) };
  if (!isLow)
    return middle < ends.low + SIDE_US || middle > ends.high - SIDE_US
      ? 'off-centre'
      : { min, max, trim: middle };
  const end = reversed ? max : min;
  if (Math.abs(middle - end) > travel * LOW_SHARE) return 'throttle-up';
  // Where PX4 finds the trim at the low end, it takes the middle (rc_update.cpp); ArduPilot has no use for a throttle's.
  return { min, max, trim: end };
}

function mapProblems(names: readonly Stick[], sticks: StickChannels): RadioProblem[] {
  return names.flatMap((stick, at): RadioProblem[] => {
    const channel = sticks[stick];
    if (channel === 0) return [{ problem: 'unmapped', stick, channel }];
    const isTaken = names.slice(0, at).some((each) => sticks[each] === channel);
    return isTaken ? [{ problem: 'shared', stick, channel }] : [];
  });
}

function channelProblems(channels: readonly PlannedChannel[]): RadioProblem[] {
  if (channels.every(({ fault }) => fault === 'still'))
    return [{ problem: 'nothing', stick: null, channel: 0 }];
  return channels.flatMap(({ channel, stick, fault }) =>
    stick === null || fault === null || fault === 'still' ? [] : [{ problem: fault, stick, channel }],
  );
}

function writesOf(
  family: Family,
  sticks: StickChannels,
  channels: readonly PlannedChannel[],
): (readonly [string, number])[] {
  return [
    ...sticksIn(family).map((stick) => [stickParam(family, stick), sticks[stick]] as const),
    ...channels.flatMap(({ channel, next }) =>
      next === null
        ? []
        : ([
            [`RC${channel}_MIN`, next.min],
            [`RC${channel}_MAX`, next.max],
            [`RC${channel}_TRIM`, next.trim],
          ] as const),
    ),
  ];
}

function travelOf(channel: number, value: Value): Travel | null {
  const [min, max, trim] = [value(`RC${channel}_MIN`), value(`RC${channel}_MAX`), value(`RC${channel}_TRIM`)];
  return min === null || max === null || trim === null ? null : { min, max, trim };
}

/** PX4 has -1 for it. */
function isReversed(family: Family, channel: number, value: Value): boolean {
  return family === 'px4' ? value(`RC${channel}_REV`) === -1 : value(`RC${channel}_REVERSED`) === 1;
}
