import { ApiError } from '../../shared/errors.ts';
import { type CommandName, checkArguments, commandNamed } from '../../shared/flight/command-catalogue.ts';
import type { CommandRequest, CommandResult } from '../../shared/ipc/link-protocol.ts';
import type { Clock } from './clock.ts';
import {
  type Encoder,
  FRAME_GLOBAL,
  FRAME_GLOBAL_RELATIVE_ALT_INT,
  type Params7,
  type Target,
} from './encode.ts';
import { type Exchange, RESULT_ACCEPTED, RESULT_IN_PROGRESS, RESULT_UNSUPPORTED } from './exchange.ts';
import { type Family, HOLD_MODE, modeNames, modeNumber } from './modes.ts';
import type { Refusals } from './refusals.ts';
import type { Vehicle } from './vehicle.ts';

// MAV_CMD
const NAV_RETURN_TO_LAUNCH = 20;
const NAV_LAND = 21;
const NAV_TAKEOFF = 22;
const DO_SET_MODE = 176;
const DO_SET_HOME = 179;
const DO_REPOSITION = 192;
const DO_PAUSE_CONTINUE = 193;
const MISSION_START = 300;
const COMPONENT_ARM_DISARM = 400;

/** Param 2 of COMPONENT_ARM_DISARM: disarm also in the air. */
const FORCE = 21196;
/** Param 1 of DO_SET_MODE: the custom mode in param 2 counts. */
const CUSTOM_MODE_ENABLED = 1;
/** Param 2 of DO_REPOSITION: change to the mode that can do it. */
const CHANGE_MODE = 1;
const GUIDED = 'GUIDED';

/** Three sends and an IN_PROGRESS of 8 s; longer than that nobody waits. */
const DEFAULT_TIMEOUT_MS = 11_600;
const MAX_TIMEOUT_MS = 20_000;
const TARGET_SENDS = 3;

const RESULT_NAMES = [
  'ACCEPTED',
  'TEMPORARILY_REJECTED',
  'DENIED',
  'UNSUPPORTED',
  'FAILED',
  'IN_PROGRESS',
  'CANCELLED',
] as const;

/** One request on its way: who it is for, how long it may take. */
interface Context {
  readonly target: Target;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

export interface CommandsOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
  readonly refusals: Refusals;
  /** Sends what has no ack. */
  readonly send: (bytes: Buffer) => void;
}

/**
 * Carries out the commands of the catalogue. Sends what was asked and reports the vehicle's verdict; the mode is changed
 * on the way in two cases only, both on ArduPilot and both because the command cannot work otherwise: take-off of an armed
 * vehicle that is not in GUIDED, and goto on a firmware without DO_REPOSITION.
 */
export class Commands {
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /**
   * The RPC method `command`.
   * @throws ApiError E_BAD_REQUEST, E_NO_FC while no live vehicle is connected, E_RATE_LIMITED, E_TIMEOUT (not sent)
   */
  async execute(params: unknown, signal?: AbortSignal): Promise<CommandResult> {
    const { cmd, args, timeout_ms } = readRequest(params);
    const { vehicle, clock, refusals } = this.#options;
    const { target } = vehicle;
    if (target === null || !vehicle.alive) throw new ApiError('E_NO_FC');
    const timeout = Math.min(MAX_TIMEOUT_MS, timeout_ms ?? DEFAULT_TIMEOUT_MS);
    const context: Context = { target, deadline: clock.now() + timeout, signal };
    const watch = refusals.watch();
    try {
      const result = await this.#run(cmd, args, context);
      const refused = result !== null && result !== RESULT_ACCEPTED;
      return verdict(cmd, result, await (refused ? watch.settled() : watch.newest()));
    } finally {
      watch.end();
    }
  }

