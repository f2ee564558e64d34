import { ApiError } from '../../../shared/errors.ts';
import { type CommandName, checkArguments } from '../../../shared/flight/command-catalogue.ts';
import { takesEnergyOut } from '../../../shared/flight/pilot.ts';
import type { CommandRequest, ParamWriteRequest } from '../../../shared/rpc/link.ts';
import type { CommandResult } from '../../../shared/rpc/link-answers.ts';
import type { MissionItem } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import {
  type Exchange,
  RESULT_ACCEPTED,
  RESULT_FAILED,
  RESULT_IN_PROGRESS,
  resultName,
} from '../exchange.ts';
import type { Guard } from '../vehicle/guard.ts';
import type { Prearm } from '../vehicle/prearm.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { disarmHint } from './disarm-hint.ts';
import type { EffectOutcome } from './effect.ts';
import { failsafeHint } from './failsafe-hint.ts';
import { gimbal } from './gimbal.ts';
import { goto } from './goto.ts';
import { landingHint } from './landing-hint.ts';
import { holdModes, landing, landsByMission, pausing, resuming, returning } from './maneuvers.ts';
import { missionStart, setCurrent } from './mission-orders.ts';
import { motorTest } from './motor-test.ts';
import { payloadManeuver } from './payload.ts';
import { Precedence } from './precedence.ts';
import type { ReachCheck } from './reach-check.ts';
import { reboot } from './reboot.ts';
import type { Reasons, Refusals } from './refusals.ts';
import { type Context, isRefusal, Sender } from './sender.ts';
import type { StickRule } from './stick-rule.ts';
import { takeoff, takeoffHint } from './takeoff.ts';

// MAV_CMD
const DO_SET_HOME = 179;
const COMPONENT_ARM_DISARM = 400;
const RUN_PREARM_CHECKS = 401;

/**
 * Param 2 of COMPONENT_ARM_DISARM: disarm in the air too. This stops the motors on both firmwares without any setting, and
 * arming undoes it. DO_FLIGHTTERMINATION is off by default on PX4 (CBRK_FLIGHTTERM); where it is on, only a reboot ends it.
 */
const FORCE = 21196;

/** Three sends, and 8 s for a vehicle that answers IN_PROGRESS. */
const DEFAULT_TIMEOUT_MS = 11_600;
const MAX_TIMEOUT_MS = 20_000;
/** Enough for three sends of a killSwitch, even if its client asks for a shorter time-out. */
const KILL_MS = 4000;

/**
 * From the acceptance of RUN_PREARM_CHECKS until the failed checks have been told: texts wait behind the ack in ArduPilot's
 * queue, and the bit in SYS_STATUS follows within a second.
 */
const CHECKED_MS = 2000;

/** Commands that a vehicle refuses when its arming checks fail. */
const ARMS: ReadonlySet<CommandName> = new Set(['arm', 'takeoff', 'missionStart']);

/** Commands after which the mode is what it was. */
const KEEPS_MODE: ReadonlySet<CommandName> = new Set([
  'arm',
  'disarm',
  'runPrearmChecks',
  'motorTest',
  'missionSetCurrent',
  'gimbal',
  'yaw',
  'speed',
  'roi',
  'roiClear',
  'photo',
  'servo',
  'relay',
  'setHome',
]);

interface CommandsOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
  readonly refusals: Refusals;
  readonly prearm: Prearm;
  /** What the vehicle's parameters are, and the way to one. */
  readonly params: {
    valueOf(name: string): number | null;
    write(request: ParamWriteRequest): Promise<unknown>;
  };
  /** The items of the vehicle's mission, from the cache or read. */
  readonly mission: () => Promise<readonly MissionItem[]>;
  /** How far a place may be. */
  readonly reach: ReachCheck;
  readonly stickRule: StickRule;
  /** Sends a frame that gets no ack. */
  readonly send: (bytes: Buffer) => void;
}

/** These fly the mission that the vehicle holds. */
const HELD: ReadonlySet<CommandName> = new Set(['missionStart', 'resumeMission', 'missionSetCurrent']);

/** Modes in which it flies its mission. */
const FLIES_MISSION: ReadonlySet<string> = new Set(['AUTO', 'AUTO.MISSION']);

