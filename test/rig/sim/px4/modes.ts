import { AutoMode } from '../../../../bin/sim/flight/auto.ts';
import type { Craft } from '../../../../bin/sim/flight/craft.ts';
import { GuidedMode } from '../../../../bin/sim/flight/guided.ts';
import type { Mission } from '../../../../bin/sim/flight/mission.ts';
import type { ModeSet } from '../../../../bin/sim/flight/mode-set.ts';
import {
  type FlightMode,
  holdMode,
  landMode,
  levelMode,
  type ModeId,
  type Modes,
  stickMode,
} from '../../../../bin/sim/flight/modes.ts';
import { returnMode } from '../../../../bin/sim/flight/rtl.ts';
import type { Demand } from '../../../../bin/sim/flight/vehicle.ts';

/** PX4's main mode (PX4_CUSTOM_MAIN_MODE) and, in AUTO, its sub mode (PX4_CUSTOM_SUB_MODE_AUTO). */
export function customMode(main: number, sub = 0): number {
  return ((main << 16) | (sub << 24)) >>> 0;
}

const AUTO = 4;
const id = (name: string, main: number, sub = 0): ModeId => ({ number: customMode(main, sub), name });

export const LOITER = customMode(AUTO, 3);

/**
 * PX4's modes on the behaviours that the simulation has: AUTO.FOLLOW_TARGET only holds, AUTO.PRECLAND is a plain landing,
 * and what OFFBOARD falls back to when its set-points end is always AUTO.RTL.
 */
export function px4Modes(craft: Craft, mission: Mission, modes: () => Modes): ModeSet {
  const loiter = new GuidedMode(craft, id('Hold', AUTO, 3));
  const offboard = new OffboardMode(craft, id('Offboard', 6), () => modes().set(rtl.number));
  const takeoff = new TakeoffMode(craft, id('Takeoff', AUTO, 2), () => modes().set(LOITER));
  const habits = { needsTakeoff: false, announces: false };
  const auto = new AutoMode(craft, mission, id('Mission', AUTO, 4), habits);
  const rtl = returnMode(craft, id('Return', AUTO, 5));
  const land = landMode(craft, id('Land', AUTO, 6));
  return {
    all: [
      levelMode(craft, id('Manual', 1)),
      levelMode(craft, id('Altitude', 2)),
      { ...stickMode(craft, id('Position', 3)), kind: 'manual' },
      takeoff,
      loiter,
      auto,
      rtl,
      land,
      holdMode(craft, id('Follow Me', AUTO, 8)),
      landMode(craft, id('Precision Landing', AUTO, 9)),
      levelMode(craft, id('Acro', 5)),
      offboard,
      levelMode(craft, id('Stabilized', 7)),
    ],
    guided: loiter,
    offboard,
    takeoff,
    auto,
    rtl: rtl.number,
    land: land.number,
  };
}

/** What COM_FLTMODEn says (module.yaml of the commander), of the modes that are simulated. */
const SWITCHED: ReadonlyMap<number, number> = new Map([
  [0, customMode(1)],
  [1, customMode(2)],
  [2, customMode(3)],
  [3, customMode(AUTO, 4)],
  [4, LOITER],
  [5, customMode(AUTO, 5)],
  [6, customMode(5)],
  [7, customMode(6)],
  [8, customMode(7)],
  [10, customMode(AUTO, 2)],
  [11, customMode(AUTO, 6)],
  [12, customMode(AUTO, 8)],
  [13, customMode(AUTO, 9)],
]);

/** The mode of a position of the switch; undefined: the position has none. */
export function switchMode(value: number): number | undefined {
  return SWITCHED.get(value);
}

/** RCUpdate::Run scales the channel, RCUpdate::UpdateManualSwitches takes one of six slots from it. */
export function modeSlot(
  us: number,
  { min, trim, max, rev }: { min: number; trim: number; max: number; rev: number },
): number {
  const within = Math.min(max, Math.max(min, us));
  const half = within < trim ? (within - trim) / (trim - min) : (within - trim) / (max - trim);
  const value = (Number.isFinite(half) ? half : 0) * (rev === -1 ? -1 : 1);
  const slots = 6;
  const slot = Math.trunc(((value + 1.05) * slots + 1 / slots) / 2.1 + 1 / slots) + 1;
  return Math.min(slot, slots) - 1;
}

/** COM_OF_LOSS_T */
const OFFBOARD_LOSS_MS = 1000;

/** OFFBOARD: entered while set-points come, and left when they end. */
class OffboardMode extends GuidedMode {
  readonly #lost: () => void;

  constructor(craft: Craft, mode: ModeId, lost: () => void) {
    super(craft, mode);
    this.#lost = lost;
  }

  refuses(): string | undefined {
    return this.#silent ? 'no offboard signal' : undefined;
  }

  override step(dt: number): Demand {
    if (this.#silent) this.#lost();
    return super.step(dt);
  }

  get #silent(): boolean {
    return performance.now() - this.heardAt > OFFBOARD_LOSS_MS;
  }
}

/** AUTO.TAKEOFF: climbs to MIS_TAKEOFF_ALT, or where the command says, and goes over into AUTO.LOITER. */
class TakeoffMode implements FlightMode {
  readonly number: number;
  readonly name: string;
  readonly kind = 'takeoff';
  readonly needsPosition = true;
  readonly #craft: Craft;
  readonly #climb: GuidedMode;
  readonly #done: () => void;

  constructor(craft: Craft, mode: ModeId, done: () => void) {
    this.number = mode.number;
    this.name = mode.name;
    this.#craft = craft;
    this.#climb = new GuidedMode(craft, mode);
    this.#done = done;
  }

  enter(): void {
    this.#climb.enter();
    const { vehicle, params } = this.#craft;
    this.takeOff(vehicle.height + params.get('MIS_TAKEOFF_ALT'));
  }

  /** @param height metres above home */
  takeOff(height: number): void {
    this.#climb.takeOff(height);
  }

  step(dt: number): Demand {
    this.#craft.autoArmed = true; // it may have been told before the vehicle was armed
    const demand = this.#climb.step(dt);
    if (!this.#climb.takingOff && !this.#craft.vehicle.landed) this.#done();
    return demand;
  }
}
