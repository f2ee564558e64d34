import type { LocalPoint } from '../../../shared/flight/geo.ts';
import { type Craft, flyTo, IDLE, MavSeverity, sinkOver, speeds, stoppingPoint } from './craft.ts';
import { flownAs, fromFrame, ITEM_NAMES, type Mission, type MissionItem, NAV } from './mission.ts';
import type { FlightMode, ModeId } from './modes.ts';
import { ReturnHome } from './rtl.ts';
import type { Demand } from './vehicle.ts';

const NONE = -1;
const NAV_LAST = 95; // commands above are not places: ArduPilot reports no arrival for them

/** What AUTO (ArduPilot) and AUTO.MISSION (PX4) do differently. */
interface AutoHabits {
  /** Leaves the ground only by a takeoff item; else by any that is higher. */
  readonly needsTakeoff: boolean;
  /** Says by STATUSTEXT which item it flies. */
  readonly announces: boolean;
}

/** AUTO: flies the mission. */
export class AutoMode implements FlightMode {
  readonly number: number;
  readonly name: string;
  readonly kind = 'mission';
  readonly needsPosition = true;
  readonly #craft: Craft;
  readonly #mission: Mission;
  readonly #home: ReturnHome;
  readonly #habits: AutoHabits;
  #started = NONE; // sequence number of the item that is under way
  #place: LocalPoint; // where that item goes, or where it began
  #waited = 0;
  #there = false;
  #speed: number | undefined;
  /** How often each DO_JUMP has jumped. */
  readonly #jumps = new Map<number, number>();
  #paused: LocalPoint | undefined;

  constructor(craft: Craft, mission: Mission, id: ModeId, habits: AutoHabits) {
    this.number = id.number;
    this.name = id.name;
    this.#habits = habits;
    this.#craft = craft;
    this.#mission = mission;
    this.#home = new ReturnHome(craft);
    this.#place = craft.vehicle.position;
  }

