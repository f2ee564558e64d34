import { ApiError } from '../../../shared/errors.ts';
import type { Family } from '../../../shared/flight/modes.ts';
import type { ManualState, Sticks } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import type { Part } from '../part.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';

/** A client sends ten times a second at least: after this it counts as silent, and its sticks as let go. */
const LATE_MS = 150;
/** From then on nothing is sent, and the vehicle's own failsafe decides. */
const SILENT_MS = 500;
/** 50 Hz, with room for the jitter of a client that sends just that. */
const SHORTEST_MS = 15;
/** How far from its middle a stick may rest when somebody takes over; sticks of toys do not return to zero. */
const REST = 100;
const MIDDLE = 500;
/** Who has a ground station's id by default (SYSID_MYGCS). */
const GROUND_STATION = 255;
/** The parameter in which ArduPilot names its ground station, up to 4.6 and since. */
const GROUND_PARAMS = ['MAV_GCS_SYSID', 'SYSID_MYGCS'];

/** Modes in which the throttle stick is the thrust: in the middle a vehicle would jump from the ground, or sink. */
const THRUST_MODES: Readonly<Record<Family, ReadonlySet<string>>> = {
  copter: new Set(['STABILIZE', 'ACRO', 'DRIFT', 'FLIP', 'TURTLE', 'RATE_ACRO']),
  plane: new Set(['MANUAL', 'STABILIZE', 'TRAINING', 'ACRO', 'FBWA', 'AUTOTUNE', 'QSTABILIZE', 'QACRO']),
  rover: new Set(),
  sub: new Set(),
  px4: new Set(['MANUAL', 'STABILIZED', 'ACRO', 'RATTITUDE']),
};

interface ManualOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  /** Encodes as a ground station: ArduPilot obeys the sticks of the one that it knows alone. */
  readonly encoder: Encoder;
  readonly send: (bytes: Buffer) => void;
  /** A killSwitch is under way. */
  readonly killing: () => boolean;
  readonly param: (name: string) => number | null;
}

/**
 * Sticks of one client at a time, as MANUAL_CONTROL. Whoever takes over has to let them rest first. When the client falls silent they
 * are let go for the rest of half a second; then nothing is sent any more (ArduPilot: RC_OVERRIDE_TIME, FS_GCS_ENABLE; PX4: COM_RC_LOSS_T).
 */
export class Manual implements Part {
  readonly #options: ManualOptions;
  #holder: string | null = null;
  #last: Sticks | null = null;
  /** When the client sent last. */
  #heardAt = -Infinity;
  #sentAt = -Infinity;
  #sent = 0;
  #dropped = 0;

  constructor(options: ManualOptions) {
    this.#options = options;
  }

  get state(): ManualState {
    return { holder: this.#holder, sent: this.#sent, dropped: this.#dropped };
  }

  /**
   * @param holder who sends
   * @throws ApiError E_NO_FC; E_BUSY while another holds the sticks or a killSwitch is under way; E_INVALID_VALUE for sticks that do not
   *   rest when somebody takes over, and for buttons on what is no ArduSub
   */
  take(holder: string, sticks: Sticks): ManualState {
    const { clock, vehicle, killing } = this.#options;
    vehicle.reach(rests(sticks));
    if (killing()) throw new ApiError('E_BUSY', 'killSwitch in progress: no sticks are sent.');
    if (this.#holder !== null && this.#holder !== holder)
      throw new ApiError('E_BUSY', 'Another client has the sticks. Wait until it has finished.');
    if (sticks.buttons !== undefined && sticks.buttons !== 0 && vehicle.family !== 'sub')
      throw new ApiError(
        'E_INVALID_VALUE',
        'Only ArduSub knows what buttons mean. Send a command instead, for example mode.',
      );
    if (this.#holder === null && !rests(sticks))
      throw new ApiError('E_INVALID_VALUE', 'Let the sticks rest in the middle, the throttle not above it.');
    const now = clock.now();
    this.#holder = holder;
    this.#heardAt = now;
    this.#last = sticks;
    if (now - this.#sentAt < SHORTEST_MS) this.#dropped++;
    else this.#transmit(sticks, now);
    return this.state;
  }

  /** The client has gone: its sticks are let go at once. */
  release(holder: string): void {
    if (this.#holder !== holder) return;
    const now = this.#options.clock.now();
    this.#heardAt = Math.min(this.#heardAt, now - LATE_MS);
    this.#letGo(now);
  }

  tick(): void {
    if (this.#holder === null) return;
    const now = this.#options.clock.now();
    if (now - this.#heardAt >= SILENT_MS) this.#holder = null;
    else if (now - this.#heardAt >= LATE_MS) this.#letGo(now);
  }

  #letGo(now: number): void {
    const { vehicle, killing } = this.#options;
    if (killing()) return;
    const { family } = vehicle;
    const isThrust = family === null || THRUST_MODES[family].has(vehicle.telemetry.mode ?? '');
    this.#transmit({ x: 0, y: 0, r: 0, z: isThrust ? (this.#last?.z ?? 0) : MIDDLE }, now);
  }

  #transmit(sticks: Sticks, now: number): void {
    const { vehicle, encoder, send, param } = this.#options;
    const { known: target, family } = vehicle;
    if (target === null) return;
    encoder.system = GROUND_PARAMS.map(param).find((value) => value !== null) ?? GROUND_STATION;
    // ArduRover drives backwards below zero; here, as for the others, 500 is the middle.
    const z = family === 'rover' ? 2 * sticks.z - 1000 : sticks.z;
    send(encoder.manualControl(target, { ...sticks, z }));
    this.#sentAt = now;
    this.#sent++;
  }
}

function rests({ x, y, z, r }: Sticks): boolean {
  return [x, y, r].every((axis) => Math.abs(axis) <= REST) && z <= MIDDLE + REST / 2;
}
