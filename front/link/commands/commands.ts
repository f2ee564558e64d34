import { ApiError } from '../../../shared/errors.ts';
import { type CommandName, checkArguments } from '../../../shared/flight/command-catalogue.ts';
import { modeNumber } from '../../../shared/flight/modes.ts';
import type { CommandRequest, ParamWriteRequest } from '../../../shared/rpc/link.ts';
import type { CommandResult } from '../../../shared/rpc/link-answers.ts';
import type { MissionItem } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';
import { type Encoder, OWN_COMPONENT } from '../encode.ts';
import {
  type Exchange,
  RESULT_ACCEPTED,
  RESULT_FAILED,
  RESULT_IN_PROGRESS,
  RESULT_UNSUPPORTED,
  resultName,
} from '../exchange.ts';
import type { Prearm } from '../vehicle/prearm.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { disarmHint } from './disarm-hint.ts';
import { landingHint } from './landing-hint.ts';
import {
  flies,
  gotoProblem,
  holdModes,
  landing,
  landsByMission,
  pausing,
  resuming,
  returning,
  takesOffByMode,
} from './maneuvers.ts';
import { payloadManeuver } from './payload.ts';
import { Precedence } from './precedence.ts';
import type { ReachCheck } from './reach-check.ts';
import { reboot } from './reboot.ts';
import type { Reasons, Refusals } from './refusals.ts';
import { type Context, isRefusal, knownAltitude, Sender } from './sender.ts';

// MAV_CMD
const NAV_TAKEOFF = 22;
const DO_SET_HOME = 179;
const DO_REPOSITION = 192;
const DO_MOUNT_CONTROL = 205;
const DO_SET_MISSION_CURRENT = 224;
const MISSION_START = 300;
const COMPONENT_ARM_DISARM = 400;
const RUN_PREARM_CHECKS = 401;
const DO_GIMBAL_MANAGER_PITCHYAW = 1000;
const DO_GIMBAL_MANAGER_CONFIGURE = 1001;

/**
 * Param 2 of COMPONENT_ARM_DISARM: disarm in the air too. This stops the motors on both firmwares without any setting, and
 * arming undoes it. DO_FLIGHTTERMINATION is off by default on PX4 (CBRK_FLIGHTTERM); where it is on, only a reboot ends it.
 */
const FORCE = 21196;
/** GIMBAL_MANAGER_FLAGS_ROLL_LOCK and PITCH_LOCK: level with the horizon, yaw with the vehicle. */
const LEVEL_GIMBAL = 4 | 8;
/** MAV_MOUNT_MODE_MAVLINK_TARGETING */
const MOUNT_BY_ANGLES = 2;
/** Param 2 of DO_REPOSITION: change to the mode that can do it. */
const CHANGE_MODE = 1;
const GUIDED = 'GUIDED';
const AUTO_MISSION = 'AUTO.MISSION';
const TAKEOFF_MODE = 'TAKEOFF';
/** m above home, of a plane's mode TAKEOFF. */
const TAKEOFF_HEIGHT = 'TKOFF_ALT';
/** 1 on a plane that can hover, most of which call themselves plain fixed wings. */
const QUADPLANE = 'Q_ENABLE';
/** A climb of this many metres means that it has taken off. */
const CLIMBED_M = 1;

/** Three sends, and 8 s for a vehicle that answers IN_PROGRESS. */
const DEFAULT_TIMEOUT_MS = 11_600;
const MAX_TIMEOUT_MS = 20_000;
/** Enough for three sends of a killSwitch, even if its client asks for a shorter time-out. */
const KILL_MS = 4000;
const TARGET_SENDS = 3;

/**
 * From the acceptance of RUN_PREARM_CHECKS until the failed checks have been told: texts wait behind the ack in ArduPilot's
 * queue, and the bit in SYS_STATUS follows within a second.
 */
const CHECKED_MS = 2000;

/** Commands that a vehicle refuses when its arming checks fail. */
const ARMS: ReadonlySet<CommandName> = new Set(['arm', 'takeoff', 'missionStart']);

interface CommandsOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
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
  /** Sends a frame that gets no ack. */
  readonly send: (bytes: Buffer) => void;
}

