import { ApiError } from '../../../shared/errors.ts';
import type { CalibrationSensor, Pose } from '../../../shared/flight/calibration.ts';
import type { CalibrationMessage } from '../../../shared/mavlink/decode-calibration.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock } from '../clock.ts';
import type { Refusals } from '../commands/refusals.ts';
import type { Encoder, Params7, Target } from '../encode.ts';
import type { EventWords } from '../events/definitions.ts';
import { type Exchange, type ExchangeJob, RESULT_ACCEPTED, resultName } from '../exchange.ts';
import type { StatusLine } from '../part.ts';
import type { CalibrationRecord } from './record.ts';

/** MAV_CMD_PREFLIGHT_CALIBRATION */
export const PREFLIGHT_CALIBRATION = 241;

/** Its parameters; ArduPilot has another command for the compass. */
export const PREFLIGHT: Readonly<Record<CalibrationSensor, Params7>> = {
  gyro: [1, 0, 0, 0, 0, 0, 0],
  compass: [0, 1, 0, 0, 0, 0, 0],
  barometer: [0, 0, 1, 0, 0, 0, 0],
  accelerometer: [0, 0, 0, 0, 1, 0, 0],
  level: [0, 0, 0, 0, 2, 0, 0],
};

/** How one firmware calibrates. It writes what happens to the record, and ends it. */
export interface Routine {
  /** Tells the vehicle to begin. Resolves when it has answered, at the latest with the end. */
  start(): Promise<void>;
  /** The vehicle lies in the pose that it asked for. @throws ApiError E_CALIBRATION where it needs no telling or refuses, E_TIMEOUT */
  confirm(pose: Pose): Promise<void>;
  /** Tells the vehicle to stop. @throws ApiError E_BUSY where it cannot, E_CALIBRATION, E_TIMEOUT */
  cancel(): Promise<void>;
  onMessage(message: CalibrationMessage): void;
  onLine(line: StatusLine): void;
  onEvent(words: EventWords, args: Buffer): void;
}

export interface RoutineOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
  readonly refusals: Refusals;
  /** Sends a frame that gets no ack. */
  readonly send: (bytes: Buffer) => void;
  /** Also true while it is not known. */
  readonly isArmed: () => boolean;
  readonly record: CalibrationRecord;
  readonly sensor: CalibrationSensor;
  readonly target: Target;
  /** Aborted when it has ended. */
  readonly signal: AbortSignal;
}

/** MAV_RESULT of a command; null without an ack. */
export async function order(
  { clock, encoder, exchange, target }: RoutineOptions,
  command: number,
  params: Params7,
  more: Pick<ExchangeJob, 'sends' | 'patience' | 'underway' | 'trusting' | 'doubleAck' | 'signal'> & {
    readonly ms: number;
  },
): Promise<number | null> {
  const { ms, ...rest } = more;
  return exchange.run({
    ...rest,
    command,
    key: params.join(),
    deadline: clock.now() + ms,
    encode: (confirmation) => encoder.commandLong(target, command, params, confirmation),
  });
}

/**
 * Tells the vehicle to begin.
 * @param told sends the command; its MAV_RESULT, or null without an ack
 * @param begun whether the vehicle has said otherwise that it has begun
 * @returns false where it did not begin, which the record says then, or has ended meanwhile
 */
export async function hasBegun(
  { record, refusals, signal }: RoutineOptions,
  told: () => Promise<number | null>,
  begun: () => boolean = () => false,
): Promise<boolean> {
  const watch = refusals.watch();
  try {
    const result = await told();
    if (signal.aborted) return false;
    if (result === RESULT_ACCEPTED || begun()) return true;
    const reason = result === null ? null : (await watch.settled(false)).text;
    record.end('failed', refusal(result, reason));
    return false;
  } finally {
    watch.end();
  }
}

/** A refusal in words. @param reason the vehicle's own */
export function refusal(result: number | null, reason: string | null): string {
  if (result === null) return 'The vehicle did not answer.';
  const name = resultName(result);
  return reason === null ? `The vehicle answered ${name}.` : `The vehicle answered ${name}: ${reason}`;
}

/** As `refusal`, as an error. */
export function refused(result: number | null): ApiError {
  return new ApiError(result === null ? 'E_TIMEOUT' : 'E_CALIBRATION', refusal(result, null), { result });
}
