import { clamp, type GeoPoint, type LocalPoint, toGeo, wrapPi } from '../../../shared/flight/geo.ts';
import { Battery } from './battery.ts';

/** What the flight mode wants of the motors for one step. */
export type Demand =
  | { readonly kind: 'off' }
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'fly';
      /** m/s north, east and up. */
      readonly vn: number;
      readonly ve: number;
      readonly vu: number;
      /** Limits, m/s². */
      readonly accel: number;
      readonly accelUp: number;
      /** rad; absent: keep the heading. */
      readonly yaw?: number;
    };

/** Where the air moves to, m/s. */
interface Wind {
  readonly n: number;
  readonly e: number;
}

const GRAVITY = 9.80665;
const DRAG = 0.1; // m/s² per m/s of airspeed: about 6° of lean at 10 m/s
const SPOOL_UP_S = 1; // ArduCopter too lifts off only after its motors have spooled up
const LAND_DETECT_S = 1;
const ATTITUDE_TC_S = 0.15;
const YAW_RATE = Math.PI / 3; // ATC_SLEW_YAW, 60 °/s

/** The quadcopter as a point mass above a flat ground. Local axes: north, east, up of where it booted. */
export class Vehicle {
  readonly battery = new Battery();
  /** The point on the ground where it booted. */
  readonly origin: GeoPoint;
  /** False for what drives or swims: it stays at its height and has landed while it is disarmed. */
  readonly flies: boolean;
  readonly #startYaw: number;
  readonly #onImpact: (speed: number) => void;

  n = 0;
  e = 0;
  u = 0;
  vn = 0;
  ve = 0;
  vu = 0;
  /** rad; pitch is positive nose up. */
  roll = 0;
  pitch = 0;
  yaw = 0;
  rollRate = 0;
  pitchRate = 0;
  yawRate = 0;
  armed = false;
  landed = true;
  /** 0..1. */
  throttle = 0;
  /** Simulated seconds since boot. */
  time = 0;
  home: GeoPoint;
  homeLocked = false;
  wind: Wind = { n: 0, e: 0 };
  #spool = 0;
  #test: { readonly motor: number; readonly share: number; readonly until: number } | undefined;
  #contact = 0;

  /**
   * @param start where it stands, and its heading in degrees
   * @param onImpact called with the sink rate in m/s when it touches the ground
   */
  constructor(
    start: GeoPoint & { readonly heading: number },
    onImpact: (speed: number) => void,
    flies = true,
  ) {
    this.flies = flies;
    this.origin = { lat: start.lat, lon: start.lon, alt: start.alt };
    this.home = this.origin;
    this.#startYaw = wrapPi((start.heading * Math.PI) / 180);
    this.yaw = this.#startYaw;
    this.#onImpact = onImpact;
  }

