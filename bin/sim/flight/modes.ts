import type { LocalPoint } from '../../../shared/flight/geo.ts';
import { type Craft, flyTo, IDLE, MavSeverity, sinkOver, stoppingPoint } from './craft.ts';
import type { Demand } from './vehicle.ts';

/** What a mode does, whatever its firmware calls it. */
type ModeKind = 'manual' | 'hold' | 'guided' | 'mission' | 'return' | 'land' | 'takeoff';

/** The number and the name of a mode. */
export interface ModeId {
  readonly number: number;
  readonly name: string;
}

/** How a firmware says that it does not change its mode. */
export interface ModeWords {
  noSuchMode(number: number): string;
  refused(name: string, reason: string): string;
}

/** One flight mode. A new object each time it is entered would lose GUIDED's and AUTO's state, so they live on. */
export interface FlightMode {
  /** The heartbeat's custom_mode. */
  readonly number: number;
  /** As the firmware's own texts call it. */
  readonly name: string;
  readonly kind: ModeKind;
  readonly needsPosition: boolean;
  /** @returns why it cannot be entered; asked only while armed, as ArduCopter and PX4 do */
  refuses?(): string | undefined;
  enter?(): void;
  /** Called once per simulated step while armed. @param dt simulated seconds */
  step(dt: number): Demand;
}

/** The modes of the vehicle and which one is on. */
export class Modes {
  readonly #craft: Craft;
  readonly #words: ModeWords;
  readonly #byNumber: ReadonlyMap<number, FlightMode>;
  readonly #lasts: ((mode: FlightMode) => boolean) | undefined;
  #current: FlightMode;
  #lasting: FlightMode;

  /** @param lasts the newest of these is the mode again after a disarming; undefined: the mode stays */
  constructor(
    craft: Craft,
    modes: readonly FlightMode[],
    initial: number,
    words: ModeWords,
    lasts?: (mode: FlightMode) => boolean,
  ) {
    this.#craft = craft;
    this.#words = words;
    this.#byNumber = new Map(modes.map((mode) => [mode.number, mode]));
    const first = this.#byNumber.get(initial) ?? modes[0];
    if (first === undefined) throw new Error('a vehicle needs a flight mode');
    this.#lasts = lasts;
    this.#current = first;
    this.#lasting = first;
  }

  /** Goes into a mode without asking, as at boot. An unknown number leaves the first mode. */
  reset(number: number): void {
    this.#current = this.#byNumber.get(number) ?? this.#byNumber.values().next().value ?? this.#current;
    this.#lasting = this.#current;
    this.#current.enter?.();
  }

