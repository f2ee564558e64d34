import { ApiError } from '../../../shared/errors.ts';
import { type CommandName, checkArguments } from '../../../shared/flight/command-catalogue.ts';
import type { CommandRequest, CommandResult } from '../../../shared/rpc/link.ts';
import type { Clock } from '../clock.ts';
import {
  type Encoder,
  FRAME_GLOBAL,
  FRAME_GLOBAL_INT,
  FRAME_GLOBAL_RELATIVE_ALT,
  FRAME_GLOBAL_RELATIVE_ALT_INT,
  type Params7,
  type Target,
} from '../encode.ts';
import type { Params } from '../params/params.ts';
import { type Family, modeNames, modeNumber } from '../vehicle/modes.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import {
  type Exchange,
  type ExchangeJob,
  RESULT_ACCEPTED,
  RESULT_DENIED,
  RESULT_IN_PROGRESS,
  RESULT_INT_ONLY,
  RESULT_LONG_ONLY,
  RESULT_UNSUPPORTED,
  RESULT_UNSUPPORTED_FRAME,
} from './exchange.ts';
import {
  type Craft,
  flies,
  gotoProblem,
  holdModes,
  landing,
  type Maneuver,
  pausing,
  resuming,
  returning,
  takesOffByMode,
} from './maneuvers.ts';
import { Precedence, type Turn } from './precedence.ts';
import type { Reasons, Refusals } from './refusals.ts';

// MAV_CMD
const NAV_TAKEOFF = 22;
const DO_SET_MODE = 176;
const DO_SET_HOME = 179;
const DO_REPOSITION = 192;
const MISSION_START = 300;
const COMPONENT_ARM_DISARM = 400;

/**
 * Param 2 of COMPONENT_ARM_DISARM: disarm in the air too. This stops the motors on both firmwares without any setting, and
 * arming undoes it. DO_FLIGHTTERMINATION is off by default on PX4 (CBRK_FLIGHTTERM); where it is on, only a reboot ends it.
 */
const FORCE = 21196;
/** Param 1 of DO_SET_MODE: the custom mode in param 2 counts. */
const CUSTOM_MODE_ENABLED = 1;
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

/** Commands that a vehicle refuses when its arming checks fail. */
const ARMS: ReadonlySet<CommandName> = new Set(['arm', 'takeoff', 'missionStart']);

const RESULT_NAMES = [
  'ACCEPTED',
  'TEMPORARILY_REJECTED',
  'DENIED',
  'UNSUPPORTED',
  'FAILED',
  'IN_PROGRESS',
  'CANCELLED',
  'COMMAND_LONG_ONLY',
  'COMMAND_INT_ONLY',
  'COMMAND_UNSUPPORTED_MAV_FRAME',
] as const;

/**
 * The ways to send a position, best first: a COMMAND_INT with a MAV_FRAME, or a COMMAND_LONG, whose floats are exact to about a
 * metre. PX4 ignored the frame until February 2026 and has accepted only FRAME_GLOBAL_INT since; MAVLink has replaced that one
 * with FRAME_GLOBAL. ArduPilot accepts a relative altitude in both RELATIVE_ALT frames.
 */
type PlaceForm = number | 'long';
const PX4_PLACES: readonly PlaceForm[] = [FRAME_GLOBAL_INT, FRAME_GLOBAL, 'long'];
const PLACES: readonly PlaceForm[] = [FRAME_GLOBAL_RELATIVE_ALT_INT, FRAME_GLOBAL_RELATIVE_ALT];
/** These results reject the form of the command, not the request itself. */
const FORM_REFUSED: ReadonlySet<number> = new Set([
  RESULT_LONG_ONLY,
  RESULT_INT_ONLY,
  RESULT_UNSUPPORTED_FRAME,
]);

/** One request on its way: who it is for, how long it may take. */
interface Context {
  readonly target: Target;
  readonly deadline: number;
  readonly turn: Turn;
  /** The mode that was used instead of the command, for the answer. */
  readonly note: { mode: string | null };
}

