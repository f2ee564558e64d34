import { MSG } from '../../../shared/mavlink/messages.ts';
import type { LinkProblem } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import type { Encoder, Params7 } from '../encode.ts';
import { type Exchange, RESULT_ACCEPTED, RESULT_UNSUPPORTED } from '../exchange.ts';
import type { Part } from '../part.ts';
import type { Vehicle } from './vehicle.ts';

// MAV_CMD
const SET_MESSAGE_INTERVAL = 511;
const REQUEST_MESSAGE = 512;
const EXCHANGE_MS = 4000;
/** If heartbeats come without telemetry for this long, request it again. */
const STOPPED_MS = 5000;
/** Requests without an ack are repeated after this time, at most this often. */
const AGAIN_MS = 5000;
const ROUNDS = 5;
/** Heartbeats without any telemetry for so long are told. */
const UNHEARD_MS = 30_000;
/** A message has stopped if it is not heard for this long and for this many of its periods. */
const SILENT_MS = 6000;
const SILENT_PERIODS = 4;
/** A message that does not come although it was requested again is requested less and less often, at least this often. */
const MAX_SILENT_MS = 60_000;

type StreamRates = readonly (readonly [message: number, hz: number])[];

/** The messages that we request, and their rates (Hz). The first one also tells whether the vehicle knows the command. */
const COMMON: StreamRates = [
  [MSG.ATTITUDE, 10],
  [MSG.GLOBAL_POSITION_INT, 5],
  [MSG.VFR_HUD, 2],
  [MSG.GPS_RAW_INT, 2],
  [MSG.SYS_STATUS, 2],
  [MSG.RC_CHANNELS, 2],
  [MSG.SERVO_OUTPUT_RAW, 2],
  [MSG.VIBRATION, 1],
  [MSG.BATTERY_STATUS, 1],
  [MSG.EXTENDED_SYS_STATE, 2],
  [MSG.MISSION_CURRENT, 1],
  [MSG.HEARTBEAT, 5], // tells of an arming that no command has announced (docs/contract/flight.md)
  [MSG.HOME_POSITION, 0.5],
  [MSG.ADSB_VEHICLE, 10], // one aircraft each; ArduPilot goes through its list once a second
];
/** Messages that come only while there is something to tell. */
const SPARSE: ReadonlySet<number> = new Set<number>([
  MSG.ADSB_VEHICLE,
  MSG.FENCE_STATUS,
  MSG.ESC_TELEMETRY_1_TO_4,
  MSG.ESC_STATUS,
  MSG.ESC_INFO,
  MSG.WIND_COV, // once there is an estimate
]);
const ARDUPILOT: StreamRates = [
  [MSG.EKF_STATUS_REPORT, 1],
  [MSG.FENCE_STATUS, 1],
  [MSG.SIMSTATE, 1], // evidence that the vehicle is a simulated one
  [MSG.WIND, 1],
  [MSG.ESC_TELEMETRY_1_TO_4, 1], // further ones come by themselves where there are more motors
];
const PX4: StreamRates = [
  [MSG.ESTIMATOR_STATUS, 1],
  [MSG.ESC_STATUS, 1],
  [MSG.ESC_INFO, 1],
  [MSG.WIND_COV, 1],
];

/** The same in MAV_DATA_STREAM groups, for a vehicle without SET_MESSAGE_INTERVAL. */
const GROUPS: readonly (readonly [stream: number, hz: number])[] = [
  [10, 10], // EXTRA1: attitude
  [6, 5], // POSITION
  [11, 2], // EXTRA2: VFR_HUD
  [2, 2], // EXTENDED_STATUS: SYS_STATUS, GPS_RAW_INT, MISSION_CURRENT
  [3, 2], // RC_CHANNELS
  [12, 1], // EXTRA3: BATTERY_STATUS, EKF_STATUS_REPORT, SIMSTATE, WIND
];

/** Messages that a vehicle sends only on request. */
const ONCE: readonly number[] = [MSG.AUTOPILOT_VERSION, MSG.HOME_POSITION];

interface StreamsOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
  readonly ask: (bytes: Buffer) => void;
  readonly onError: (error: unknown) => void;
}

/** One message that we wait for. */
interface Watched {
  readonly hz: number;
  heardAt: number;
  askedAt: number;
  /** How often it was requested since it was last heard. */
  asks: number;
}

/**
 * Requests telemetry from the vehicle, and again when all of it or one message stops: any ground station can switch a message
 * off.
 */
export class Streams implements Part {
  readonly #options: StreamsOptions;
  #abort: AbortController | null = null;
  #askedAt = -Infinity;
  /** How often all was requested in a row and no telemetry came. */
  #unheard = 0;
  #telemetryAt = -Infinity;
  #begunAt = -Infinity;
  readonly #watched = new Map<number, Watched>();
  #asking = false;
  /** Requests without an ack: lost, or the vehicle does not acknowledge them. */
  #unanswered: StreamRates = [];
  #round = 0;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** All requests start over. */
  onSession(): void {
    this.#begunAt = this.#options.clock.now();
    this.#unheard = 0;
    this.#requestAll();
  }