  disarmed(): void {
    if (this.#lasts === undefined || this.#lasting === this.#current) return;
    this.#current = this.#lasting;
    this.#current.enter?.();
  }

  get current(): FlightMode {
    return this.#current;
  }

  /**
   * @param quiet a mode that does not suit is refused without a word
   * @returns whether the vehicle is in that mode now; a refusal is told by STATUSTEXT in the firmware's words
   */
  set(number: number, quiet = false): boolean {
    if (number === this.#current.number) return true;
    const mode = this.#byNumber.get(number);
    if (mode === undefined) {
      this.#craft.text(MavSeverity.WARNING, this.#words.noSuchMode(number));
      return false;
    }
    // Disarmed, ArduCopter and PX4 let every mode in and leave the judgement to the arming checks.
    if (this.#craft.vehicle.armed) {
      const reason = mode.needsPosition && !this.#craft.positionOk() ? 'requires position' : mode.refuses?.();
      if (reason !== undefined) {
        if (!quiet) this.#craft.text(MavSeverity.WARNING, this.#words.refused(mode.name, reason));
        return false;
      }
    }
    this.#current = mode;
    if (this.#lasts?.(mode) === true) this.#lasting = mode;
    mode.enter?.();
    return true;
  }
}

/** With centred sticks: level, so that it keeps its height and is slowed by the air alone. */
export function levelMode(craft: Craft, id: ModeId): FlightMode {
  return {
    ...id,
    kind: 'manual',
    needsPosition: false,
    step: () => {
      const { vehicle } = craft;
      if (vehicle.landed) return IDLE;
      return { kind: 'fly', vn: vehicle.wind.n, ve: vehicle.wind.e, vu: 0, accel: 0.3, accelUp: 1 };
    },
  };
}

/** ArduCopter's STABILIZE: the throttle stick is the thrust. With the stick down, or without one, the vehicle falls. */
export function thrustMode(craft: Craft, id: ModeId): FlightMode {
  const level = levelMode(craft, id);
  return {
    ...level,
    step: (dt) => {
      const throttle = throttleOf(craft) ?? 0;
      const vu = part(throttle * 2 - 1000) * STICK_CLIMB_MS;
      if (throttle < DEAD || (craft.vehicle.landed && vu <= 0)) return IDLE;
      return raised(level.step(dt), vu, craft);
    },
  };
}

/** ArduCopter's ALT_HOLD: it climbs and sinks by the throttle stick, and keeps its height without a radio. */
export function heightMode(craft: Craft, id: ModeId): FlightMode {
  const level = levelMode(craft, id);
  return {
    ...level,
    step: (dt) => raised(level.step(dt), part((throttleOf(craft) ?? 500) * 2 - 1000) * STICK_CLIMB_MS, craft),
  };
}

/** @param demand of `levelMode` @param vu m/s up */
function raised(demand: Demand, vu: number, { vehicle }: Craft): Demand {
  if (demand.kind === 'fly') return { ...demand, vu, accelUp: 2.5 };
  if (vu <= 0) return demand;
  return { kind: 'fly', vn: vehicle.wind.n, ve: vehicle.wind.e, vu, accel: 0.3, accelUp: 2.5 };
}

/** ArduPilot's RC_OVERRIDE_TIME, s; PX4 forgets sooner. */
const STICKS_LAST_S = 3;
const STICK_MS = 5;
const STICK_CLIMB_MS = 2.5;
const STICK_TURN = Math.PI / 4;
/** Of a thousand: as RCn_DZ. */
const DEAD = 50;

/** Of a stick's way, -1 to 1; 0 within its dead zone. */
function part(axis: number): number {
  return Math.abs(axis) < DEAD ? 0 : axis / 1000;
}

function freshSticks({ vehicle, sticks }: Craft): Craft['sticks'] {
  return sticks !== undefined && vehicle.time - sticks.at < STICKS_LAST_S ? sticks : undefined;
}

/** A ground station's sticks take the place of the radio's. Of a thousand; null: there are none. */
function throttleOf(craft: Craft): number | null {
  return freshSticks(craft)?.z ?? craft.throttle;
}

/** LOITER and PX4's Position: where a ground station's sticks say, else as `holdMode`: clients hold in it without any (MAVSDK). */
export function stickMode(craft: Craft, id: ModeId): FlightMode {
  const hold = holdMode(craft, id);
  return {
    ...hold,
    step: (dt) => {
      const { vehicle } = craft;
      const fresh = freshSticks(craft);
      const [x, y, r] = [part(fresh?.x ?? 0), part(fresh?.y ?? 0), part(fresh?.r ?? 0)];
      const up = part((fresh?.z ?? 500) * 2 - 1000);
      if ([x, y, up, r].every((axis) => axis === 0)) return hold.step(dt);
      if (vehicle.landed && up <= 0) return IDLE;
      const [cos, sin] = [Math.cos(vehicle.yaw), Math.sin(vehicle.yaw)];
      const demand = {
        kind: 'fly',
        vn: (x * cos - y * sin) * STICK_MS,
        ve: (x * sin + y * cos) * STICK_MS,
        vu: up * STICK_CLIMB_MS,
        accel: 2.5,
        accelUp: 2.5,
        yaw: vehicle.yaw + r * STICK_TURN,
      } as const;
      hold.enter?.(); // where it is when they are let go
      return demand;
    },
  };
}

/** POSHOLD, BRAKE and CIRCLE (which here does not circle): brake, then stay. */
export function holdMode(craft: Craft, id: ModeId): FlightMode {
  let place: LocalPoint = craft.vehicle.position;
  return {
    ...id,
    kind: 'hold',
    needsPosition: true,
    enter: () => {
      place = stoppingPoint(craft);
    },
    step: () => (craft.vehicle.landed ? IDLE : flyTo(craft, place, undefined, craft.vehicle.yaw)),
  };
}

/** LAND: sink where it is and stop the motors. */
export function landMode(craft: Craft, id: ModeId): FlightMode {
  let place: LocalPoint = craft.vehicle.position;
  return {
    ...id,
    kind: 'land',
    needsPosition: false,
    enter: () => {
      place = stoppingPoint(craft);
    },
    step: () => {
      if (!craft.vehicle.landed) return sinkOver(craft, place);
      craft.disarm();
      return IDLE;
    },
  };
}
