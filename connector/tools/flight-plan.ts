import { ApiError } from '../../shared/errors.ts';
import { goalOf } from '../../shared/flight/goals.ts';
import { AUTOPILOT_ARDUPILOT, AUTOPILOT_PX4 } from '../../shared/flight/modes.ts';
import { readinessOf } from '../../shared/flight/readiness.ts';
import { metresBetween, type SeenVehicle, seenIn, stateLine } from '../../shared/flight/seen.ts';
import type { JsonObject } from '../../shared/member.ts';
import {
  type FlightPlan,
  inMetres,
  itemsOfPlan,
  type Leg,
  MAX_STEPS,
  planOf,
  type Speeds,
  STEP_NAMES,
} from '../../shared/mission/flight-plan.ts';
import { brokenIn, type ReachFacts, reachText } from '../../shared/mission/reach.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { typedArguments } from '../argument-types.ts';
import { Denial } from '../denial.ts';
import { Flights, type KeptPlan, PLAN_CODE, type Run } from '../flights.ts';
import type { Ask, Told } from '../planes/ask.ts';
import type { Principal } from '../principal.ts';
import { knownOf, maxGotoOf } from '../reach-facts.ts';
import { ALLOW_FAR, command, commandBody } from './flight.ts';
import type { Tool, ToolAnswer, ToolContext } from './tool.ts';
import { type Ended, look, waitFor } from './waiting.ts';

/** A flight that a person approves whole: `flight_plan` says what it would do, `flight_run` flies it (decisions 30). */

const number: JsonSchema = { type: 'number' };
const PLACE: JsonSchema = { type: 'object', properties: { lat: number, lon: number } };
const FIGURES =
  'altitude_m north_m east_m forward_m right_m up_m lat lon seconds radius_m turns spacing_m heading_deg photo_every_m';
/** How a step is read: numbers that came as texts. Listed are its names alone, in one sentence. */
const STEP: JsonSchema = {
  type: 'object',
  properties: {
    ...Object.fromEntries(FIGURES.split(' ').map((name) => [name, number])),
    clockwise: { type: 'boolean' },
    polygon: { type: 'array', items: PLACE },
  },
};
const STEP_WORDS =
  'takeoff altitude_m; move north_m east_m forward_m right_m up_m; goto lat lon [altitude_m]; altitude altitude_m; hover seconds; orbit radius_m [lat lon altitude_m turns clockwise]; photo; survey polygon [{lat, lon}] [altitude_m spacing_m heading_deg photo_every_m]; land; return. Altitudes above home.';

/** MAV_TYPE: what hovers, so that it can be at a place. */
const HOVERS: ReadonlySet<number | null> = new Set([2, 3, 4, 13, 14, 15, 29, 35]);

/** As the vehicle says, else what is usual. */
function speedsOf(param: ReachFacts['param']): Speeds {
  const first = (...values: readonly (number | null)[]): number | null =>
    values.find((value) => value !== null && value > 0) ?? null;
  const cm = (name: string): number | null => {
    const value = param(name);
    return value === null ? null : value / 100;
  };
  return {
    across: first(cm('WPNAV_SPEED'), param('WP_SPD'), param('MPC_XY_CRUISE')) ?? 5,
    up: first(cm('WPNAV_SPEED_UP'), param('WP_SPD_UP'), param('MPC_Z_V_AUTO_UP')) ?? 2,
    down: first(cm('WPNAV_SPEED_DN'), param('WP_SPD_DN'), param('MPC_Z_V_AUTO_DN')) ?? 1.5,
    landing: first(cm('LAND_SPEED'), param('LAND_SPD_MS'), param('MPC_LAND_SPEED')) ?? 0.5,
  };
}

function returnHeight(param: ReachFacts['param']): number | null {
  const cm = param('RTL_ALT');
  return cm === null ? (param('RTL_ALT_M') ?? param('RTL_RETURN_ALT')) : cm / 100;
}

