import type { Armed } from '../../../shared/flight/armed.ts';
import { isAutopilot, isSure, MAIN_COMPONENT } from '../../../shared/mavlink/autopilot-heartbeat.ts';
import { decodeCommandAck, decodeHeartbeat } from '../../../shared/mavlink/decode.ts';
import { type Frame, frameAt } from '../../../shared/mavlink/frame.ts';
import { COMMAND_AT } from '../../../shared/mavlink/message-classes.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { Clock } from '../clock.ts';
import { targetOf } from '../router/addresses.ts';
import { armsBy, isCommand } from '../router/arming-command.ts';

/** A heartbeat older than this says nothing any more (docs/contract/flight.md). */
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
/** How long one that was armed by its last word is waited for after the source was opened anew; an aircraft flies no longer unheard. */
const AWAITED_MS = 10 * 60_000;

const FLAG_ARMED = 128;
/** In HIGH_LATENCY2. */
const LATENCY_AUTOPILOT_AT = 25;

const RESULT_ACCEPTED = 0;
const RESULT_IN_PROGRESS = 5;

/** What is known of one system behind the source. */
interface ArmedEntry {
  /** Monotonic ms of its newest heartbeat since the source was opened, null before. */
  heardAt: number | null;
  /** The component whose heartbeats count; null before the first one since the source was opened. */
  component: number | null;
  /** Null before its first heartbeat, on whichever connection. */
  autopilot: number | null;
  /** What that heartbeat says. */
  bit: boolean;
  /**
   * Armed by its last word before the source was opened (also by this process, as a TCP source does after 15 s of silence), and not
   * heard since: until when it is waited for, monotonic ms.
   */
  awaitedUntil: number;
  /** An arming has left and was not refused. */
  held: boolean;
  /** By MAV_CMD: how many sends are unanswered, and when the newest left. */
  readonly owed: Map<number, { count: number; at: number }>;
  /** Monotonic ms of the newest acceptance while held, null if there was none. */
  acceptedAt: number | null;
}

/** What the link remembers over its own end: which systems are armed. */
export interface ArmedMemory {
  readonly armed: boolean;
  readonly systems: readonly number[];
}

interface ArmingOptions {
  readonly clock: Clock;
  /** The process before this one ended within the last 5 s of an armed vehicle: only a heartbeat says more. */
  readonly wasArmed: boolean;
  /** Which they were; none: it is not known, and any heartbeat says more. */
  readonly armedSystems?: readonly number[];
  /** Gets what the next process is to be told, once a vehicle was heard and whenever it changes. */
  readonly onMemory?: (memory: ArmedMemory) => void;
  /** The armed state of a system may have changed. */
  readonly onChange: () => void;
}

/**
 * The state of the armed guard (docs/contract/flight.md), for each system behind the source by itself: armed from the instant at which
 * anybody's arming command leaves, until the vehicle has refused it or a heartbeat that was sent after its answer says otherwise.
 * `disarmed` comes from heartbeats alone.
 *
 * Who was heard since the source was opened and is silent is `unknown` for as long as that takes: it may hear us, and what is sent
 * to everybody reaches it. Only guard.ts reads a permission out of this.
 *
 * An acknowledgement names its command and nothing else, so that of an arming cannot be told from that of a disarming. Therefore
 * every send of such a command is owed an answer, and the hold ends early only when all have come and all were refusals. An
 * answer that is lost is waited for for 8 s.
 */
export class Arming {
  readonly #options: ArmingOptions;
  readonly #payload = new Payload();
  readonly #systems = new Map<number, ArmedEntry>();
  #openedAt: number;
  /** The process before this one had an armed vehicle, and nobody knows which. */
  #wasArmed: boolean;
  #remembered = '';

  constructor(options: ArmingOptions) {
    this.#options = options;
    const { clock, wasArmed, armedSystems = [] } = options;
    this.#wasArmed = wasArmed && armedSystems.length === 0;
    this.#openedAt = clock.now();
    if (wasArmed)
      for (const system of armedSystems) this.#learn(system).awaitedUntil = this.#openedAt + AWAITED_MS;
  }

  /** The source has been opened: whoever is at its other end now has not been heard yet. */
  opened(): void {
    const now = this.#options.clock.now();
    this.#openedAt = now;
    for (const known of this.#systems.values()) {
      const armed = (known.bit && known.heardAt !== null) || (known.held && known.autopilot !== null);
      if (armed) known.awaitedUntil = (known.heardAt ?? now) + AWAITED_MS;
      known.heardAt = null;
      known.component = null;
    }
  }

  /**
   * The state of one system that was heard since the source was opened; of all others (0 for everybody, null for no vehicle, one that
   * was not heard) the worst of all.
   */
  of(system: number | null): Armed {
    const known = system === null ? undefined : this.#systems.get(system);
    return known === undefined || !this.#answers(known) ? this.worst : this.#stateOf(known);
  }

  /** The worst of all systems that were heard since the source was opened. */
  get worst(): Armed {
    let worst = this.#unheard();
    for (const known of this.#systems.values()) {
      const state = this.#stateOf(known);
      if (state === true) return true;
      if (state === 'unknown') worst = 'unknown';
    }
    return worst;
  }