/**
 * Carries out the commands of the catalogue. Each is sent in the form that the vehicle's family understands (maneuvers.ts), and
 * the vehicle's result is reported unchanged: TEMPORARILY_REJECTED is an answer too, and is not retried. Only three cases
 * change the mode first, all on ArduPilot: take-off of an armed vehicle that is not in GUIDED (a fixed wing has a mode for it),
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

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.#sender = new Sender(options);
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
   * @throws ApiError E_BAD_REQUEST, E_TOO_FAR, E_ARMED (rebootAutopilot), E_NO_FC while no live vehicle is connected, E_BUSY for an
   *   arming while a killSwitch is under way, E_RATE_LIMITED, E_TIMEOUT (not sent)
   */
  async execute(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult> {
    const { cmd, timeout_ms, allow_far: allowFar = false } = request;
    const args = checkArguments(cmd, request.args);
    if (typeof args === 'string') throw new ApiError('E_BAD_REQUEST', args);
    const { vehicle, clock, refusals } = this.#options;
    const { target } = vehicle;
    if (target === null || !vehicle.alive) throw new ApiError('E_NO_FC');
    const asked = Math.min(MAX_TIMEOUT_MS, timeout_ms ?? DEFAULT_TIMEOUT_MS);
    const timeout = cmd === 'killSwitch' ? Math.max(asked, KILL_MS) : asked;
    const turn = this.#precedence.begin(cmd, args, signal);
    const note: Context['note'] = { mode: null, backAfterS: null };
    const context: Context = { target, deadline: clock.now() + timeout, turn, note };
    const watch = refusals.watch();
    try {
      const result = await this.#run(cmd, args, context, allowFar);
      const refused = result !== null && result !== RESULT_ACCEPTED;
      const arming = ARMS.has(cmd) && this.#options.vehicle.armed !== true;
      const reasons = refused ? await watch.settled(arming) : watch.reasons(false);
      const answer = verdict(cmd, result, reasons);
      if (cmd === 'land' && result === RESULT_FAILED && landsByMission(this.#sender.craft()))
        answer.ack.hint = await landingHint(clock, this.#options.mission());
      const disarming = cmd === 'disarm' && refused ? disarmHint(vehicle.telemetry) : null;
      if (disarming !== null) answer.ack.hint = disarming;
      if (!answer.ack.accepted) return answer;
      if (cmd === 'rebootAutopilot') return { ...answer, back_after_s: note.backAfterS };
      return note.mode === null ? answer : { ...answer, mode: note.mode };
    } finally {
      watch.end();
      turn.end();
    }
  }

  async #run(
    cmd: CommandName,
    args: readonly (number | string)[],
    context: Context,
    allowFar: boolean,
  ): Promise<number | null> {
    switch (cmd) {
      case 'arm': {
        const result = await this.#sender.long(context, COMPONENT_ARM_DISARM, [1], {
          shows: () => this.#isArmed(true),
        });
        if (result === RESULT_ACCEPTED) this.#options.vehicle.noteArmed();
        return result;
      }
      case 'disarm':
        return this.#sender.long(context, COMPONENT_ARM_DISARM, [0], { shows: () => this.#isArmed(false) });
      case 'runPrearmChecks':
        return this.#runChecks(context);
      case 'rebootAutopilot': {
        const { clock, vehicle } = this.#options;
        const { result, backAfterS } = await reboot({ clock, vehicle, sender: this.#sender }, context);
        context.note.backAfterS = backAfterS;
        return result;
      }
      case 'killSwitch':
        return this.#sender.long(context, COMPONENT_ARM_DISARM, [0, FORCE], {
          urgent: true,
          shows: () => this.#isArmed(false),
        });
      case 'takeoff':
        return this.#takeoff(context, numberAt(args, 0));
      case 'land':
        return this.#sender.maneuver(context, landing(this.#sender.craft()));
      case 'rtl':
        return this.#sender.maneuver(context, returning(this.#sender.craft()));
      case 'mode':
        return this.#sender.mode(context, String(args[0]));
      case 'goto':
        return this.#goto(context, numberAt(args, 0), numberAt(args, 1), numberAt(args, 2), allowFar);
      case 'stop':
        return this.#stop(context);
      case 'missionStart':
        return this.#missionStart(context);
      case 'pauseMission':
        return this.#sender.maneuver(context, pausing(this.#sender.craft()));
      case 'resumeMission':
        return this.#sender.maneuver(context, resuming(this.#sender.craft()));
      case 'missionSetCurrent':
        return this.#setCurrent(context, numberAt(args, 0));
      case 'gimbal':
        return this.#gimbal(context, numberAt(args, 0), numberAt(args, 1));
      case 'yaw':
      case 'speed':
      case 'roi':
      case 'roiClear':
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
          const [lat, lon, alt] = [numberAt(args, 2), numberAt(args, 3), numberAt(args, 4)];
          await this.#options.reach.check(cmd, { lat, lon, alt, around: Math.abs(numberAt(args, 0)) });
        }
        return this.#sender.maneuver(context, maneuver);
      }
      case 'setHome':
        return this.#sender.long(context, DO_SET_HOME, [1]);
    }
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

  /** Items 0 to 0 stand for the whole mission. Both firmwares change the mode themselves, and PX4 arms besides. */
  async #missionStart(context: Context): Promise<number | null> {
    const { vehicle } = this.#options;
    if (vehicle.firmware !== 'px4') return this.#sender.long(context, MISSION_START, []);
    const before = vehicle.telemetry.mode === AUTO_MISSION ? vehicle.telemetry.mission.current : null;
    const result = await this.#sender.long(context, MISSION_START, [], {
      underway: () => {
        const { mode, mission } = vehicle.telemetry;
        const item = mode === AUTO_MISSION ? (mission.current ?? 0) : 0;
        return item > 0 && (before === null || item < before);
      },
    });
    if (result === RESULT_ACCEPTED) vehicle.noteArmed();
    return result;
  }

  /**
   * Disarmed: sends the take-off unchanged, so that the answer has the vehicle's own reason. Armed, but not in GUIDED
   * (ArduPilot then refuses every take-off): changes to GUIDED first; if that is refused, the refusal is the answer.
   */
  async #takeoff(context: Context, alt: number): Promise<number | null> {
    const { vehicle } = this.#options;
    const craft = this.#sender.craft();
    if (!flies(craft)) {
      const kind = craft.family === 'px4' ? 'vehicle of this type' : (craft.family ?? 'vehicle');
      throw new ApiError('E_BAD_REQUEST', `takeoff: a ${kind} cannot take off.`);
    }
    if (
      vehicle.armed === true &&
      takesOffByMode(craft, (this.#options.params.valueOf(QUADPLANE) ?? 0) >= 1)
    ) {
      return this.#takeoffByMode(context, alt);
    }
    const climbing = this.#climbing();
    const extras = { underway: climbing, shows: climbing };
    if (vehicle.firmware === 'px4') {
      // PX4 takes the height above sea level, and NaN as the present position and heading.
      const ground = knownAltitude(vehicle.telemetry.position.alt_msl);
      return this.#sender.long(context, NAV_TAKEOFF, [NaN, 0, 0, NaN, NaN, NaN, ground + alt], extras);
    }
    const { family } = vehicle;
    if (vehicle.armed === true && family !== null && vehicle.telemetry.mode !== GUIDED) {
      if (modeNumber(family, GUIDED) !== null) {
        const result = await this.#sender.mode(context, GUIDED);
        if (result !== RESULT_ACCEPTED) return result;
      }
    }
    return this.#sender.long(context, NAV_TAKEOFF, [0, 0, 0, 0, 0, 0, alt], extras);
  }

  /**
   * A fixed wing supports NAV_TAKEOFF only in a mission. Its mode TAKEOFF climbs to a height that is a parameter.
   * @throws ApiError of the parameter's write; then it stays on the ground
   */
  async #takeoffByMode(context: Context, alt: number): Promise<number | null> {
    const { params, vehicle } = this.#options;
    context.turn.claim();
    if (params.valueOf(TAKEOFF_HEIGHT) !== alt) {
      await params.write({ name: TAKEOFF_HEIGHT, value: alt, force: true });
    }
    if (vehicle.telemetry.mode === TAKEOFF_MODE) return RESULT_ACCEPTED;
    const result = await this.#sender.mode(context, TAKEOFF_MODE);
    context.note.mode = TAKEOFF_MODE;
    return result;
  }

  /** @returns a check whether the vehicle has taken off since this call; always false if it is in the air already */
  #climbing(): () => boolean {
    const { vehicle } = this.#options;
    const { landed_state: state, position } = vehicle.telemetry;
    const ground = position.alt_rel;
    if (state === 'in_air') return () => false;
    return () => {
      const { landed_state: present, position: here } = vehicle.telemetry;
      const height = ground === null || here.alt_rel === null ? 0 : here.alt_rel - ground;
      return height > CLIMBED_M || (state !== null && (present === 'in_air' || present === 'takeoff'));
    };
  }

  /** @param alt m above home */
  async #goto(
    context: Context,
    lat: number,
    lon: number,
    alt: number,
    allowFar: boolean,
  ): Promise<number | null> {
    const { vehicle, reach } = this.#options;
    const problem = gotoProblem(this.#sender.craft(), alt);
    if (problem !== null) throw new ApiError('E_BAD_REQUEST', problem);
    // Before it is sent, and so before it ends what is under way.
    if (!allowFar) await reach.check('goto', { lat, lon, alt });
    // Speed -1: the vehicle's own. Yaw NaN: as it flies; a plane reads this parameter as the direction of its circle.
    const yaw = vehicle.family === 'plane' ? 0 : NaN;
    const result = await this.#sender.place(context, DO_REPOSITION, [-1, CHANGE_MODE, 0, yaw, lat, lon, alt]);
    if (result !== RESULT_UNSUPPORTED || vehicle.firmware !== 'ardupilot') return result;
    return this.#gotoByTarget(context, lat, lon, alt);
  }

  /**
   * @param seq as the vehicle counts. PX4 has no command for it, only MISSION_SET_CURRENT, which gets no ack: its progress shows
   *   whether it did it.
   */
  async #setCurrent(context: Context, seq: number): Promise<number | null> {
    const { encoder, exchange, vehicle } = this.#options;
    const { firstItem: first } = vehicle;
    const { total } = vehicle.telemetry.mission;
    if (seq < first || (total !== null && seq >= first + total)) {
      const items =
        total === null
          ? `the items of its mission begin with ${first}`
          : total === 0
            ? 'its mission has no items'
            : `its mission has the items ${first} to ${first + total - 1}`;
      const home = seq < first ? `item ${seq} is the vehicle's home, and ` : '';
      throw new ApiError('E_BAD_REQUEST', `missionSetCurrent: ${home}${items}.`);
    }
    if (vehicle.firmware !== 'px4') {
      return this.#sender.long(context, DO_SET_MISSION_CURRENT, [seq]);
    }
    const { target } = context;
    const there = (): boolean => vehicle.telemetry.mission.current === seq;
    const result = await exchange.run({
      ...this.#sender.job(context, DO_SET_MISSION_CURRENT, [seq, 0, 0, 0, 0, 0, 0]),
      underway: there,
      encode: () => encoder.missionSetCurrent(target, seq),
    });
    return there() ? RESULT_ACCEPTED : result;
  }

  /** MAVLink's gimbal protocol v2; v1 for a vehicle that does not know it. Angles in degrees, from the vehicle. */
  async #gimbal(context: Context, pitch: number, yaw: number): Promise<number | null> {
    const { encoder, vehicle } = this.#options;
    if (vehicle.firmware === 'px4') {
      // PX4 listens to whoever has said that it controls the gimbal.
      const control = [encoder.system, OWN_COMPONENT, -1, -1];
      const taken = await this.#sender.long(context, DO_GIMBAL_MANAGER_CONFIGURE, control);
      if (taken !== RESULT_ACCEPTED) return taken;
    }
    const result = await this.#sender.long(context, DO_GIMBAL_MANAGER_PITCHYAW, [
      pitch,
      yaw,
      NaN,
      NaN,
      LEVEL_GIMBAL,
    ]);
    if (result !== RESULT_UNSUPPORTED) return result;
    return this.#sender.long(context, DO_MOUNT_CONTROL, [pitch, 0, yaw, 0, 0, 0, MOUNT_BY_ANGLES]);
  }

  /** For firmware without DO_REPOSITION. A position target gets no ack, so the answer is `no_ack`. */
  async #gotoByTarget(context: Context, lat: number, lon: number, alt: number): Promise<number | null> {
    const { encoder, send, vehicle } = this.#options;
    if (vehicle.telemetry.mode !== GUIDED) {
      const mode = await this.#sender.mode(context, GUIDED);
      if (mode !== RESULT_ACCEPTED) return mode;
    }
    if (context.turn.signal.aborted) return null;
    for (let count = 0; count < TARGET_SENDS; count++) {
      send(encoder.positionTarget(context.target, lat, lon, alt));
    }
    return null;
  }

  /** What the newest heartbeat says, when it has just come. */
  #isArmed(wanted: boolean): boolean {
    return this.#options.vehicle.telemetry.armed === wanted;
  }
}

/** Turns a MAV_RESULT (null: no ack) into the answer of the API. */
function verdict(cmd: CommandName, result: number | null, { text, all }: Reasons): CommandResult {
  const accepted = result === RESULT_ACCEPTED;
  const ack: CommandResult['ack'] = {
    observed: result !== null,
    result,
    result_name: result === null ? null : resultName(result),
    accepted,
  };
  if (!accepted && text !== null) ack.statustext = text;
  if (!accepted && all.length > 0) ack.reasons = [...all];
  // IN_PROGRESS without a final ack is not a refusal: the vehicle may still be busy with it.
  const open = result === null || result === RESULT_IN_PROGRESS;
  return { status: accepted ? 'accepted' : open ? 'no_ack' : 'rejected', cmd, ack };
}

function numberAt(args: readonly (number | string)[], index: number): number {
  return Number(args[index]);
}
