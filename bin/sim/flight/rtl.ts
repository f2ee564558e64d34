import { type LocalPoint, toLocal } from '../../../shared/flight/geo.ts';
import { type Craft, flyTo, IDLE, sinkOver, speeds, stoppingPoint } from './craft.ts';
import type { FlightMode, ModeId } from './modes.ts';
import type { Demand } from './vehicle.ts';

type Stage = 'climb' | 'return' | 'loiter' | 'final' | 'land';

/** The way home: climb, fly back, wait, come down. Shared by RTL, SMART_RTL and the mission's RTL item. */
export class ReturnHome {
  readonly #craft: Craft;
  #stage: Stage = 'climb';
  #here: LocalPoint;
  #height = 0;
  #waited = 0;

  constructor(craft: Craft) {
    this.#craft = craft;
    this.#here = craft.vehicle.position;
  }

  start(): void {
    const { vehicle } = this.#craft;
    this.#stage = 'climb';
    this.#here = stoppingPoint(this.#craft);
    this.#waited = 0;
    this.#height = vehicle.flies ? Math.max(vehicle.height, this.#returnHeight()) : vehicle.height;
  }

  /** @param dt simulated seconds. Lands at the end, and does not disarm. */
  step(dt: number): Demand {
    const { vehicle, params } = this.#craft;
    const home = toLocal(vehicle.origin, vehicle.home);
    const up = this.#height + home.u;
    // Behaviour 2 (the default) looks at the next waypoint, except on the way home.
    const yaw = params.get('WP_YAW_BEHAVIOR') === 1 ? undefined : vehicle.yaw;
    switch (this.#stage) {
      case 'climb':
        if (Math.abs(vehicle.u - up) < 0.5) this.#stage = 'return';
        return flyTo(this.#craft, { ...this.#here, u: up }, undefined, vehicle.yaw);
      case 'return': {
        if (Math.hypot(home.n - vehicle.n, home.e - vehicle.e) < 0.5) this.#stage = 'loiter';
        const own = speeds(params);
        const speed = params.get('RTL_SPEED') / 100;
        return flyTo(
          this.#craft,
          { ...home, u: up },
          { ...own, horizontal: speed > 0 ? speed : own.horizontal },
          yaw,
        );
      }
      case 'loiter':
        this.#waited += dt * 1000;
        if (this.#waited >= params.get('RTL_LOIT_TIME')) {
          this.#stage = params.get('RTL_ALT_FINAL') > 0 ? 'final' : 'land';
        }
        return flyTo(this.#craft, { ...home, u: up }, undefined, vehicle.yaw);
      case 'final':
        return flyTo(
          this.#craft,
          { ...home, u: home.u + params.get('RTL_ALT_FINAL') / 100 },
          undefined,
          vehicle.yaw,
        );
      case 'land':
        return sinkOver(this.#craft, home);
    }
  }

  // Metres above home. Close to home the cone keeps the climb in proportion to the distance.
  #returnHeight(): number {
    const { vehicle, params } = this.#craft;
    const home = toLocal(vehicle.origin, vehicle.home);
    const climbTo = vehicle.height + Math.max(0, params.get('RTL_CLIMB_MIN') / 100);
    const wanted = Math.max(climbTo, params.get('RTL_ALT') / 100);
    const slope = params.get('RTL_CONE_SLOPE');
    if (slope <= 0) return wanted;
    const distance = Math.hypot(home.n - vehicle.n, home.e - vehicle.e);
    return Math.min(wanted, Math.max(distance * Math.max(0.5, slope), climbTo + 2.5));
  }
}

/** RTL and SMART_RTL, and what PX4 calls AUTO.RTL. */
export function returnMode(craft: Craft, id: ModeId): FlightMode {
  const way = new ReturnHome(craft);
  return {
    ...id,
    kind: 'return',
    needsPosition: true,
    enter: () => way.start(),
    step: (dt) => {
      if (!craft.vehicle.landed) return way.step(dt);
      craft.disarm();
      return IDLE;
    },
  };
}