/**
 * Carries out the commands of the catalogue. Each is sent in the form that the vehicle's family understands (maneuvers.ts), and
 * the vehicle's result is reported unchanged: TEMPORARILY_REJECTED is an answer too, and is not retried. PX4 acknowledges what
 * it may not do, so there its state counts (effect.ts). Only three cases
 * change the mode first: take-off, where the present one does not take off or, if it is to arm, not arm (takeoff.ts); and on ArduPilot
 * goto on a firmware without DO_REPOSITION, and pause on a copter that refuses it and would fly on.
 *
 * When is it safe to repeat a command that got no ack? The first one may have been carried out, and firmwares ignore the
 * confirmation field (COMMAND_INT has none). Safe, because they ask for a state: arm, disarm, killSwitch, mode, rtl, land,
 * stop, pauseMission, resumeMission, goto (an absolute position). setHome is safe too: it uses the position at the last send, a
 * few seconds later at most. Not safe: takeoff, which ArduPilot refuses once it flies (the refusal would be reported although
 * the take-off goes well), and PX4's missionStart, which goes back to the first item. These two are not repeated once the
 * vehicle shows that it is under way. No command but killSwitch is repeated after a newer one (precedence.ts).
 */
export class Commands {
  readonly #options: CommandsOptions;
  readonly #precedence = new Precedence();
  readonly #sender: Sender;
  /** For a command that is more than one frame. */
  readonly #parts: CommandsOptions & { readonly sender: Sender };

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.#sender = new Sender(options);
    this.#parts = { ...options, sender: this.#sender };
  }

  /** A killSwitch is under way that the vehicle has not acknowledged. */
  get killing(): boolean {
    return this.#precedence.killing;
  }

  /**
   * Set-points have ended, and PX4 is to hold where it is. A command about its course that is under way goes first: holding
   * would cancel it.
   */
  async loiter(): Promise<void> {
    if (this.#precedence.steering) return;
    await this.execute({ cmd: 'mode', args: ['AUTO.LOITER'] });
  }

  /**
   * The RPC method `command`.
   * @throws ApiError E_BAD_REQUEST, E_TOO_FAR, E_STICKS, E_ARMED (rebootAutopilot, motorTest), E_NO_FC as `Vehicle.reach`, E_BUSY for an
   *   arming while a killSwitch is under way, E_RATE_LIMITED, E_TIMEOUT (not sent)
   */
  async execute(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult> {
    const { cmd, timeout_ms, allow_far: allowFar = false, manual = false } = request;
    const args = checkArguments(cmd, request.args);
    if (typeof args === 'string') throw new ApiError('E_BAD_REQUEST', args);
    const { vehicle, clock, refusals, prearm, stickRule } = this.#options;
    const target = vehicle.reach(takesEnergyOut(cmd));
    if (cmd === 'mode') stickRule.demand(String(args[0]), manual);
    if (request.dry_run === true) return this.#checked(cmd, args, target, allowFar);
    if (!KEEPS_MODE.has(cmd)) vehicle.ordered('node');
    const asked = Math.min(MAX_TIMEOUT_MS, timeout_ms ?? DEFAULT_TIMEOUT_MS);
    const timeout = cmd === 'killSwitch' ? Math.max(asked, KILL_MS) : asked;
    const turn = this.#precedence.begin(cmd, args, signal);
    const note: Context['note'] = { mode: null, backAfterS: null, seen: 'shown' };
    const watch = refusals.watch(() => prearm.failing);
    const context: Context = {
      target,
      deadline: clock.now() + timeout,
      follows: timeout_ms === undefined,
      turn,
      note,
      objection: () => watch.error(),
    };
    const silence = vehicle.alive
      ? null
      : { seconds: vehicle.linkAge === null ? null : Math.round(vehicle.linkAge / 1000) };
    try {
      const result = await this.#run(cmd, args, context, allowFar);
      const refused = result !== null && result !== RESULT_ACCEPTED;
      const arming = ARMS.has(cmd) && this.#options.vehicle.armed !== true;
      const reasons = refused ? await watch.settled(arming) : watch.reasons(false);
      const answer = verdict(cmd, result, note.seen, reasons, silence);
      if (answer.status === 'unconfirmed') answer.ack.hint ??= unconfirmedHint(cmd, vehicle.telemetry.mode);
      if (cmd === 'gimbal' && answer.status === 'no_ack') answer.ack.hint ??= NO_GIMBAL;
      if (cmd === 'land' && result === RESULT_FAILED && landsByMission(this.#sender.craft()))
        answer.ack.hint = await landingHint(clock, this.#options.mission());
      const disarming = cmd === 'disarm' && refused ? disarmHint(vehicle.telemetry) : null;
      if (disarming !== null) answer.ack.hint = disarming;
      const grounded =
        cmd === 'takeoff' && answer.status === 'rejected'
          ? takeoffHint(vehicle, numberAt(args, 1) === 1)
          : null;
      if (grounded !== null) answer.ack.hint ??= grounded;
      const acting = answer.status === 'rejected' ? failsafeHint(vehicle.telemetry) : null;
      if (acting !== null) answer.ack.hint ??= acting;
      // A take-off that is refused may have changed it before.
      if (!answer.ack.accepted && cmd !== 'takeoff') return answer;
      if (cmd === 'rebootAutopilot') return { ...answer, back_after_s: note.backAfterS };
      return note.mode === null ? answer : { ...answer, mode: note.mode };
    } finally {
      watch.end();
      turn.end();
    }
  }

  /** What would be refused here, without anything that is sent or ends. @throws as `execute` */
  async #checked(
    cmd: CommandName,
    args: readonly (number | string)[],
    { system }: Context['target'],
    allowFar: boolean,
  ): Promise<CommandResult> {
    const { guard } = this.#options;
    if (cmd === 'rebootAutopilot')
      guard.demand('reboot', system, false, { says: 'reboot the flight controller' });
    if (cmd === 'motorTest') guard.demand('motor_test', system, false, { says: 'test a motor' });
    if (cmd === 'mode') this.#sender.numberOfMode(String(args[0]));
    if (!allowFar) await this.#checkPlace(cmd, args);
    const ack = { observed: false, result: null, result_name: null, accepted: false };
    return { status: 'checked', cmd, ack };
  }

  /** Where it would send the vehicle. @throws ApiError E_TOO_FAR */
  async #checkPlace(cmd: CommandName, args: readonly (number | string)[]): Promise<void> {
    const { reach } = this.#options;
    if (cmd === 'mode' && FLIES_MISSION.has(String(args[0]).toUpperCase()))
      await reach.checkHeld(`mode ${String(args[0])}`);
    else if (HELD.has(cmd)) await reach.checkHeld(cmd);
    else if (cmd === 'goto') await reach.check(cmd, placeAt(args, 0));
    else if (cmd === 'orbit')
      await reach.check(cmd, { ...placeAt(args, 2), around: Math.abs(numberAt(args, 0)) });
  }

  async #run(
    cmd: CommandName,
    args: readonly (number | string)[],
    context: Context,
    allowFar: boolean,
  ): Promise<number | null> {
    // A goto, and an orbit of a vehicle that cannot, are looked at once their own rules have passed.
    if (!allowFar && (cmd === 'mode' || HELD.has(cmd))) await this.#checkPlace(cmd, args);
    switch (cmd) {
      case 'arm':
        return this.#arm(context);
      case 'disarm':
        return this.#sender.long(context, COMPONENT_ARM_DISARM, [0], { shows: () => this.#isArmed(false) });
      case 'runPrearmChecks':
        return this.#runChecks(context);
      case 'rebootAutopilot': {
        const { result, backAfterS } = await reboot(this.#parts, context);
        context.note.backAfterS = backAfterS;
        return result;
      }
      case 'motorTest':
        return motorTest(this.#parts, context, numberAt(args, 0), numberAt(args, 1), numberAt(args, 2));
      case 'killSwitch':
        return this.#sender.long(context, COMPONENT_ARM_DISARM, [0, FORCE], {
          urgent: true,
          shows: () => this.#isArmed(false),
        });
      case 'takeoff':
        return takeoff(
          this.#parts,
          context,
          numberAt(args, 0),
          numberAt(args, 1) === 1 ? async () => this.#arm(context) : null,
        );
      case 'land':
        return this.#sender.maneuver(context, landing(this.#sender.craft()));
      case 'rtl':
        return this.#sender.maneuver(context, returning(this.#sender.craft()));
      case 'mode':
        return this.#sender.mode(context, String(args[0]));
      case 'goto':
        return goto(this.#parts, context, placeAt(args, 0), allowFar);
      case 'stop':
        return this.#stop(context);
      case 'missionStart':
        return missionStart(this.#parts, context);
      case 'pauseMission':
        return this.#sender.maneuver(context, pausing(this.#sender.craft()));
      case 'resumeMission':
        return this.#sender.maneuver(context, resuming(this.#sender.craft()));
      case 'missionSetCurrent':
        return setCurrent(this.#parts, context, numberAt(args, 0));
      case 'gimbal':
        return gimbal(this.#parts, context, numberAt(args, 0), numberAt(args, 1));
      case 'yaw':
      case 'speed':
      case 'roi':
      case 'roiClear':
      case 'photo':
      case 'orbit':
      case 'servo':
      case 'relay':
      case 'parachute': {
        const { params, vehicle } = this.#options;
        const facts = {
          heading: vehicle.telemetry.position.heading,
          param: (name: string) => params.valueOf(name),
        };
        const maneuver = payloadManeuver(cmd, args.map(Number), this.#sender.craft(), facts);
        if (cmd === 'orbit' && maneuver.kind === 'place' && !allowFar) {
          const around = Math.abs(numberAt(args, 0));
          await this.#options.reach.check(cmd, { ...placeAt(args, 2), around });
        }
        return this.#sender.maneuver(context, maneuver);
      }
      case 'setHome':
        return this.#sender.long(context, DO_SET_HOME, [1]);
    }
  }

  async #arm(context: Context): Promise<number | null> {
    const result = await this.#sender.long(context, COMPONENT_ARM_DISARM, [1], {
      shows: () => this.#isArmed(true),
    });
    if (result === RESULT_ACCEPTED) this.#options.vehicle.noteArmed();
    return result;
  }

  /** Answers when the failed checks are in the telemetry. The vehicle accepts it whether they fail or not. */
  async #runChecks(context: Context): Promise<number | null> {
    const { clock, prearm } = this.#options;
    const began = clock.now();
    const result = await this.#sender.long(context, RUN_PREARM_CHECKS, []);
    if (result !== RESULT_ACCEPTED) return result;
    await new Promise<void>((resolve) => {
      clock.after(CHECKED_MS, resolve);
    });
    prearm.renewed(began);
    return result;
  }

  /** Holds its position, in the best mode that the vehicle accepts. */
  async #stop(context: Context): Promise<number | null> {
    const [best = '', ...others] = holdModes(this.#sender.craft());
    const result = await this.#sender.mode(context, best);
    if (!isRefusal(result)) return result;
    return (await this.#sender.firstOf(context, others)) === RESULT_ACCEPTED ? RESULT_ACCEPTED : result;
  }

  /** What the newest heartbeat says, when it has just come. */
  #isArmed(wanted: boolean): boolean {
    return this.#options.vehicle.telemetry.armed === wanted;
  }
}

/** PX4 acknowledges these commands only where a gimbal manager runs. */
const NO_GIMBAL =
  'Nobody on the vehicle has answered: it may have no gimbal, or nothing that drives one (PX4: MNT_MODE_IN).';

/** Turns a MAV_RESULT (null: no ack) into the answer of the API. */
function verdict(
  cmd: CommandName,
  result: number | null,
  seen: EffectOutcome,
  { text, all }: Reasons,
  silence: { readonly seconds: number | null } | null,
): CommandResult {
  const accepted = result === RESULT_ACCEPTED && seen === 'shown';
  const ack: CommandResult['ack'] = {
    observed: result !== null,
    result,
    result_name: result === null ? null : resultName(result),
    accepted,
  };
  if (!accepted && text !== null) ack.statustext = text;
  if (!accepted && all.length > 0) ack.reasons = [...all];
  if (silence !== null && !accepted) ack.hint = silenceHint(silence.seconds);
  // IN_PROGRESS without a final ack is not a refusal: the vehicle may still be busy with it.
  const open = result === null || result === RESULT_IN_PROGRESS;
  const unconfirmed = result === RESULT_ACCEPTED && seen === 'unconfirmed';
  const status = accepted ? 'accepted' : open ? 'no_ack' : unconfirmed ? 'unconfirmed' : 'rejected';
  const answer: CommandResult = { status, cmd, ack };
  return silence === null ? answer : { ...answer, silent_s: silence.seconds };
}

function unconfirmedHint(cmd: CommandName, mode: string | null): string {
  return `The vehicle acknowledged ${cmd}, but does not show it${mode === null ? '' : `: it is in ${mode}`}.`;
}

/** @param seconds null: never by this process */
function silenceHint(seconds: number | null): string {
  const since = seconds === null ? 'since svc-link started' : `for ${seconds} s`;
  return `Nothing was heard of the vehicle ${since}. The command was sent; whether it arrived is not known.`;
}

/** Degrees, and m above home: three arguments from `index` on. */
function placeAt(
  args: readonly (number | string)[],
  index: number,
): { lat: number; lon: number; alt: number } {
  return { lat: numberAt(args, index), lon: numberAt(args, index + 1), alt: numberAt(args, index + 2) };
}

function numberAt(args: readonly (number | string)[], index: number): number {
  return Number(args[index]);
}
