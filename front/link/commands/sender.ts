import { ApiError } from '../../../shared/errors.ts';
import { type Family, modeNames, modeNumber } from '../../../shared/flight/modes.ts';
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
} from '../exchange.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { countsByState, DO_SET_MODE, type EffectOutcome, seeEffect } from './effect.ts';
import { lookUntil } from './look-until.ts';
import type { Craft, Maneuver } from './maneuvers.ts';
import type { Turn } from './precedence.ts';

/** Param 1 of DO_SET_MODE: the custom mode in param 2 counts. */
const CUSTOM_MODE_ENABLED = 1;

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

/** A vehicle that sends its heartbeats once a second shows its mode within this. */
const SHOWN_MS = 1500;
const LOOK_MS = 20;

/** One request on its way: who it is for, how long it may take. */
export interface Context {
  readonly target: Target;
  readonly deadline: number;
  /** A vehicle that goes on saying IN_PROGRESS is followed beyond it. */
  readonly follows: boolean;
  readonly turn: Turn;
  /** For the answer: the mode that was used instead of the command. */
  readonly note: {
    mode: string | null;
    /** s, of a reboot. */
    backAfterS: number | null;
    /** What the state of the vehicle says of the command that it has acknowledged. */
    seen: EffectOutcome;
  };
  /** The vehicle's newest error text or event since the command was begun; null: none. */
  readonly objection: () => string | null;
}

/** Optional members of ExchangeJob. */
interface Extras {
  /** Called with its ack ACCEPTED, before its effect is awaited. */
  readonly onAccepted?: () => void;
  readonly urgent?: boolean;
  readonly sends?: number;
  readonly doubleAck?: boolean;
  readonly underway?: () => boolean;
  readonly shows?: () => boolean;
}

export interface SenderOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
}

