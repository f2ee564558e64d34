import type { Armed } from '../../../shared/flight/armed.ts';
import { AUTOPILOT_PX4 } from '../../../shared/flight/modes.ts';
import { decodeCommandAck, decodeHeartbeat } from '../../../shared/mavlink/decode.ts';
import { type Frame, frameAt } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { Clock } from '../clock.ts';
import { targetOf } from '../router/addresses.ts';
import { isAutopilot } from './autopilot-heartbeat.ts';

/** A heartbeat older than this says nothing any more (docs/contract.md 6). */
const FRESH_MS = 3000;
/** Who has just opened the source knows nothing; who is silent for this long is not there. */
const OPENED_MS = 5000;
/** How late a vehicle may carry out and answer a command: a radio that repeats lost packets delays them by seconds. */
const LATE_MS = 8000;
/**
 * From an accepted arming to the first heartbeat that may say otherwise: PX4 acknowledges before it publishes its new state,
 * and UDP may change the order of the two.
 */
const SETTLED_MS = 300;
/** A system that has been silent for this long has left. */
const GONE_MS = 10_000;

const FLAG_ARMED = 128;
const AUTOPILOT_ARDUPILOT = 3;
const COMMAND_AT = 28;

// MAV_CMD
const COMPONENT_ARM_DISARM = 400;
const DO_LAND_START = 189;
const DO_MOTOR_TEST = 209;
const DO_AUX_FUNCTION = 218;
const MISSION_START = 300;
const SOLO_BTN_FLY_HOLD = 42_002;
/** ARMDISARM, ARMDISARM_AIRMODE, ARM_EMERGENCY_STOP of ArduPilot's RC_Channel::AUX_FUNC. */
const ARMING_FUNCTIONS: ReadonlySet<number> = new Set([153, 154, 165]);

const RESULT_ACCEPTED = 0;
const RESULT_IN_PROGRESS = 5;

/** What is known of one system behind the source. */
interface Known {
  /** Monotonic ms of its newest heartbeat on this connection, null before. */
  heardAt: number | null;
  /** When it was last heard, or could be heard again. */
  presentAt: number;
  /** Null before its first heartbeat, on whichever connection. */
  autopilot: number | null;
  /** What that heartbeat says. */
  bit: boolean;
  /** An arming has left and was not refused. */
  held: boolean;
  /** By MAV_CMD: how many sends are unanswered, and when the newest left. */
  readonly owed: Map<number, { count: number; at: number }>;
  /** Monotonic ms of the newest acceptance while held, null if there was none. */
  acceptedAt: number | null;
}

interface ArmingOptions {
  readonly clock: Clock;
  /** The process before this one ended within the last 5 s of an armed vehicle: only a heartbeat says more. */
  readonly wasArmed: boolean;
  /** Gets what `wasArmed` of the next process is to be, once a vehicle was heard and whenever it changes. */
  readonly onMemory?: (armed: boolean) => void;
  /** The armed state of a system may have changed. */
  readonly onChange: () => void;
}

/**
 * The state of the armed guard (docs/contract.md 6), for each system behind the source by itself: armed from the instant at which
 * anybody's arming command leaves, until the vehicle has refused it or a heartbeat that was sent after its answer says otherwise.
 * `disarmed` comes from heartbeats alone.
 *
 * An acknowledgement names its command and nothing else, so that of an arming cannot be told from that of a disarming. Therefore
 * every send of such a command is owed an answer, and the hold ends early only when all have come and all were refusals. An
 * answer that is lost is waited for for 8 s.
 */
export class Arming {
  readonly #options: ArmingOptions;
  readonly #payload = new Payload();
  readonly #systems = new Map<number, Known>();
  readonly #startedAt: number;
  #openedAt: number | null = null;
  #wasArmed: boolean;
  #remembered: boolean | null = null;

  constructor(options: ArmingOptions) {
    this.#options = options;
    this.#wasArmed = options.wasArmed;
    this.#startedAt = options.clock.now();
  }

  /** The source has been opened: whoever is at its other end now has not been heard yet. */
  opened(): void {
    const now = this.#options.clock.now();
    this.#openedAt ??= now;
    for (const known of this.#systems.values()) {
      known.heardAt = null;
      known.presentAt = now;
    }
  }

  /** The state of one system; of all for 0 (everybody), null (no vehicle is known yet) and one that was never heard. */
  of(system: number | null): Armed {
    const known = system === null ? undefined : this.#systems.get(system);
    return known === undefined ? this.#worst : this.#stateOf(known);
  }