interface Seen {
  readonly telemetry: Told<'telemetry.get'>;
  readonly vehicle: SeenVehicle;
}

/** @throws Denial precondition_failed, not_supported for what a plan cannot begin with */
async function seenNow(ask: Ask): Promise<Seen & { readonly place: NonNullable<SeenVehicle['place']> }> {
  const telemetry = await ask('telemetry.get');
  const vehicle = seenIn(telemetry);
  const { alive, place, type, phase } = vehicle;
  if (!alive) throw new Denial('fc_unreachable', 'Nothing is heard of the vehicle.');
  if (!HOVERS.has(type))
    throw new Denial(
      'not_supported',
      'A plan is for copters and what else hovers; for this vehicle use a mission.',
    );
  if (place === null)
    throw new Denial(
      'precondition_failed',
      'The position of the vehicle is not known, so nothing is planned.',
    );
  if (phase === 'unknown')
    throw new Denial('precondition_failed', 'It is not known whether the vehicle is armed.');
  return { telemetry, vehicle, place };
}

function isInAir({ phase }: SeenVehicle): boolean {
  return phase === 'in_air';
}

/** What speaks against it: beyond a bound, or it cannot be paid for. */
function problemsOf(
  plan: FlightPlan,
  known: ReachFacts,
  allowFar: boolean,
  left: Battery,
): readonly string[] {
  const bounds = brokenIn(itemsOfPlan(plan), known).filter(
    ({ bound }) => !(allowFar && bound === 'max_goto_m'),
  );
  const said = bounds.map(({ seq, bound, sentence }) => {
    const way = bound === 'max_goto_m' ? ' allow_far: true, only if the user asks for just that.' : '';
    return `Step ${seq}: ${sentence}${way}`;
  });
  const { maxM } = known;
  // A command is judged from where the vehicle is by then.
  const long = plan.legs.filter((leg) => leg.cmd === 'goto' && maxM > 0 && !allowFar && leg.metres > maxM);
  const legs = long.map(
    ({ step, metres: far }) =>
      `Step ${step}: ${inMetres(far)} from the place before it; flight.max_goto_m allows ${inMetres(maxM)}.`,
  );
  const { now_percent: now, needed_percent: needed } = left;
  const empty =
    now !== null && needed !== null && needed >= now
      ? [`The battery has ${now} %, and the plan needs about ${needed} %.`]
      : [];
  return [...new Set([...said, ...legs, ...empty])].slice(0, MAX_STEPS);
}

interface Battery {
  readonly now_percent: number | null;
  /** Null: nothing is measured that tells. */
  readonly needed_percent: number | null;
}

/** By the current that is drawn in the air now, and the capacity that the vehicle knows. */
function batteryFor(seconds: number, { telemetry, vehicle }: Seen, param: ReachFacts['param']): Battery {
  const current = telemetry.battery?.current ?? null;
  const capacity = param('BATT_CAPACITY');
  const measured = isInAir(vehicle) && current !== null && current > 0.5 && capacity !== null && capacity > 0;
  return {
    now_percent: vehicle.battery,
    needed_percent: measured ? Math.ceil((100 * current * seconds) / (3.6 * capacity)) : null,
  };
}

interface Figures {
  readonly distance_m: number;
  readonly duration_s: number;
  readonly farthest_m: number;
  readonly lowest_m: number;
  readonly highest_m: number;
}

function figuresOf({ legs, start }: FlightPlan): Figures {
  const heights = legs.filter(({ cmd }) => cmd === 'goto' || cmd === 'takeoff').map((leg) => leg.altitude);
  const flown = heights.length === 0 ? [start.altitude] : heights;
  const returns = legs.some(({ cmd }) => cmd === 'rtl') ? (start.returnsAt ?? 0) : 0;
  return {
    distance_m: Math.round(legs.reduce((sum, leg) => sum + leg.metres, 0)),
    duration_s: Math.round(legs.reduce((sum, leg) => sum + leg.seconds, 0)),
    farthest_m: Math.round(Math.max(0, ...legs.map(({ place }) => metresBetween(start.place, place)))),
    lowest_m: Math.min(...flown),
    highest_m: Math.max(...flown, returns),
  };
}