  #requestAll(): void {
    this.#round = 0;
    this.#watched.clear();
    const now = this.#options.clock.now();
    for (const [message, hz] of this.#wanted())
      this.#watched.set(message, { hz, heardAt: -Infinity, askedAt: now, asks: 0 });
    this.#begin(this.#wanted());
  }

  onHeartbeat(): void {
    this.onOther(MSG.HEARTBEAT);
  }

  onTelemetry(id: number): void {
    this.onOther(id);
    this.#telemetryAt = this.#options.clock.now();
    this.#unheard = 0;
  }

  onOther(id: number): void {
    const watched = this.#watched.get(id);
    if (watched !== undefined) watched.heardAt = this.#options.clock.now();
  }

  problems(): LinkProblem[] {
    const { clock, vehicle } = this.#options;
    if (!vehicle.alive || clock.now() - Math.max(this.#telemetryAt, this.#begunAt) < UNHEARD_MS) return [];
    const detail =
      'The vehicle sends heartbeats and no telemetry, although it was asked for it. Look at the stream rates of its port (ArduPilot: SRn_*; PX4: MAV_n_MODE).';
    return [{ code: 'no_telemetry', detail }];
  }

  /** Called about once a second. */
  tick(): void {
    const { clock, vehicle } = this.#options;
    if (!vehicle.alive) return;
    const now = clock.now();
    const incomplete = this.#unanswered.length > 0 || vehicle.version === null;
    const stopped = Math.min(STOPPED_MS * 2 ** this.#unheard, MAX_SILENT_MS);
    if (now - Math.max(this.#telemetryAt, this.#askedAt) >= stopped) {
      this.#unheard++;
      this.#requestAll();
    } else if (incomplete && this.#round < ROUNDS && now - this.#askedAt >= AGAIN_MS) {
      this.#round++;
      this.#begin(this.#unanswered);
    } else if (!this.#asking) this.#askForSilent(now);
  }

  #askForSilent(now: number): void {
    const silent: [number, number][] = [];
    for (const [message, watched] of this.#watched) {
      const { heardAt } = watched;
      if (heardAt > watched.askedAt) watched.asks = 0;
      const normal = Math.max(SILENT_MS, (SILENT_PERIODS * 1000) / watched.hz) * 2 ** watched.asks;
      const silence = SPARSE.has(message) ? MAX_SILENT_MS : normal;
      if (now - Math.max(heardAt, watched.askedAt) < Math.min(silence, MAX_SILENT_MS)) continue;
      watched.askedAt = now;
      watched.asks = Math.min(watched.asks + 1, 8);
      silent.push([message, watched.hz]);
    }
    if (silent.length > 0) this.#begin(silent);
  }

  stop(): void {
    this.#abort?.abort();
  }

  #wanted(): StreamRates {
    switch (this.#options.vehicle.firmware) {
      case 'ardupilot':
        return [...COMMON, ...ARDUPILOT];
      case 'px4':
        return [...COMMON, ...PX4];
      default:
        return COMMON;
    }
  }

  #begin(wanted: StreamRates): void {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.#askedAt = this.#options.clock.now();
    this.#unanswered = [];
    this.#asking = true;
    this.#ask(wanted, abort.signal)
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        if (this.#abort === abort) this.#asking = false;
      });
  }

  async #ask(wanted: StreamRates, signal: AbortSignal): Promise<void> {
    const { encoder, vehicle, ask } = this.#options;
    for (const [index, [message, hz]] of wanted.entries()) {
      const result = await this.#setInterval(message, hz, signal);
      if (signal.aborted) return;
      // Any other refusal is about this one message (a vehicle without SIMSTATE, say): it is not waited for.
      if (result !== null && result !== RESULT_ACCEPTED && result !== RESULT_UNSUPPORTED) {
        this.#watched.delete(message);
      }
      if (result === RESULT_UNSUPPORTED || (index === 0 && result === null)) {
        this.#askForGroups();
        // No answer does not mean unsupported: on a bad line the next round may succeed.
        if (result === null) this.#unanswered = wanted;
        break;
      }
      this.#askedAt = this.#options.clock.now();
      if (result === null) this.#unanswered = [...this.#unanswered, [message, hz]];
    }
    const { target } = vehicle;
    if (target === null) return;
    for (const message of ONCE) {
      ask(encoder.commandLong(target, REQUEST_MESSAGE, [message, 0, 0, 0, 0, 0, 0], 0));
    }
  }

  async #setInterval(message: number, hz: number, signal: AbortSignal): Promise<number | null> {
    const { clock, encoder, exchange, vehicle } = this.#options;
    const { target } = vehicle;
    if (target === null) return null;
    const params: Params7 = [message, 1e6 / hz, 0, 0, 0, 0, 0];
    return exchange.run({
      command: SET_MESSAGE_INTERVAL,
      key: String(message),
      trusting: true, // the messages that arrive show whether it worked
      deadline: clock.now() + EXCHANGE_MS,
      signal,
      encode: (confirmation) => encoder.commandLong(target, SET_MESSAGE_INTERVAL, params, confirmation),
    });
  }

  #askForGroups(): void {
    const { encoder, ask, vehicle } = this.#options;
    const { target } = vehicle;
    if (target === null) return;
    for (const [stream, hz] of GROUPS) ask(encoder.requestDataStream(target, stream, hz));
  }
}
