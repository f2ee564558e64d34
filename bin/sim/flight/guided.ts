import { clamp, type LocalPoint } from '../../../shared/flight/geo.ts';
import { type Craft, flyTo, IDLE, speeds, stoppingPoint } from './craft.ts';
import type { FlightMode, ModeId } from './modes.ts';
import type { Demand } from './vehicle.ts';

/** m/s north, east and up. */
export interface Velocity {
  readonly vn: number;
  readonly ve: number;
  readonly vu: number;
}

/** GUIDED, and PX4's AUTO.LOITER and OFFBOARD: flies where the link says. */
export class GuidedMode implements FlightMode {
  readonly number: number;
  readonly name: string;
  readonly kind = 'guided';
  readonly needsPosition = true;
  /** When the newest set-point came: wall-clock ms, as a faster simulation does not make the link faster. */
  protected heardAt = -Infinity;
  readonly #craft: Craft;
  #target: LocalPoint;
  #yaw: number | undefined;
  #velocity: Velocity | undefined;
  #velocityAge = 0;
  #takingOff = false;
  #paused: LocalPoint | undefined;

  constructor(craft: Craft, id: ModeId) {
    this.number = id.number;
    this.name = id.name;
    this.#craft = craft;
    this.#target = craft.vehicle.position;
  }

  enter(): void {
    this.#target = stoppingPoint(this.#craft);
    this.#yaw = this.#craft.vehicle.yaw;
    this.#velocity = undefined;
    this.#takingOff = false;
    this.#paused = undefined;
  }

  /** @param height metres above home */
  takeOff(height: number): void {
    const { vehicle } = this.#craft;
    this.#target = { ...vehicle.position, u: height + vehicle.home.alt - vehicle.origin.alt };
    this.#yaw = vehicle.yaw;
    this.#velocity = undefined;
    this.#paused = undefined;
    this.#takingOff = true;
    this.#craft.autoArmed = true;
  }

  /** @param yaw rad; absent: towards the travel */
  goTo(target: LocalPoint, yaw?: number): void {
    this.#target = target;
    this.#yaw = yaw;
    this.#velocity = undefined;
    this.#paused = undefined;
    this.#takingOff = false;
  }

  /** Holds a velocity; GUID_TIMEOUT seconds without a new one it stops. */
  moveAt(velocity: Velocity): void {
    this.#velocity = velocity;
    this.#velocityAge = 0;
    this.#paused = undefined;
    this.#takingOff = false;
  }

  /** A set-point came, whatever the mode. */
  heard(): void {
    this.heardAt = performance.now();
  }

  /** @param yaw rad */
  turn(yaw: number): void {
    this.#yaw = yaw;
  }

  pause(): boolean {
    this.#paused ??= stoppingPoint(this.#craft);
    return true;
  }

  resume(): boolean {
    this.#paused = undefined;
    return true;
  }

  get takingOff(): boolean {
    return this.#takingOff;
  }

  step(dt: number): Demand {
    const { vehicle, params } = this.#craft;
    // On the ground only a takeoff lifts it: a target or velocity alone does not, as in ArduCopter.
    if (vehicle.landed && !(this.#takingOff && this.#craft.autoArmed)) return IDLE;
    if (this.#takingOff && Math.abs(this.#target.u - vehicle.u) < 0.3) this.#takingOff = false;
    if (this.#paused !== undefined) return flyTo(this.#craft, this.#paused, undefined, vehicle.yaw);
    if (this.#velocity === undefined) return flyTo(this.#craft, this.#target, undefined, this.#yaw);
    this.#velocityAge += dt;
    if (this.#velocityAge > params.get('GUID_TIMEOUT')) {
      this.#velocity = undefined;
      this.#target = stoppingPoint(this.#craft);
      this.#yaw = vehicle.yaw;
      return flyTo(this.#craft, this.#target, undefined, this.#yaw);
    }
    const moving = Math.hypot(this.#velocity.vn, this.#velocity.ve) > 0.3;
    const limits = speeds(params);
    const wanted = Math.hypot(this.#velocity.vn, this.#velocity.ve);
    const share = wanted > limits.horizontal ? limits.horizontal / wanted : 1;
    return {
      kind: 'fly',
      vn: this.#velocity.vn * share,
      ve: this.#velocity.ve * share,
      vu: clamp(this.#velocity.vu, -limits.down, limits.up),
      accel: Math.max(0.5, params.get('WPNAV_ACCEL') / 100),
      accelUp: Math.max(0.5, params.get('WPNAV_ACCEL_Z') / 100),
      ...(moving && params.get('WP_YAW_BEHAVIOR') !== 0
        ? { yaw: Math.atan2(this.#velocity.ve, this.#velocity.vn) }
        : {}),
    };
  }
}

/** A plane's TAKEOFF: climbs to TKOFF_ALT where it is entered, and holds there. */
export class TakeoffMode extends GuidedMode {
  readonly #own: Craft;

  constructor(craft: Craft, id: ModeId) {
    super(craft, id);
    this.#own = craft;
  }

  override enter(): void {
    super.enter();
    this.takeOff(this.#own.params.get('TKOFF_ALT'));
  }
}
