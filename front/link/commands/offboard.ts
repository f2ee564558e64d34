import { ApiError } from '../../../shared/errors.ts';
import type { OffboardState, SetPoint } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import type { Part } from '../part.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import type { ReachCheck } from './reach-check.ts';
import { knownHome } from './sender.ts';

/** A client that has sent nothing for so long has lost its place, and the vehicle holds. */
const SILENT_MS = 500;
/** 50 Hz, with room for the jitter of a client that sends just that. */
const SHORTEST_MS = 15;
/** Zero velocities get no ack. */
const STOP_SENDS = 3;

interface OffboardOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  /** How far a place may be. */
  readonly reach: Pick<ReachCheck, 'atOnce'>;
  readonly send: (bytes: Buffer) => void;
  /** A killSwitch is under way. */
  readonly killing: () => boolean;
  /** Puts PX4 into AUTO.LOITER, unless a command about its course is under way. */
  readonly loiter: () => void;
}

/**
 * Set-points of one client at a time. They move a vehicle that is in GUIDED (ArduPilot) or OFFBOARD (PX4, which enters it only
 * while set-points come); the mode is chosen by command, never here. When the client falls silent the vehicle holds: ArduPilot
 * by a velocity of zero, PX4 by AUTO.LOITER. If this process dies, the vehicle's own time-out does it (GUID_TIMEOUT,
 * COM_OF_LOSS_T).
 */
export class Offboard implements Part {
  readonly #options: OffboardOptions;
  #holder: string | null = null;
  #lastAt = -Infinity;
  #taken = 0;
  #dropped = 0;

  constructor(options: OffboardOptions) {
    this.#options = options;
  }

  get state(): OffboardState {
    return {
      holder: this.#holder,
      following: this.#options.vehicle.alive && this.#following,
      setpoints: this.#taken,
      dropped: this.#dropped,
    };
  }

  /**
   * @param holder who sends
   * @throws ApiError E_NO_FC, also for a place while PX4 has not told how high its home is; E_BUSY while another holds it or a killSwitch is under way; E_BAD_REQUEST for a firmware without
   *   set-points; E_TOO_FAR for a place, by the fence as far as it is known at once
   */
  take(holder: string, point: SetPoint): OffboardState {
    const { clock, vehicle, encoder, reach, send, killing } = this.#options;
    const { firmware } = vehicle;
    const target = vehicle.reach();
    if (firmware !== 'ardupilot' && firmware !== 'px4')
      throw new ApiError('E_BAD_REQUEST', 'Set-points are for ArduPilot and PX4; this autopilot is neither.');
    if (killing()) throw new ApiError('E_BUSY', 'killSwitch in progress: no set-point is sent.');
    if (this.#holder !== null && this.#holder !== holder)
      throw new ApiError('E_BUSY', 'Another client is sending set-points. Wait until it has finished.');
    if (point.type === 'position' && point.allow_far !== true) reach.atOnce('set-point', point);
    // PX4 counts the way from home to its origin twice in the frame above home (MavlinkReceiver,
    // handle_message_set_position_target_global_int, to 1.17): it gets the height above sea level, as with goto.
    const sea = firmware === 'px4' && point.type === 'position' ? knownHome(vehicle) + point.alt : null;
    const now = clock.now();
    this.#holder = holder;
    if (now - this.#lastAt < SHORTEST_MS) this.#dropped++;
    else {
      this.#lastAt = now;
      this.#taken++;
      send(
        point.type === 'velocity'
          ? encoder.velocityTarget(target, point)
          : encoder.placeTarget(target, point, sea),
      );
    }
    return this.state;
  }

  /** The client has gone. */
  release(holder: string): void {
    if (this.#holder === holder) this.#end();
  }

  tick(): void {
    if (this.#holder !== null && this.#options.clock.now() - this.#lastAt >= SILENT_MS) this.#end();
  }

  /** By its last word: a vehicle that is silent may still hear us, and is to hold too. */
  get #following(): boolean {
    const { vehicle } = this.#options;
    return vehicle.telemetry.mode === (vehicle.firmware === 'px4' ? 'OFFBOARD' : 'GUIDED');
  }

  #end(): void {
    this.#holder = null;
    // In another mode somebody else flies.
    if (!this.#following) return;
    const { vehicle, encoder, send, loiter } = this.#options;
    const { target } = vehicle;
    if (vehicle.firmware === 'px4') loiter();
    else if (target !== null)
      for (let count = 0; count < STOP_SENDS; count++)
        send(encoder.velocityTarget(target, { frame: 'ned', vx: 0, vy: 0, vz: 0 }));
  }
}