  /** The worst of all systems. */
  get #worst(): Armed {
    let worst = this.#unheard();
    const now = this.#options.clock.now();
    for (const known of this.#systems.values()) {
      const state = this.#stateOf(known);
      if (state === true) return true;
      if (state === 'unknown' && now - known.presentAt <= GONE_MS) worst = 'unknown';
    }
    return worst;
  }

  #changed(): void {
    const { onMemory, onChange } = this.#options;
    const memory = this.#memory;
    if (memory !== this.#remembered) {
      this.#remembered = memory;
      onMemory?.(memory);
    }
    onChange();
  }

  /** Whether a process after this one must wait for a heartbeat. */
  get #memory(): boolean {
    if (this.#wasArmed) return true;
    for (const { held, bit } of this.#systems.values()) if (held || bit) return true;
    return false;
  }

  /** A frame is about to leave for the vehicle, whoever sent it. @returns undoes it, for a frame that did not leave */
  leaving(bytes: Buffer): () => void {
    const frame = frameAt(bytes);
    if (frame.id !== MSG.COMMAND_LONG && frame.id !== MSG.COMMAND_INT) return NOTHING;
    const { system } = targetOf(frame);
    const command = this.#payload.load(frame).u16(COMMAND_AT);
    const targets =
      system === 0 ? [...this.#systems.values()] : [this.#systems.get(system) ?? this.#learn(system)];
    for (const known of targets) this.#sent(known, command);
    return () => {
      for (const known of targets) this.#answered(known, command);
    };
  }

  /** A frame from the source. */
  onFrame(frame: Frame): void {
    if (!frame.known) return;
    if (frame.id === MSG.HEARTBEAT) this.#onHeartbeat(frame);
    else if (frame.id === MSG.COMMAND_ACK) this.#onAck(frame);
  }

  #onHeartbeat(frame: Frame): void {
    const heartbeat = decodeHeartbeat(this.#payload.load(frame));
    if (!isAutopilot(heartbeat)) return;
    const known = this.#systems.get(frame.system) ?? this.#learn(frame.system);
    const now = this.#options.clock.now();
    this.#wasArmed = false;
    known.heardAt = now;
    known.presentAt = now;
    known.autopilot = heartbeat.autopilot;
    known.bit = (heartbeat.baseMode & FLAG_ARMED) !== 0;
    if (known.held && !this.#mayStillArm(known, now)) this.#release(known);
    this.#changed();
  }

  #onAck(frame: Frame): void {
    const known = this.#systems.get(frame.system);
    if (known === undefined) return;
    const { command, result } = decodeCommandAck(this.#payload.load(frame));
    const owed = known.owed.get(command);
    if (owed === undefined) return;
    const now = this.#options.clock.now();
    if (result === RESULT_IN_PROGRESS) {
      owed.at = now;
      return;
    }
    if (result === RESULT_ACCEPTED && known.held) known.acceptedAt = now;
    this.#answered(known, command);
    this.#changed();
  }

  #sent(known: Known, command: number): void {
    const arms = this.#arms(known, command);
    if (arms === null) return;
    const now = this.#options.clock.now();
    const before = known.owed.get(command);
    const late = before === undefined || now - before.at > LATE_MS;
    known.owed.set(command, { count: late ? 1 : before.count + 1, at: now });
    if (!arms || known.held) return;
    known.held = true;
    this.#changed();
  }

  #answered(known: Known, command: number): void {
    const owed = known.owed.get(command);
    if (owed === undefined) return;
    if (owed.count > 1) owed.count--;
    else known.owed.delete(command);
    if (known.owed.size === 0 && known.acceptedAt === null) this.#release(known);
  }

  #release(known: Known): void {
    known.held = false;
    known.acceptedAt = null;
    known.owed.clear();
    this.#changed();
  }

  /** Whether an arming may be under way that the newest heartbeat cannot show yet. */
  #mayStillArm({ owed, acceptedAt }: Known, now: number): boolean {
    for (const { at } of owed.values()) if (now - at <= LATE_MS) return true;
    return acceptedAt !== null && now - acceptedAt < SETTLED_MS;
  }

  /** The payload of the command is loaded. @returns whether it arms; null for a command of which no form does */
  #arms({ autopilot }: Known, command: number): boolean | null {
    const px4 = autopilot === AUTOPILOT_PX4 || autopilot === null;
    const ardupilot = autopilot === AUTOPILOT_ARDUPILOT || autopilot === null;
    switch (command) {
      case COMPONENT_ARM_DISARM:
        return Math.round(this.#payload.f32(0)) === 1; // PX4 rounds it, ArduPilot takes exactly 1
      case MISSION_START: // Commander::handle_command arms for it
      case DO_LAND_START: // Navigator makes a MISSION_START of it
        return px4 ? true : null;
      case DO_AUX_FUNCTION:
        return ardupilot && ARMING_FUNCTIONS.has(this.#payload.f32(0)) ? true : null;
      case SOLO_BTN_FLY_HOLD: // GCS_MAVLINK_Copter::handle_MAV_CMD_SOLO_BTN_FLY_HOLD
        return ardupilot ? true : null;
      case DO_MOTOR_TEST: // Copter::mavlink_motor_test_start, Rover's likewise
        return ardupilot ? true : null;
      default:
        return null;
    }
  }

  #learn(system: number): Known {
    const known: Known = {
      heardAt: null,
      presentAt: this.#options.clock.now(),
      autopilot: null,
      bit: false,
      held: false,
      owed: new Map(),
      acceptedAt: null,
    };
    this.#systems.set(system, known);
    return known;
  }

  #stateOf(known: Known): Armed {
    const now = this.#options.clock.now();
    // An arming for somebody who never says anything ends with the time for its answer.
    if (known.held && (known.autopilot !== null || this.#mayStillArm(known, now))) return true;
    if (known.heardAt === null) return 'unknown';
    return now - known.heardAt > FRESH_MS ? 'unknown' : known.bit;
  }

  /** While nobody was heard. */
  #unheard(): Armed {
    if (this.#wasArmed) return 'unknown';
    for (const { autopilot } of this.#systems.values()) if (autopilot !== null) return false;
    const since = this.#options.clock.now() - (this.#openedAt ?? this.#startedAt);
    return since < OPENED_MS ? 'unknown' : false;
  }
}

const NOTHING = (): void => undefined;