  async #run(cmd: CommandName, args: readonly (number | string)[], context: Context): Promise<number | null> {
    switch (cmd) {
      case 'arm': {
        const result = await this.#long(context, COMPONENT_ARM_DISARM, [1]);
        if (result === RESULT_ACCEPTED) this.#options.vehicle.noteArmed();
        return result;
      }
      case 'disarm':
        return this.#long(context, COMPONENT_ARM_DISARM, [0]);
      case 'killSwitch':
        return this.#long(context, COMPONENT_ARM_DISARM, [0, FORCE], true);
      case 'takeoff':
        return this.#takeoff(context, numberAt(args, 0));
      case 'land':
        return this.#long(context, NAV_LAND, []);
      case 'rtl':
        return this.#long(context, NAV_RETURN_TO_LAUNCH, []);
      case 'mode':
        return this.#mode(context, String(args[0]));
      case 'goto':
        return this.#goto(context, numberAt(args, 0), numberAt(args, 1), numberAt(args, 2));
      case 'stop':
        return this.#mode(context, HOLD_MODE[this.#family()]);
      case 'missionStart':
        // ArduPilot and PX4 both change to AUTO themselves; items 0 to 0 stand for the whole mission.
        return this.#long(context, MISSION_START, []);
      case 'pauseMission':
        return this.#long(context, DO_PAUSE_CONTINUE, [0]);
      case 'resumeMission':
        return this.#long(context, DO_PAUSE_CONTINUE, [1]);
      case 'setHome':
        return this.#long(context, DO_SET_HOME, [1]);
    }
  }

  /**
   * Disarmed: the take-off goes as it is, so that the vehicle's own reason comes back. Armed and not in GUIDED (where
   * ArduPilot refuses every take-off): GUIDED first, and its refusal is the answer.
   */
  async #takeoff(context: Context, alt: number): Promise<number | null> {
    const { vehicle } = this.#options;
    if (vehicle.firmware === 'px4') {
      // PX4 wants the height above sea level, and reads NaN as "here, as you are".
      const ground = this.#px4Altitude(vehicle.telemetry.position.alt_msl);
      return this.#long(context, NAV_TAKEOFF, [NaN, 0, 0, NaN, NaN, NaN, ground + alt]);
    }
    const { family } = vehicle;
    if (vehicle.armed === true && family !== null && vehicle.telemetry.mode !== GUIDED) {
      if (modeNumber(family, GUIDED) !== null) {
        const result = await this.#mode(context, GUIDED);
        if (result !== RESULT_ACCEPTED) return result;
      }
    }
    return this.#long(context, NAV_TAKEOFF, [0, 0, 0, 0, 0, 0, alt]);
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
    return this.#long(context, DO_SET_MODE, [CUSTOM_MODE_ENABLED, ...mode]);
  }

  /** @param alt m above home */
  async #goto(context: Context, lat: number, lon: number, alt: number): Promise<number | null> {
    const { vehicle, encoder, exchange } = this.#options;
    const px4 = vehicle.firmware === 'px4';
    const frame = px4 ? FRAME_GLOBAL : FRAME_GLOBAL_RELATIVE_ALT_INT;
    const { home, position } = vehicle.telemetry;
    const below = position.alt_msl === null ? null : position.alt_msl - (position.alt_rel ?? 0);
    const height = px4 ? this.#px4Altitude(home.alt_msl ?? below) + alt : alt;
    // Speed -1: the vehicle's own. Yaw NaN: as it flies; a plane reads this parameter as the direction of its circle.
    const yaw = vehicle.family === 'plane' ? 0 : NaN;
    const result = await exchange.run({
      ...this.#job(context, DO_REPOSITION),
      encode: () =>
        encoder.commandInt(context.target, DO_REPOSITION, frame, [-1, CHANGE_MODE, 0, yaw, lat, lon, height]),
    });
    if (result !== RESULT_UNSUPPORTED || vehicle.firmware !== 'ardupilot') return result;
    return this.#gotoByTarget(context, lat, lon, alt);
  }

  /** For firmware without DO_REPOSITION. A position target has no ack: the answer is an honest "none seen". */
  async #gotoByTarget(context: Context, lat: number, lon: number, alt: number): Promise<number | null> {
    const { encoder, send, vehicle } = this.#options;
    if (vehicle.telemetry.mode !== GUIDED) {
      const mode = await this.#mode(context, GUIDED);
      if (mode !== RESULT_ACCEPTED) return mode;
    }
    for (let count = 0; count < TARGET_SENDS; count++) {
      send(encoder.positionTarget(context.target, lat, lon, alt));
    }
    return null;
  }

  async #long(
    context: Context,
    command: number,
    given: readonly number[],
    urgent = false,
  ): Promise<number | null> {
    const { encoder, exchange } = this.#options;
    const [p1 = 0, p2 = 0, p3 = 0, p4 = 0, p5 = 0, p6 = 0, p7 = 0] = given;
    const params: Params7 = [p1, p2, p3, p4, p5, p6, p7];
    return exchange.run({
      ...this.#job(context, command),
      urgent,
      encode: (confirmation) => encoder.commandLong(context.target, command, params, confirmation),
    });
  }

  #job(
    { deadline, signal }: Context,
    command: number,
  ): { command: number; deadline: number; signal?: AbortSignal } {
    return signal === undefined ? { command, deadline } : { command, deadline, signal };
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

/** Turns a MAV_RESULT (null: no ack) into the answer of the API. */
function verdict(cmd: CommandName, result: number | null, statustext: string | null): CommandResult {
  if (result === null) {
    const ack = { observed: false, result: null, result_name: null, accepted: false };
    return { status: 'no_ack', cmd, ack: statustext === null ? ack : { ...ack, statustext } };
  }
  const accepted = result === RESULT_ACCEPTED;
  const ack = { observed: true, result, result_name: RESULT_NAMES[result] ?? 'UNKNOWN', accepted };
  // IN_PROGRESS and then nothing is no refusal: the vehicle may still be at it.
  const status = accepted ? 'accepted' : result === RESULT_IN_PROGRESS ? 'no_ack' : 'rejected';
  return { status, cmd, ack: accepted || statustext === null ? ack : { ...ack, statustext } };
}

/** The RPC boundary: whoever connects to the socket may send anything. */
function readRequest(params: unknown): CommandRequest {
  if (typeof params !== 'object' || params === null) throw new ApiError('E_BAD_REQUEST');
  const { cmd, args = [], timeout_ms: timeout } = params as Readonly<Record<string, unknown>>;
  const name = typeof cmd === 'string' ? commandNamed(cmd) : null;
  if (name === null) throw new ApiError('E_BAD_REQUEST', `Unknown command: ${String(cmd)}.`);
  if (!Array.isArray(args)) throw new ApiError('E_BAD_REQUEST', 'args must be an array.');
  const checked = checkArguments(name, args);
  if (typeof checked === 'string') throw new ApiError('E_BAD_REQUEST', checked);
  if (timeout === undefined) return { cmd: name, args: checked };
  if (typeof timeout !== 'number' || !(timeout > 0)) {
    throw new ApiError('E_BAD_REQUEST', 'timeout_ms must be a positive number.');
  }
  return { cmd: name, args: checked, timeout_ms: timeout };
}

function numberAt(args: readonly (number | string)[], index: number): number {
  return Number(args[index]);
}