  refuses(): string | undefined {
    if (this.#mission.items.length === 0) return 'initialisation failed';
    const needsTakeoff = this.#habits.needsTakeoff && this.#craft.vehicle.landed;
    if (needsTakeoff && this.#mission.item(this.#mission.first)?.command !== NAV.takeoff) {
      this.#craft.text(MavSeverity.CRITICAL, 'Auto: Missing Takeoff Cmd');
      return 'initialisation failed';
    }
    return undefined;
  }

  enter(): void {
    this.#paused = undefined;
    this.#speed = undefined;
    this.#place = stoppingPoint(this.#craft);
    this.#started = NONE;
    const again = this.#craft.params.get('MIS_RESTART') === 1 || this.#mission.state === 'complete';
    if (again || this.#mission.current === 0) {
      this.#jumps.clear();
      this.#mission.current = this.#mission.items.length === 0 ? 0 : this.#mission.first;
      this.#mission.state = 'not-started';
    }
  }

  /** Only on the way to a waypoint, as in ArduCopter. */
  pause(): boolean {
    if (this.#paused !== undefined || this.#mission.item(this.#started)?.command !== NAV.waypoint)
      return false;
    this.#paused = stoppingPoint(this.#craft);
    this.#mission.state = 'paused';
    return true;
  }

  resume(): boolean {
    if (this.#paused !== undefined) this.#mission.state = 'active';
    this.#paused = undefined;
    return true;
  }

  step(dt: number): Demand {
    const { vehicle } = this.#craft;
    if (this.#paused !== undefined) return flyTo(this.#craft, this.#paused, undefined, vehicle.yaw);
    // Without a pilot's throttle the mission starts by MAV_CMD_MISSION_START, or with AUTO_OPTIONS bit 1.
    if (!this.#craft.autoArmed && vehicle.landed) {
      if ((this.#craft.params.get('AUTO_OPTIONS') & 2) === 0) return IDLE;
      this.#craft.autoArmed = true;
    }
    if (this.#mission.state === 'complete') return this.#afterEnd();
    const item = this.#mission.item(this.#mission.current);
    if (item === undefined) {
      this.#mission.state = 'complete';
      this.#place = stoppingPoint(this.#craft);
      return this.#afterEnd();
    }
    this.#mission.state = 'active';
    if (this.#started !== this.#mission.current) this.#begin(this.#mission.current, item);
    const [demand, done] = this.#fly(item, dt);
    if (done) {
      if (item.command < NAV_LAST) this.#craft.reached(this.#mission.current);
      this.#mission.current++;
    }
    return demand;
  }

  /** To the item before that which param1 names, so that it comes next; param2 times, without end if below 0. */
  #jump({ p1: target, p2: times }: MissionItem): void {
    const done = this.#jumps.get(this.#started) ?? 0;
    if (times >= 0 && done >= times) return;
    this.#jumps.set(this.#started, done + 1);
    this.#mission.current = target - 1;
  }

  #afterEnd(): Demand {
    if (!this.#craft.vehicle.landed) return flyTo(this.#craft, this.#place);
    this.#craft.disarm();
    return IDLE;
  }

  #begin(seq: number, item: MissionItem): void {
    this.#started = seq;
    this.#waited = 0;
    this.#there = false;
    this.#say(`Mission: ${seq} ${ITEM_NAMES[item.command] ?? 'Cmd'}`);
    const place = this.#placeOf(item);
    this.#place = this.#craft.vehicle.flies ? place : { ...place, u: this.#craft.vehicle.u };
    if (item.command === NAV.returnToLaunch) this.#home.start();
  }

  #say(text: string): void {
    if (this.#habits.announces) this.#craft.text(MavSeverity.INFO, text);
  }

  // An item without a position means "here".
  #placeOf(item: MissionItem): LocalPoint {
    const { vehicle } = this.#craft;
    const here = stoppingPoint(this.#craft);
    const place = fromFrame(vehicle.origin, vehicle.home, item.frame, item.lat, item.lon, item.alt);
    switch (flownAs(item)) {
      case NAV.takeoff:
        return { ...here, u: Math.max(place.u, vehicle.u) };
      case NAV.waypoint:
      case NAV.loiterTime:
      case NAV.loiterUnlimited: {
        const level = item.alt === 0 && item.lat === 0 && item.lon === 0 ? here.u : place.u;
        return item.lat === 0 && item.lon === 0 ? { ...here, u: level } : place;
      }
      case NAV.land:
        return item.lat === 0 && item.lon === 0 ? here : { n: place.n, e: place.e, u: here.u };
      default:
        return here;
    }
  }

  #fly(item: MissionItem, dt: number): readonly [Demand, boolean] {
    const { vehicle, params } = this.#craft;
    const own = speeds(params);
    const limits = { ...own, horizontal: this.#speed ?? own.horizontal };
    const towards = flyTo(this.#craft, this.#place, limits);
    const near =
      Math.hypot(this.#place.n - vehicle.n, this.#place.e - vehicle.e) < params.get('WPNAV_RADIUS') / 100 &&
      Math.abs(this.#place.u - vehicle.u) < 1;
    switch (flownAs(item)) {
      case NAV.takeoff:
        return [towards, Math.abs(this.#place.u - vehicle.u) < 0.5];
      case NAV.waypoint:
      case NAV.loiterTime: {
        if (near && !this.#there) {
          this.#there = true;
          if (flownAs(item) === NAV.waypoint) {
            this.#say(`Reached command #${this.#started}`);
          }
        }
        if (this.#there) this.#waited += dt;
        return [towards, this.#there && this.#waited >= item.p1];
      }
      case NAV.delay:
        this.#waited += dt;
        return [towards, this.#waited >= item.p1];
      case NAV.land:
        if (near) this.#there = true;
        return [
          this.#there ? sinkOver(this.#craft, this.#place) : towards,
          vehicle.landed || (this.#there && !vehicle.flies),
        ];
      case NAV.returnToLaunch:
        return [this.#home.step(dt), vehicle.landed];
      case NAV.changeSpeed:
        if (item.p2 > 0) this.#speed = item.p2;
        return [towards, true];
      case NAV.loiterUnlimited:
        return [towards, false]; // until somebody takes over
      case NAV.jump:
        this.#jump(item);
        return [towards, true];
      default:
        return [towards, true]; // a survey's camera, a servo: there is none
    }
  }
}