/** Sends one command in the form that this vehicle understands, and waits for its MAV_RESULT; null: no ack. */
export class Sender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  async maneuver(context: Context, maneuver: Maneuver): Promise<number | null> {
    switch (maneuver.kind) {
      case 'cannot':
        throw new ApiError('E_BAD_REQUEST', maneuver.sentence);
      case 'mode':
        return this.mode(context, maneuver.name);
      case 'place':
        return this.place(context, maneuver.command, maneuver.params);
      case 'command': {
        const result = await this.long(context, maneuver.command, maneuver.params);
        const unknown = result === RESULT_UNSUPPORTED;
        if (!unknown && !(maneuver.always === true && isRefusal(result))) return result;
        const instead = await this.firstOf(context, maneuver.otherwise ?? []);
        // If the alternatives failed too, the answer to the command itself says more.
        return instead === RESULT_ACCEPTED || (unknown && instead !== null) ? instead : result;
      }
    }
  }

  /** @returns the result of the first mode that is not refused, else of the last; null when there is none to try */
  async firstOf(context: Context, modes: readonly string[]): Promise<number | null> {
    let result: number | null = null;
    for (const mode of modes) {
      result = await this.mode(context, mode);
      context.note.mode = mode;
      if (!isRefusal(result)) return result;
    }
    return result;
  }

  /** @throws ApiError E_BAD_REQUEST for a mode that this vehicle does not have */
  numberOfMode(name: string): number {
    const family = this.#family();
    const number = modeNumber(family, name);
    if (number !== null) return number;
    throw new ApiError(
      'E_BAD_REQUEST',
      `Unknown mode: ${name}. This vehicle knows: ${modeNames(family).join(', ')}.`,
    );
  }

  async mode(context: Context, name: string): Promise<number | null> {
    const family = this.#family();
    const number = this.numberOfMode(name);
    const mode = family === 'px4' ? [(number >>> 16) & 0xff, (number >>> 24) & 0xff] : [number];
    const shows = (): boolean => this.#options.vehicle.customMode === number;
    const result = await this.long(context, DO_SET_MODE, [CUSTOM_MODE_ENABLED, ...mode], {
      doubleAck: family === 'px4',
      shows,
    });
    if (result !== RESULT_ACCEPTED || countsByState(family, DO_SET_MODE)) return result;
    // So that who is told "accepted" does not then read the old mode. Not a mark in the telemetry instead: the mode stays what the
    // vehicle says, and one that it takes back at once is never shown.
    const { clock } = this.#options;
    const { deadline, turn } = context;
    const until = Math.min(clock.now() + SHOWN_MS, deadline);
    await lookUntil(clock, shows, { until, everyMs: LOOK_MS, signal: turn.signal });
    return result;
  }

  /**
   * A command about a place. @param params the first four, then latitude and longitude in degrees and m above home
   * @throws ApiError E_NO_FC when PX4 has not told how high its home is: it takes altitudes above sea level
   */
  async place(context: Context, command: number, params: Params7): Promise<number | null> {
    const { vehicle, encoder } = this.#options;
    const px4 = vehicle.firmware === 'px4';
    const [p1, p2, p3, p4, lat, lon, alt] = params;
    const place: Params7 = [p1, p2, p3, p4, lat, lon, px4 ? knownHome(vehicle) + alt : alt];
    let answer: number | null = null;
    // Tries the next form only if the vehicle rejected the form; PX4 answers DENIED to a wrong form too.
    for (const form of px4 ? PX4_PLACES : PLACES) {
      const result =
        form === 'long'
          ? await this.long(context, command, place)
          : await this.#run(context, {
              ...this.job(context, command, place),
              encode: () => encoder.commandInt(context.target, command, form, place),
            });
      if (result === null) return answer;
      const perhaps = px4 && (result === RESULT_DENIED || result === RESULT_UNSUPPORTED);
      if (!FORM_REFUSED.has(result) && !perhaps) return result;
      // A result about the request says more than a result about the form.
      answer = answer === null || (FORM_REFUSED.has(answer) && perhaps) ? result : answer;
    }
    return answer;
  }

  /** COMMAND_LONG. @param given parameters; those that are missing are 0 */
  async long(
    context: Context,
    command: number,
    given: readonly number[],
    { onAccepted, ...extras }: Extras = {},
  ): Promise<number | null> {
    const { encoder } = this.#options;
    const [p1 = 0, p2 = 0, p3 = 0, p4 = 0, p5 = 0, p6 = 0, p7 = 0] = given;
    const params: Params7 = [p1, p2, p3, p4, p5, p6, p7];
    const job = {
      ...this.job(context, command, params),
      ...extras,
      encode: (confirmation: number) => encoder.commandLong(context.target, command, params, confirmation),
    };
    return this.#run(context, job, onAccepted);
  }

  /** Where the state of the vehicle counts, an ACCEPTED is looked into: `note.seen` says what is to be made of it. */
  async #run(context: Context, job: ExchangeJob, onAccepted?: () => void): Promise<number | null> {
    const { clock, exchange, vehicle } = this.#options;
    const result = await exchange.run(job);
    if (result !== RESULT_ACCEPTED) return result;
    onAccepted?.();
    const evidence = {
      family: vehicle.family,
      customMode: () => vehicle.customMode,
      objection: context.objection,
      shows: job.shows,
    };
    const { deadline, turn, note } = context;
    note.seen = await seeEffect(clock, job.command, evidence, { deadline, signal: turn.signal });
    return result;
  }

  /** The members that every job has. From here on the command takes precedence over older ones. */
  job(
    { deadline, follows, turn }: Context,
    command: number,
    params: Params7,
  ): Pick<ExchangeJob, 'command' | 'key' | 'deadline' | 'follows' | 'signal'> {
    turn.claim();
    return { command, key: params.join(), deadline, follows, signal: turn.signal };
  }

  craft(): Craft {
    const { family, telemetry } = this.#options.vehicle;
    return { family, type: telemetry.mav_type, mode: telemetry.mode };
  }

  #family(): Family {
    const { family } = this.#options.vehicle;
    if (family === null) {
      throw new ApiError('E_BAD_REQUEST', 'Unknown flight modes for this type of vehicle.');
    }
    return family;
  }
}

/** m above sea level of the home position. @throws ApiError E_NO_FC */
export function knownHome({ telemetry }: Vehicle): number {
  const { home, position } = telemetry;
  // Without either the height of home is unknown, and the present height would be added.
  const { alt_msl: sea, alt_rel: high } = position;
  return knownAltitude(home.alt_msl ?? (sea === null || high === null ? null : sea - high));
}

/** @throws ApiError E_NO_FC */
export function knownAltitude(alt: number | null): number {
  if (alt !== null) return alt;
  throw new ApiError('E_NO_FC', 'The vehicle has not reported its altitude yet. Wait for a position fix.');
}

/** The vehicle has said no. */
export function isRefusal(result: number | null): boolean {
  return result !== null && result !== RESULT_ACCEPTED && result !== RESULT_IN_PROGRESS;
}