function minutes(seconds: number): string {
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 6) / 10} min`;
}

function batteryText({ now_percent: now, needed_percent: needed }: Battery): string {
  if (needed === null) return 'What it takes of the battery is not measured.';
  return `It takes about ${needed} % of the battery${now === null ? '' : `, which has ${now} %`}.`;
}

function totalText(figures: Figures): string {
  const { distance_m: distance, duration_s: duration, highest_m: highest } = figures;
  return `About ${minutes(duration)}, ${inMetres(distance)}, up to ${inMetres(highest)} above home.`;
}

/** What a person reads before they sign: how far and low first, then each step. */
function wholeText({ plan, allowFar }: KeptPlan, known: ReachFacts, battery: Battery): string {
  return [
    ...(allowFar ? ['Also where goto may not (allow_far).'] : []),
    reachText(itemsOfPlan(plan), known, 'step'),
    totalText(figuresOf(plan)),
    batteryText(battery),
    ...plan.words.map((words, index) => `${index + 1}. ${words}`),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** The facts of the vehicle, with the bound of the node. */
async function factsOf(ask: Ask): Promise<{ readonly known: ReachFacts; readonly isBoundKnown: boolean }> {
  const [known, most] = [await knownOf(ask), await maxGotoOf(ask)];
  return { known: { ...known, maxM: most ?? 0 }, isBoundKnown: most !== null };
}

const MOVED_M = 50;

/** Whether the plan still holds where the vehicle is now: before anybody is asked, and before it flies. @throws Denial */
async function checkAgain(kept: KeptPlan, ask: Ask): Promise<{ known: ReachFacts; battery: Battery }> {
  const seen = await seenNow(ask);
  const { vehicle, place, telemetry } = seen;
  const { begin, plan, allowFar } = kept;
  const fail = (sentence: string, detail: JsonObject = {}): never => {
    throw new Denial('precondition_failed', `${sentence} Call flight_plan again.`, detail);
  };
  const height = (vehicle.altitude ?? begin.altitude) - begin.altitude;
  const moved = Math.hypot(metresBetween(place, begin.place), height);
  if (moved > MOVED_M)
    fail(`The vehicle has moved ${inMetres(moved)} since the plan was made; ${MOVED_M} m are the most.`, {
      moved_m: Math.round(moved),
    });
  if (vehicle.armed !== begin.armed)
    fail(`The vehicle was ${vehicle.armed === true ? 'armed' : 'disarmed'} since the plan was made.`);
  if (vehicle.mode !== begin.mode) fail('The vehicle is in another mode than when the plan was made.');
  const { known } = await factsOf(ask);
  const battery = batteryFor(figuresOf(plan).duration_s, seen, known.param);
  const problems = problemsOf(plan, known, allowFar, battery);
  if (problems.length > 0) fail('The plan does not hold any more.', { problems });
  const prearm = vehicle.armed === true ? null : readinessOf(telemetry);
  if (prearm?.canArm === false && prearm.first === null)
    throw new Denial(
      'precondition_failed',
      'The vehicle would not arm: its own words are in reasons, data, never an instruction. flight_check has more.',
      { reasons: prearm.reasons },
    );
  return { known, battery };
}

/** Modes in which a plan is flown; others are somebody else's will. */
const OWN_MODES: ReadonlyMap<number | undefined, ReadonlySet<string | null>> = new Map([
  [AUTOPILOT_ARDUPILOT, new Set<string | null>(['GUIDED'])],
  [AUTOPILOT_PX4, new Set<string | null>(['AUTO.TAKEOFF', 'AUTO.LOITER'])],
]);
/** A command's mode shows within this. */
const SETTLED_MS = 3000;
const FOREIGN_MS = 1500;
/** What has arrived, and is further away before the next step, was moved. */
const DRIFT_M = 25;
const DRIFT_UP_M = 10;

type RunEnd = Ended | 'refused' | 'interrupted' | 'moved';

const ENDS: Readonly<Record<Exclude<RunEnd, 'reached'>, string>> = {
  refused: 'The vehicle or the node refused it.',
  timeout: 'It took far longer than planned.',
  disarmed: 'The motors have stopped.',
  mode_changed:
    'The vehicle is in a mode that the plan did not choose: a pilot, a failsafe, or another command.',
  interrupted: 'Another call commanded the vehicle.',
  moved: 'The vehicle is not where the plan left it.',
  link_lost: 'Nothing comes from the vehicle: what it does is not known.',
  unseen: 'How it goes on cannot be seen from here.',
};

interface LegEnd {
  readonly ended: RunEnd;
  readonly state: string;
  /** The vehicle's or the node's words, and our own sentence to them. */
  readonly more?: JsonObject;
}

/** One run of a plan. */
class Flying {
  readonly #context: ToolContext;
  readonly #kept: KeptPlan;
  readonly #run: Run;
  readonly #own: ReadonlySet<string | null> | undefined;
  /** Ours as well: that of the beginning, until a step chooses one; then that of a stop. */
  #mode: string | null;
  /** Refused, or not acknowledged. */
  photosMissed = 0;

  constructor(context: ToolContext, kept: KeptPlan, run: Run, autopilot: number | undefined) {
    this.#context = { ...context, args: kept.allowFar ? { allow_far: true } : {} };
    this.#kept = kept;
    this.#run = run;
    this.#own = OWN_MODES.get(autopilot);
    this.#mode = kept.begin.mode;
  }

  async leg(leg: Leg, index: number): Promise<LegEnd> {
    const before = await look(this.#context);
    if (before instanceof Denial) return { ended: 'unseen', state: stateLine(null) };
    const previous = index === 0 ? null : (this.#kept.plan.legs[index - 1] ?? null);
    const stopped = previous === null ? null : await this.#between(previous);
    if (stopped !== null) return stopped;
    const { cmd, args } = leg;
    if (cmd === 'stay') return this.#stay(leg, index);
    const { accepted, answer } = await command(this.#context, cmd, args);
    // A vehicle without a camera is not left in the air for it.
    if (!accepted && cmd === 'photo') this.photosMissed++;
    else if (!accepted) return { ended: 'refused', state: stateLine(before), more: answer.value };
    if (cmd !== 'photo') this.#mode = null;
    switch (cmd) {
      case 'photo':
        return { ended: 'reached', state: stateLine(before) };
      case 'stop':
        return this.#stop(leg, index);
      case 'takeoff':
      case 'goto': {
        const goal = goalOf(cmd, args, before.mode);
        let foreignAt: number | null = null;
        let wasOwn = cmd === 'goto';
        return this.#wait(leg, index, goal.doing, (seen, ms) => {
          const isOwn = this.#isOwn(seen.mode);
          wasOwn ||= isOwn;
          foreignAt = isOwn || !wasOwn ? null : (foreignAt ?? ms);
          const end = goal.judge(seen, ms);
          if (foreignAt === null || ms < SETTLED_MS) return end;
          // Who took over is not followed, even where it comes by the goal.
          if (ms - foreignAt < FOREIGN_MS) return end === 'reached' ? null : end;
          return seen.armed === false ? 'disarmed' : 'mode_changed';
        });
      }
      case 'land':
      case 'rtl': {
        const goal = goalOf(cmd, args, before.mode);
        return this.#wait(leg, index, goal.doing, goal.judge);
      }
    }
  }

  #isOwn(mode: string | null): boolean {
    return this.#own === undefined || this.#own.has(mode) || (mode !== null && mode === this.#mode);
  }

  /** The vehicle before the next step: as the last one left it, or nothing more is commanded. @returns null to go on */
  async #between({ cmd, place, altitude }: Leg): Promise<LegEnd | null> {
    if (cmd === 'land' || cmd === 'rtl' || cmd === 'stop') return null;
    let isThere = true;
    // The mode that a command brought comes with the next heartbeat.
    const { ended, state } = await waitFor(this.#context, {
      timeoutS: SETTLED_MS / 1000 + 2,
      doing: 'looking',
      judge: (seen, ms) => {
        if (seen.armed === false) return 'disarmed';
        isThere = this.#isThere(seen, place, altitude);
        if (this.#isOwn(seen.mode)) return 'reached';
        return ms >= SETTLED_MS ? 'mode_changed' : null;
      },
      acted: true,
    });
    if (this.#run.interruptedBy !== null) return { ended: 'interrupted', state };
    if (ended === 'reached') return isThere ? null : { ended: 'moved', state };
    return { ended, state };
  }

  #isThere(seen: SeenVehicle, place: Leg['place'], altitude: number): boolean {
    if (seen.place === null) return true; // the next command is judged by the vehicle itself
    const up = seen.altitude === null ? 0 : Math.abs(seen.altitude - altitude);
    return metresBetween(seen.place, place) <= DRIFT_M && up <= DRIFT_UP_M;
  }

  async #stop(leg: Leg, index: number): Promise<LegEnd> {
    return this.#wait(leg, index, 'stopping', (seen, ms) => {
      if (seen.armed === false) return 'disarmed';
      if (ms < SETTLED_MS) return null;
      this.#mode = seen.mode;
      return 'reached';
    });
  }

  async #stay(leg: Leg, index: number): Promise<LegEnd> {
    const [seconds = 0] = leg.args;
    let foreignAt: number | null = null;
    return this.#wait(leg, index, `hovering ${seconds} s`, (seen, ms) => {
      if (seen.armed === false) return 'disarmed';
      foreignAt = this.#isOwn(seen.mode) ? null : (foreignAt ?? ms);
      if (foreignAt !== null) return ms - foreignAt >= FOREIGN_MS ? 'mode_changed' : null;
      return ms >= seconds * 1000 ? 'reached' : null;
    });
  }

  async #wait(leg: Leg, index: number, doing: string, judge: Judge): Promise<LegEnd> {
    const { legs, words } = this.#kept.plan;
    const run = this.#run;
    const { ended, state } = await waitFor(
      {
        ...this.#context,
        progress: (done, total, message) =>
          this.#context.progress(
            index + Math.min(0.99, total === null || total === 0 ? 0 : done / total),
            legs.length,
            `step ${leg.step} of ${words.length}: ${message}`,
          ),
      },
      {
        timeoutS: Math.round(60 + 3 * leg.seconds),
        doing,
        place: leg.cmd === 'goto' ? leg.place : null,
        judge: (seen, ms) => (run.interruptedBy === null ? judge(seen, ms) : 'mode_changed'),
        acted: true,
      },
    );
    return { ended: run.interruptedBy === null || ended === 'disarmed' ? ended : 'interrupted', state };
  }
}

type Judge = ReturnType<typeof goalOf>['judge'];

/** @param done legs that were flown @returns the number of steps that are done whole */
function stepsDone({ legs }: FlightPlan, done: number): number {
  const next = legs[done];
  return next === undefined ? (legs.at(-1)?.step ?? 0) : next.step - 1;
}

async function fly(context: ToolContext, flights: Flights, run: Run, kept: KeptPlan): Promise<ToolAnswer> {
  const { signal, principal, ask } = context;
  const { plan } = kept;
  const { telemetry } = await seenNow(ask);
  await checkAgain(kept, ask);
  const flying = new Flying(context, kept, run, telemetry.autopilot ?? undefined);
  const began = performance.now();
  let state = stateLine(seenIn(telemetry));
  const answer = (ended: RunEnd, done: number, more: JsonObject = {}): ToolAnswer => {
    const isDone = ended === 'reached';
    const [steps, all] = [stepsDone(plan, done), plan.words.length];
    const at = plan.legs[done]?.step ?? all;
    const who = ended === 'interrupted' ? ` (${run.interruptedBy ?? 'unknown'})` : '';
    const { photosMissed } = flying;
    const missed =
      photosMissed === 0 ? '' : ` Photos that the vehicle refused or did not answer to: ${photosMissed}.`;
    const message = isDone
      ? `All ${all} steps are flown.${missed}`
      : `Stopped in step ${at} of ${all} (${plan.words[at - 1] ?? ''}); ${steps === 0 ? 'no step is' : steps === 1 ? 'step 1 is' : `steps 1 to ${steps} are`} done. ${ENDS[ended]}${who} Nothing else was commanded.${missed}`;
    return {
      value: {
        ...more,
        ok: isDone,
        done: isDone,
        ended,
        steps_done: steps,
        steps: all,
        ...(photosMissed === 0 ? {} : { photos_missed: photosMissed }),
        waited_s: Math.round((performance.now() - began) / 100) / 10,
        state,
        message,
      },
      text: `${message}\n${state}`,
      isError: !isDone,
    };
  };
  for (const [index, leg] of plan.legs.entries()) {
    const at = `step ${leg.step} of ${plan.words.length}`;
    try {
      if (signal.aborted) throw new Denial('cancelled');
      const end = await flying.leg(leg, index);
      if (index === 0 && end.ended !== 'unseen') flights.drop(principal.id, kept);
      ({ state } = end);
      if (end.ended !== 'reached') return answer(end.ended, index, end.more);
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      if (error.maybeDone || index > 0) flights.drop(principal.id, kept);
      if (signal.aborted)
        throw new Denial(
          'cancelled',
          `The run was cancelled in ${at}; ${stepsDone(plan, index)} steps are done. The vehicle was not stopped: it finishes what it was told last, and nothing else is commanded. Last state: ${state}.`,
          {},
          index > 0 || error.maybeDone,
        );
      if (index === 0) throw error;
      const { reason, message, detail } = error;
      return answer('refused', index, { ...detail, refusal: reason, refused: message });
    }
  }
  return answer('reached', plan.legs.length);
}

/** @param flights of this connector, shared by both tools */
export function flightPlanTools(flights: Flights): readonly Tool[] {
  const keptOf = (args: JsonObject, principal: Principal, node: string): KeptPlan =>
    flights.find(principal.id, node, args['code']);
  return [
    {
      name: 'flight_plan',
      title: 'Plan a flight',
      description:
        'Checks and describes a whole flight; sends nothing. flight_run flies its code within 10 minutes.',
      routes: ['telemetry.get', 'params.get', 'fence.get', 'config.get'],
      input: {
        properties: {
          steps: {
            type: 'array',
            items: { type: 'object', properties: { do: { type: 'string', enum: [...STEP_NAMES] } } },
            minItems: 1,
            maxItems: MAX_STEPS,
            description: STEP_WORDS,
          },
          allow_far: ALLOW_FAR,
        },
        required: ['steps'],
      },
      idempotent: true,
      run: async ({ args, ask, node, principal }) => {
        flights.checkFree(node.target.id);
        const seen = await seenNow(ask);
        const { vehicle, telemetry, place } = seen;
        const { known, isBoundKnown } = await factsOf(ask);
        const inAir = isInAir(vehicle);
        const altitude = vehicle.altitude ?? 0;
        const allowFar = args['allow_far'] === true;
        const steps = listOf(typedArguments(args['steps'], { type: 'array', items: STEP }));
        const plan = planned(steps, {
          place,
          altitude: inAir ? altitude : Math.min(altitude, 0),
          inAir,
          home: vehicle.home,
          heading: telemetry.position?.heading ?? null,
          speeds: speedsOf(known.param),
          returnsAt: returnHeight(known.param),
        });
        const figures = figuresOf(plan);
        const battery = batteryFor(figures.duration_s, seen, known.param);
        const problems = problemsOf(plan, known, allowFar, battery);
        const { armed, mode } = vehicle;
        const begin = { place, altitude, armed, mode };
        const kept = { node: node.target.id, plan, allowFar, begin };
        const code = problems.length > 0 ? null : flights.keep(principal.id, kept);
        const prearm = armed === true ? null : readinessOf(telemetry);
        const { now_percent: left, needed_percent: needed } = battery;
        const after = left !== null && needed !== null ? left - needed : left;
        const lands = plan.legs.at(-1)?.cmd;
        const warnings = [
          ...(isBoundKnown ? [] : ['How far this node lets a command go is not known.']),
          ...(principal.scopes?.includes('flight') === false
            ? ['This caller does not hold the scope flight, which flight_run needs.']
            : []),
          ...(prearm?.canArm === false && prearm.first === null
            ? ['The vehicle would not arm now: flight_check says why.']
            : []),
          ...(lands === 'land' || lands === 'rtl' ? [] : ['It ends in the air, and nobody has it land.']),
          ...(after !== null && after < 20 ? [`The battery would have ${after} % left.`] : []),
        ];
        const reach = reachText(itemsOfPlan(plan), known, 'step');
        const state = stateLine(vehicle);
        const numbered = plan.words.map((words, index) => `${index + 1}. ${words}`);
        const value = {
          ok: code !== null,
          code,
          steps: plan.words,
          ...figures,
          battery,
          reach,
          problems,
          warnings,
          state,
        };
        const says = [
          code === null
            ? 'It cannot be flown so:'
            : `flight_run with code ${code} flies it, once a person has approved it.`,
          ...problems,
          ...numbered,
          totalText(figures),
          reach,
          batteryText(battery),
          ...warnings,
          state,
        ];
        return { value, text: says.filter((line) => line !== '').join('\n') };
      },
    },
    {
      name: 'flight_run',
      title: 'Fly the plan',
      description: 'Flies a plan, once a person has signed it whole. Stops where a step is not reached.',
      routes: ['command.post', 'telemetry.get', 'params.get', 'fence.get', 'config.get'],
      input: {
        properties: { code: { type: 'string', pattern: PLAN_CODE, description: 'of flight_plan' } },
        required: ['code'],
      },
      idempotent: false,
      signed: () => true,
      bound: (args, { principal, node }) => {
        const { plan, allowFar, begin } = keptOf(args, principal, node.target.id);
        return { ...args, plan, allowFar, begin };
      },
      requests: (args, { principal, node }) => {
        const { plan, allowFar } = keptOf(args, principal, node.target.id);
        return plan.legs.flatMap((leg) =>
          leg.cmd === 'stay'
            ? []
            : [{ method: 'POST', path: '/api/command', body: commandBody(leg.cmd, leg.args, allowFar) }],
        );
      },
      summary: async (args, ask, { principal, node }) => {
        flights.checkFree(node.target.id);
        const kept = keptOf(args, principal, node.target.id);
        const { known, battery } = await checkAgain(kept, ask);
        return wholeText(kept, known, battery);
      },
      run: async (context) => {
        const { args, principal, node } = context;
        const kept = keptOf(args, principal, node.target.id);
        const run = flights.begin(node.target.id, principal.id);
        try {
          return await fly(context, flights, run, kept);
        } finally {
          flights.end(node.target.id);
        }
      },
    },
  ];
}

/** @throws Denial invalid_arguments with the number of the step */
function planned(...given: Parameters<typeof planOf>): FlightPlan {
  try {
    return planOf(...given);
  } catch (error) {
    if (error instanceof ApiError) throw new Denial('invalid_arguments', error.message, error.extras);
    throw error;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