  /** As after power on, standing where it started, with a full battery. */
  reset(): void {
    Object.assign(this, { n: 0, e: 0, u: 0, vn: 0, ve: 0, vu: 0, roll: 0, pitch: 0, yaw: this.#startYaw });
    Object.assign(this, {
      rollRate: 0,
      pitchRate: 0,
      yawRate: 0,
      armed: false,
      landed: true,
      throttle: 0,
      time: 0,
    });
    this.home = this.origin;
    this.homeLocked = false;
    this.#spool = 0;
    this.#contact = 0;
    this.#test = undefined;
    this.battery.reset();
  }

  /** One of its motors runs while it stands. @param share of the full throttle */
  testMotor(motor: number, share: number, seconds: number): void {
    this.#test = { motor, share, until: this.time + seconds };
  }

  /** The motor that runs for a test; undefined: none does. */
  get tested(): { readonly motor: number; readonly share: number } | undefined {
    return this.#test !== undefined && this.time < this.#test.until ? this.#test : undefined;
  }

  get position(): LocalPoint {
    return { n: this.n, e: this.e, u: this.u };
  }

  get location(): GeoPoint {
    return toGeo(this.origin, this.position);
  }

  /** Metres above home. */
  get height(): number {
    return this.u + this.origin.alt - this.home.alt;
  }

  get groundSpeed(): number {
    return Math.hypot(this.vn, this.ve);
  }

  get airSpeed(): number {
    return this.landed ? 0 : Math.hypot(this.vn - this.wind.n, this.ve - this.wind.e);
  }

  /** @param dt simulated seconds, at most 0.05 */
  step(dt: number, demand: Demand): void {
    this.time += dt;
    const before = { vn: this.vn, ve: this.ve, vu: this.vu };
    switch (demand.kind) {
      case 'off':
      case 'idle':
        this.#withoutThrust(dt);
        break;
      case 'fly':
        this.#fly(dt, demand);
        break;
    }
    this.n += this.vn * dt;
    this.e += this.ve * dt;
    this.u += this.vu * dt;
    if (this.flies) this.#ground(dt, demand.kind !== 'fly' || demand.vu <= 0);
    else this.#surface(demand.kind === 'fly');
    this.#attitude(dt, before, demand.kind === 'fly' ? demand.yaw : undefined);
    this.#power(dt, demand, (this.vu - before.vu) / dt);
  }

  #withoutThrust(dt: number): void {
    this.#spool = 0;
    if (this.u <= 0) return;
    this.vn -= DRAG * (this.vn - this.wind.n) * dt;
    this.ve -= DRAG * (this.ve - this.wind.e) * dt;
    this.vu -= (GRAVITY + DRAG * this.vu) * dt;
  }

  #fly(dt: number, demand: Demand & { readonly kind: 'fly' }): void {
    if (this.landed && this.flies) {
      this.#spool = demand.vu > 0 ? this.#spool + dt : 0;
      if (this.#spool < SPOOL_UP_S) return;
      this.landed = false;
      this.#contact = 0;
    }
    const dn = demand.vn - this.vn;
    const de = demand.ve - this.ve;
    const change = Math.hypot(dn, de);
    const share = change > 0 ? Math.min(1, (demand.accel * dt) / change) : 0;
    this.vn += dn * share;
    this.ve += de * share;
    this.vu += clamp(demand.vu - this.vu, -demand.accelUp * dt, demand.accelUp * dt);
  }

  #surface(driven: boolean): void {
    this.u = 0;
    this.vu = 0;
    this.landed = !this.armed;
    if (!driven) Object.assign(this, { vn: 0, ve: 0 });
  }

  #ground(dt: number, resting: boolean): void {
    if (this.u > 0 || this.vu > 0) {
      this.#contact = 0;
      return;
    }
    if (this.vu < -0.05) this.#onImpact(-this.vu);
    this.u = 0;
    this.vn = 0;
    this.ve = 0;
    this.vu = 0;
    if (this.landed || !resting) return;
    this.#contact += dt;
    if (this.#contact >= LAND_DETECT_S || !this.armed) this.landed = true;
  }

  #attitude(dt: number, before: { readonly vn: number; readonly ve: number }, yaw: number | undefined): void {
    const was = { roll: this.roll, pitch: this.pitch, yaw: this.yaw };
    const level = this.u <= 0;
    const an = level ? 0 : (this.vn - before.vn) / dt + DRAG * (this.vn - this.wind.n);
    const ae = level ? 0 : (this.ve - before.ve) / dt + DRAG * (this.ve - this.wind.e);
    const forward = an * Math.cos(this.yaw) + ae * Math.sin(this.yaw);
    const right = -an * Math.sin(this.yaw) + ae * Math.cos(this.yaw);
    const follow = Math.min(1, dt / ATTITUDE_TC_S);
    this.pitch += (-Math.atan2(forward, GRAVITY) - this.pitch) * follow;
    this.roll += (Math.atan2(right, GRAVITY) - this.roll) * follow;
    if (yaw !== undefined && !(level && this.flies)) {
      this.yaw = wrapPi(this.yaw + clamp(wrapPi(yaw - this.yaw), -YAW_RATE * dt, YAW_RATE * dt));
    }
    this.rollRate = (this.roll - was.roll) / dt;
    this.pitchRate = (this.pitch - was.pitch) / dt;
    this.yawRate = wrapPi(this.yaw - was.yaw) / dt;
  }

  #power(dt: number, demand: Demand, climbAcceleration: number): void {
    const flying = demand.kind === 'fly' && !this.landed;
    const hover = 0.39;
    this.throttle = flying
      ? clamp(hover * (1 + climbAcceleration / GRAVITY) + 0.02 * this.vu + 0.004 * this.airSpeed, 0.05, 1)
      : demand.kind === 'fly' // spooling up
        ? hover * Math.min(1, this.#spool / SPOOL_UP_S)
        : 0;
    const idle = this.armed ? 1.6 : 0.4;
    this.battery.step(dt, idle + 14 * (this.throttle / hover) ** 1.5);
  }
}