/** Optional members of ExchangeJob. */
interface Extras {
  readonly urgent?: boolean;
  readonly doubleAck?: boolean;
  readonly underway?: () => boolean;
  readonly shows?: () => boolean;
}

export interface CommandsOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
  readonly refusals: Refusals;
  readonly params: Params;
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

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /** A killSwitch is under way that the vehicle has not acknowledged. */
  get killing(): boolean {
    return this.#precedence.killing;
  }

  /**
   * The RPC method `command`.
   * @throws ApiError E_BAD_REQUEST, E_NO_FC while no live vehicle is connected, E_BUSY for an arming while a killSwitch is
   *   under way, E_RATE_LIMITED, E_TIMEOUT (not sent)
   */
  async execute(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult> {
    const { cmd, timeout_ms } = request;
    const args = checkArguments(cmd, request.args);
    if (typeof args === 'string') throw new ApiError('E_BAD_REQUEST', args);
    const { vehicle, clock, refusals } = this.#options;
    const { target } = vehicle;
    if (target === null || !vehicle.alive) throw new ApiError('E_NO_FC');
    const asked = Math.min(MAX_TIMEOUT_MS, timeout_ms ?? DEFAULT_TIMEOUT_MS);
    const timeout = cmd === 'killSwitch' ? Math.max(asked, KILL_MS) : asked;
    const turn = this.#precedence.begin(cmd, args, signal);
    const note: Context['note'] = { mode: null };
    const context: Context = { target, deadline: clock.now() + timeout, turn, note };
    const watch = refusals.watch();
    try {
      const result = await this.#run(cmd, args, context);
      const refused = result !== null && result !== RESULT_ACCEPTED;
      const arming = ARMS.has(cmd) && this.#options.vehicle.armed !== true;
      const reasons = refused ? await watch.settled(arming) : watch.reasons(false);
      const answer = verdict(cmd, result, reasons);
      return note.mode === null || !answer.ack.accepted ? answer : { ...answer, mode: note.mode };
    } finally {
      watch.end();
      turn.end();
    }
  }

  async #run(cmd: CommandName, args: readonly (number | string)[], context: Context): Promise<number | null> {
    switch (cmd) {
      case 'arm': {
        const result = await this.#long(context, COMPONENT_ARM_DISARM, [1], {
          shows: () => this.#isArmed(true),
        });
        if (result === RESULT_ACCEPTED) this.#options.vehicle.noteArmed();
        return result;
      }
      case 'disarm':
        return this.#long(context, COMPONENT_ARM_DISARM, [0], { shows: () => this.#isArmed(false) });
      case 'killSwitch':
        return this.#long(context, COMPONENT_ARM_DISARM, [0, FORCE], {
          urgent: true,
          shows: () => this.#isArmed(false),
        });
      case 'takeoff':
        return this.#takeoff(context, numberAt(args, 0));
      case 'land':
        return this.#maneuver(context, landing(this.#craft()));
      case 'rtl':
        return this.#maneuver(context, returning(this.#craft()));
      case 'mode':
        return this.#mode(context, String(args[0]));
      case 'goto':
        return this.#goto(context, numberAt(args, 0), numberAt(args, 1), numberAt(args, 2));
      case 'stop':
        return this.#stop(context);
      case 'missionStart':
        return this.#missionStart(context);
      case 'pauseMission':
        return this.#maneuver(context, pausing(this.#craft()));
      case 'resumeMission':
        return this.#maneuver(context, resuming(this.#craft()));
      case 'setHome':
        return this.#long(context, DO_SET_HOME, [1]);
    }
  }

  async #maneuver(context: Context, maneuver: Maneuver): Promise<number | null> {
    switch (maneuver.kind) {
      case 'cannot':
        throw new ApiError('E_BAD_REQUEST', maneuver.sentence);
      case 'mode':
        return this.#mode(context, maneuver.name);
      case 'command': {
        const result = await this.#long(context, maneuver.command, maneuver.params);
        const unknown = result === RESULT_UNSUPPORTED;
        if (!unknown && !(maneuver.always === true && isRefusal(result))) return result;
        const instead = await this.#firstOf(context, maneuver.otherwise ?? []);
        // If the alternatives failed too, the answer to the command itself says more.
        return instead === RESULT_ACCEPTED || (unknown && instead !== null) ? instead : result;
      }
    }
  }

  /** Holds its position, in the best mode that the vehicle accepts. */
  async #stop(context: Context): Promise<number | null> {
    const [best = '', ...others] = holdModes(this.#craft());
    const result = await this.#mode(context, best);
    if (!isRefusal(result)) return result;
    return (await this.#firstOf(context, others)) === RESULT_ACCEPTED ? RESULT_ACCEPTED : result;
  }

  /** @returns the result of the first mode that is not refused, else of the last; null when there is none to try */
  async #firstOf(context: Context, modes: readonly string[]): Promise<number | null> {
    let result: number | null = null;
    for (const mode of modes) {
      result = await this.#mode(context, mode);
      context.note.mode = mode;
      if (!isRefusal(result)) return result;
    }
    return result;
  }

  /** Items 0 to 0 stand for the whole mission. Both firmwares change the mode themselves, and PX4 arms besides. */
  async #missionStart(context: Context): Promise<number | null> {
    const { vehicle } = this.#options;
    if (vehicle.firmware !== 'px4') return this.#long(context, MISSION_START, []);
    const before = vehicle.telemetry.mode === AUTO_MISSION ? vehicle.telemetry.mission.current : null;
    const result = await this.#long(context, MISSION_START, [], {
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
    const craft = this.#craft();
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
      const ground = this.#px4Altitude(vehicle.telemetry.position.alt_msl);
      return this.#long(context, NAV_TAKEOFF, [NaN, 0, 0, NaN, NaN, NaN, ground + alt], extras);
    }
    const { family } = vehicle;
    if (vehicle.armed === true && family !== null && vehicle.telemetry.mode !== GUIDED) {
      if (modeNumber(family, GUIDED) !== null) {
        const result = await this.#mode(context, GUIDED);
        if (result !== RESULT_ACCEPTED) return result;
      }
    }
    return this.#long(context, NAV_TAKEOFF, [0, 0, 0, 0, 0, 0, alt], extras);
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
    const result = await this.#mode(context, TAKEOFF_MODE);
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

  async #mode(context: Context, name: string): Promise<number | null> {
    const family = this.#family();
    const number = modeNumber(family, name);
    if (number === null) {
      throw new ApiError(
        'E_BAD_REQUEST',
        `Unknown mode: ${name}. This vehicle knows: ${modeNames(family).join(', ')}.`,
      );
    }
    const mode = family === 'px4' ? [(number >>> 16) & 0xff, (number >>> 24) & 0xff] : [number];
    return this.#long(context, DO_SET_MODE, [CUSTOM_MODE_ENABLED, ...mode], {
      doubleAck: family === 'px4',
      shows: () => this.#options.vehicle.customMode === number,
    });
  }

  /** @param alt m above home */
  async #goto(context: Context, lat: number, lon: number, alt: number): Promise<number | null> {
    const { vehicle } = this.#options;
    const problem = gotoProblem(this.#craft(), alt);
    if (problem !== null) throw new ApiError('E_BAD_REQUEST', problem);
    const px4 = vehicle.firmware === 'px4';
    const { home, position } = vehicle.telemetry;
    // Without either the height of home is unknown, and the present height would be added to `alt`.
    const { alt_msl: sea, alt_rel: high } = position;
    const below = sea === null || high === null ? null : sea - high;
    const height = px4 ? this.#px4Altitude(home.alt_msl ?? below) + alt : alt;
    // Speed -1: the vehicle's own. Yaw NaN: as it flies; a plane reads this parameter as the direction of its circle.
    const yaw = vehicle.family === 'plane' ? 0 : NaN;
    const params: Params7 = [-1, CHANGE_MODE, 0, yaw, lat, lon, height];
    const result = await this.#reposition(context, params);
    if (result !== RESULT_UNSUPPORTED || vehicle.firmware !== 'ardupilot') return result;
    return this.#gotoByTarget(context, lat, lon, alt);
  }

  /** Tries the next form only if the vehicle rejected the form; PX4 answers DENIED to a wrong form too. */
  async #reposition(context: Context, params: Params7): Promise<number | null> {
    const { vehicle, encoder, exchange } = this.#options;
    const px4 = vehicle.firmware === 'px4';
    let answer: number | null = null;
    for (const form of px4 ? PX4_PLACES : PLACES) {
      const result =
        form === 'long'
          ? await this.#long(context, DO_REPOSITION, params)
          : await exchange.run({
              ...this.#job(context, DO_REPOSITION, params),
              encode: () => encoder.commandInt(context.target, DO_REPOSITION, form, params),
            });
      if (result === null) return answer;
      const perhaps = px4 && (result === RESULT_DENIED || result === RESULT_UNSUPPORTED);
      if (!FORM_REFUSED.has(result) && !perhaps) return result;
      // A result about the request says more than a result about the form.
      answer = answer === null || (FORM_REFUSED.has(answer) && perhaps) ? result : answer;
    }
    return answer;
  }

  /** For firmware without DO_REPOSITION. A position target gets no ack, so the answer is `no_ack`. */
  async #gotoByTarget(context: Context, lat: number, lon: number, alt: number): Promise<number | null> {
    const { encoder, send, vehicle } = this.#options;
    if (vehicle.telemetry.mode !== GUIDED) {
      const mode = await this.#mode(context, GUIDED);
      if (mode !== RESULT_ACCEPTED) return mode;
    }
    if (context.turn.signal.aborted) return null;
    for (let count = 0; count < TARGET_SENDS; count++) {
      send(encoder.positionTarget(context.target, lat, lon, alt));
    }
    return null;
  }

  async #long(
    context: Context,
    command: number,
    given: readonly number[],
    extras: Extras = {},
  ): Promise<number | null> {
    const { encoder, exchange } = this.#options;
    const [p1 = 0, p2 = 0, p3 = 0, p4 = 0, p5 = 0, p6 = 0, p7 = 0] = given;
    const params: Params7 = [p1, p2, p3, p4, p5, p6, p7];
    return exchange.run({
      ...this.#job(context, command, params),
      ...extras,
      encode: (confirmation) => encoder.commandLong(context.target, command, params, confirmation),
    });
  }

  /** The members that every job has. From here on the command takes precedence over older ones. */
  #job(
    { deadline, turn }: Context,
    command: number,
    params: Params7,
  ): Pick<ExchangeJob, 'command' | 'key' | 'deadline' | 'signal'> {
    turn.claim();
    return { command, key: params.join(), deadline, signal: turn.signal };
  }

  /** What the newest heartbeat says, when it has just come. */
  #isArmed(wanted: boolean): boolean {
    return this.#options.vehicle.telemetry.armed === wanted;
  }

  #craft(): Craft {
    const { family, telemetry } = this.#options.vehicle;
    return { family, type: telemetry.mav_type, mode: telemetry.mode };
  }

  #family(): Family {
    const { family } = this.#options.vehicle;
    if (family === null) {
      throw new ApiError('E_BAD_REQUEST', 'The flight modes of this kind of vehicle are not known.');
    }
    return family;
  }

  #px4Altitude(alt: number | null): number {
    if (alt !== null) return alt;
    throw new ApiError('E_NO_FC', 'The vehicle has not reported its altitude yet. Wait for a position fix.');
  }
}

/** The vehicle has said no. */
function isRefusal(result: number | null): boolean {
  return result !== null && result !== RESULT_ACCEPTED && result !== RESULT_IN_PROGRESS;
}

/** Turns a MAV_RESULT (null: no ack) into the answer of the API. */
function verdict(cmd: CommandName, result: number | null, { text, all }: Reasons): CommandResult {
  const accepted = result === RESULT_ACCEPTED;
  const ack: CommandResult['ack'] = {
    observed: result !== null,
    result,
    result_name: result === null ? null : (RESULT_NAMES[result] ?? 'UNKNOWN'),
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