  /** What the newest heartbeat of a system said, however old, and whether an arming has left for it since. */
  lastWord(system: number): boolean {
    const known = this.#systems.get(system);
    return known !== undefined && (known.bit || known.held || this.#isAwaited(known));
  }

  /** Whether a frame would start motors of whom it is for. */
  arms(frame: Frame): boolean {
    if (!isCommand(frame.id)) return false;
    const payload = this.#payload.load(frame);
    const { system } = targetOf(frame);
    const known = this.#systems.get(system);
    if (system !== 0) return armsBy(payload, known?.autopilot ?? null) === true;
    const all = [...this.#systems.values()].map(({ autopilot }) => autopilot);
    return (all.length === 0 ? [null] : all).some((autopilot) => armsBy(payload, autopilot) === true);
  }

  #changed(): void {
    const { onMemory, onChange } = this.#options;
    const memory = this.#memory;
    const text = JSON.stringify(memory);
    if (text !== this.#remembered) {
      this.#remembered = text;
      onMemory?.(memory);
    }
    onChange();
  }

  /** Whom a process after this one must wait for. */
  get #memory(): ArmedMemory {
    const systems: number[] = [];
    for (const [system, known] of this.#systems)
      if (known.held || known.bit || this.#isAwaited(known)) systems.push(system);
    return { armed: this.#wasArmed || systems.length > 0, systems };
  }

  /** A frame is about to leave for the vehicle, whoever sent it. @returns undoes it, for a frame that did not leave */
  leaving(bytes: Buffer): () => void {
    const frame = frameAt(bytes);
    if (!isCommand(frame.id)) return NOTHING;
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
    else if (frame.id === MSG.HIGH_LATENCY || frame.id === MSG.HIGH_LATENCY2) this.#onLatency(frame);
    else if (frame.id === MSG.COMMAND_ACK) this.#onAck(frame);
  }

  #onHeartbeat(frame: Frame): void {
    const heartbeat = decodeHeartbeat(this.#payload.load(frame));
    if (!isAutopilot(heartbeat, frame.component)) return;
    const known = this.#systems.get(frame.system) ?? this.#learn(frame.system);
    // A gimbal or a script of the same system that calls itself an autopilot does not disarm it.
    const isMain = frame.component === MAIN_COMPONENT && isSure(heartbeat);
    if (known.component !== null && known.component !== frame.component && !isMain) return;
    const now = this.#options.clock.now();
    this.#wasArmed = false;
    known.component = frame.component;
    known.heardAt = now;
    known.awaitedUntil = -Infinity;
    known.autopilot = heartbeat.autopilot;
    known.bit = (heartbeat.baseMode & FLAG_ARMED) !== 0;
    if (known.held && !this.#mayStillArm(known, now)) this.#release(known);
    this.#changed();
  }

  /** On a link without heartbeats nobody says "disarmed": the vehicle is there, and unknown. */
  #onLatency(frame: Frame): void {
    const known = this.#systems.get(frame.system) ?? this.#learn(frame.system);
    if (frame.id === MSG.HIGH_LATENCY2)
      known.autopilot ??= this.#payload.load(frame).u8(LATENCY_AUTOPILOT_AT);
    if (known.heardAt !== null) return;
    known.heardAt = Number.NEGATIVE_INFINITY;
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

  /** The payload of the command is loaded. */
  #sent(known: ArmedEntry, command: number): void {
    const arms = armsBy(this.#payload, known.autopilot);
    if (arms === null) return;
    const now = this.#options.clock.now();
    const before = known.owed.get(command);
    const late = before === undefined || now - before.at > LATE_MS;
    known.owed.set(command, { count: late ? 1 : before.count + 1, at: now });
    if (!arms || known.held) return;
    known.held = true;
    this.#changed();
  }

  #answered(known: ArmedEntry, command: number): void {
    const owed = known.owed.get(command);
    if (owed === undefined) return;
    if (owed.count > 1) owed.count--;
    else known.owed.delete(command);
    if (known.owed.size === 0 && known.acceptedAt === null) this.#release(known);
  }

  #release(known: ArmedEntry): void {
    known.held = false;
    known.acceptedAt = null;
    known.owed.clear();
    this.#changed();
  }

  /** Whether an arming may be under way that the newest heartbeat cannot show yet. */
  #mayStillArm({ owed, acceptedAt }: ArmedEntry, now: number): boolean {
    for (const { at } of owed.values()) if (now - at <= LATE_MS) return true;
    return acceptedAt !== null && now - acceptedAt < SETTLED_MS;
  }

  #learn(system: number): ArmedEntry {
    const known: ArmedEntry = {
      heardAt: null,
      component: null,
      autopilot: null,
      bit: false,
      awaitedUntil: -Infinity,
      held: false,
      owed: new Map(),
      acceptedAt: null,
    };
    this.#systems.set(system, known);
    return known;
  }

  #stateOf(known: ArmedEntry): Armed {
    const now = this.#options.clock.now();
    // An arming for somebody who never says anything ends with the time for its answer.
    if (known.held && (known.autopilot !== null || this.#mayStillArm(known, now))) return true;
    // One that was not heard since the source was opened is nobody, unless it was armed before.
    if (known.heardAt === null) return this.#isAwaited(known) ? 'unknown' : false;
    return now - known.heardAt > FRESH_MS ? 'unknown' : known.bit;
  }

  /** Whether a system answers for itself: it was heard since the source was opened, or is waited for. */
  #answers(known: ArmedEntry): boolean {
    return known.heardAt !== null || this.#isAwaited(known);
  }

  #isAwaited({ awaitedUntil }: ArmedEntry): boolean {
    return this.#options.clock.now() <= awaitedUntil;
  }

  /** What nobody that was heard can answer for. */
  #unheard(): Armed {
    if (this.#wasArmed) return 'unknown';
    for (const { heardAt } of this.#systems.values()) if (heardAt !== null) return false;
    return this.#options.clock.now() - this.#openedAt < OPENED_MS ? 'unknown' : false;
  }
}

const NOTHING = (): void => undefined;
