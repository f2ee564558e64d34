import { MSG } from '../../shared/mavlink/messages.ts';
import type { Clock } from './clock.ts';
import type { Encoder, Params7 } from './encode.ts';
import { type Exchange, RESULT_ACCEPTED, RESULT_UNSUPPORTED } from './exchange.ts';
import type { Vehicle } from './vehicle.ts';

// MAV_CMD
const SET_MESSAGE_INTERVAL = 511;
const REQUEST_MESSAGE = 512;
const EXCHANGE_MS = 4000;
/** Heartbeats come and telemetry does not: ask again. */
const STOPPED_MS = 5000;

/** What we want to hear, and how often (Hz). The first one also tells whether the vehicle knows the command. */
const WANTED: readonly (readonly [message: number, hz: number])[] = [
  [MSG.ATTITUDE, 10],
  [MSG.GLOBAL_POSITION_INT, 5],
  [MSG.VFR_HUD, 2],
  [MSG.GPS_RAW_INT, 2],
  [MSG.SYS_STATUS, 2],
  [MSG.RC_CHANNELS, 2],
  [MSG.BATTERY_STATUS, 1],
  [MSG.HOME_POSITION, 0.5],
  [MSG.SIMSTATE, 1], // evidence that the vehicle is a simulated one
];

/** The same in MAV_DATA_STREAM groups, for a vehicle without SET_MESSAGE_INTERVAL. */
const GROUPS: readonly (readonly [stream: number, hz: number])[] = [
  [10, 10], // EXTRA1: attitude
  [6, 5], // POSITION
  [11, 2], // EXTRA2: VFR_HUD
  [2, 2], // EXTENDED_STATUS: SYS_STATUS, GPS_RAW_INT
  [3, 2], // RC_CHANNELS
  [12, 1], // EXTRA3: BATTERY_STATUS, SIMSTATE
];

/** Messages that a vehicle sends when asked, not by themselves. */
const ONCE: readonly number[] = [MSG.AUTOPILOT_VERSION, MSG.HOME_POSITION];

export interface StreamsOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
  readonly send: (bytes: Buffer) => void;
  readonly onError: (error: unknown) => void;
}

/** Asks the vehicle for the telemetry we want, and asks again when it stops. */
export class Streams {
  readonly #options: StreamsOptions;
  #abort: AbortController | null = null;
  #askedAt = -Infinity;
  #telemetryAt = -Infinity;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** A session of the vehicle begins: whatever was asked for is void. */
  request(): void {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.#askedAt = this.#options.clock.now();
    this.#ask(abort.signal).catch((error: unknown) => this.#options.onError(error));
  }

  onTelemetry(): void {
    this.#telemetryAt = this.#options.clock.now();
  }

  /** Called about once a second. */
  tick(): void {
    const { clock, vehicle } = this.#options;
    const silence = clock.now() - Math.max(this.#telemetryAt, this.#askedAt);
    if (vehicle.alive && silence >= STOPPED_MS) this.request();
  }

  stop(): void {
    this.#abort?.abort();
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { encoder, vehicle, send } = this.#options;
    for (const [index, [message, hz]] of WANTED.entries()) {
      const result = await this.#setInterval(message, hz, signal);
      if (signal.aborted) return;
      // Any other refusal is about this one message (a vehicle without SIMSTATE, say).
      if (result === RESULT_UNSUPPORTED || (index === 0 && result === null)) {
        this.#askForGroups();
        break;
      }
      if (result === RESULT_ACCEPTED) this.#askedAt = this.#options.clock.now();
    }
    const { target } = vehicle;
    if (target === null) return;
    for (const message of ONCE) {
      send(encoder.commandLong(target, REQUEST_MESSAGE, [message, 0, 0, 0, 0, 0, 0], 0));
    }
  }

  async #setInterval(message: number, hz: number, signal: AbortSignal): Promise<number | null> {
    const { clock, encoder, exchange, vehicle } = this.#options;
    const { target } = vehicle;
    if (target === null) return null;
    const params: Params7 = [message, 1e6 / hz, 0, 0, 0, 0, 0];
    return exchange.run({
      command: SET_MESSAGE_INTERVAL,
      deadline: clock.now() + EXCHANGE_MS,
      signal,
      encode: (confirmation) => encoder.commandLong(target, SET_MESSAGE_INTERVAL, params, confirmation),
    });
  }

  #askForGroups(): void {
    const { encoder, send, vehicle } = this.#options;
    const { target } = vehicle;
    if (target === null) return;
    for (const [stream, hz] of GROUPS) send(encoder.requestDataStream(target, stream, hz));
  }
}
