import { armsIn } from '../../../shared/flight/arming-modes.ts';
import { type Family, modeName } from '../../../shared/flight/modes.ts';
import type { Faults } from '../faults.ts';
import { type Craft, MavSeverity } from './craft.ts';
import type { ArmReason, Words } from './firmware-words.ts';
import type { FlightMode } from './modes.ts';

/** What the arming checks look at besides the craft. */
interface ArmingView {
  readonly mode: FlightMode;
  /** A GPS fix is there. */
  readonly gpsOk: boolean;
  /** The EKF attitude has settled. */
  readonly attitudeOk: boolean;
  /** No fence that is on is breached. */
  readonly fenceOk: boolean;
  /** V, under the load of the moment. */
  readonly volts: number;
  /** What calibrations say against it. */
  readonly calibration: readonly string[];
  /** What the radio's calibration says against it. */
  readonly radio: readonly string[];
}

/** In what a firmware's arming differs from another's. */
export interface ArmingHabits {
  readonly words: Words;
  /** Whose modes it has. */
  readonly family: Family;
  /** When it looks whether its mode arms: with all other checks, or only when somebody arms. */
  readonly modeCheck: 'always' | 'arming';
}

/** ArduCopter's arming checks, as far as the simulation has what they check, in the words of the firmware. */
export class Arming {
  readonly #craft: Craft;
  readonly #faults: Faults;
  readonly #firmware: ArmingHabits;
  readonly #view: () => ArmingView;

  constructor(craft: Craft, faults: Faults, firmware: ArmingHabits, view: () => ArmingView) {
    this.#craft = craft;
    this.#faults = faults;
    this.#firmware = firmware;
    this.#view = view;
  }

  /** @returns whether the motors run now; the reasons of a refusal go out as STATUSTEXT */
  arm(force: boolean): boolean {
    const { vehicle } = this.#craft;
    if (vehicle.armed) return true;
    const reasons = force ? [] : [...new Set([...this.preArm(), ...this.#modeReasons()])];
    if (reasons.length > 0) {
      for (const text of this.#firmware.words.armRefused(reasons))
        this.#craft.text(MavSeverity.CRITICAL, text);
      return false;
    }
    this.#craft.text(MavSeverity.INFO, this.#firmware.words.armed);
    if (!vehicle.homeLocked && this.#craft.positionOk()) vehicle.home = vehicle.location;
    vehicle.armed = true;
    return true;
  }

  /** @returns whether the motors stand now. In the air it is refused unless forced. */
  disarm(force: boolean): boolean {
    const { vehicle } = this.#craft;
    if (!vehicle.armed) return true;
    if (!force && !vehicle.landed && vehicle.flies) return false;
    this.#craft.disarm('command');
    return true;
  }

  /** Reasons against arming that the vehicle tells by itself. */
  preArm(): string[] {
    const { params } = this.#craft;
    const { mode, gpsOk, attitudeOk, fenceOk, volts, calibration, radio } = this.#view();
    const reasons: ArmReason[] = [];
    const uncalibrated = params.get('ARMING_CHECK') === 0 ? [] : radio;
    if (!attitudeOk) reasons.push('attitude');
    if (params.get('ARMING_CHECK') !== 0) {
      if (mode.needsPosition && !gpsOk) reasons.push('gps');
      const minimum = params.get('BATT_ARM_VOLT');
      if (minimum > 0 && volts < minimum) reasons.push('arm-voltage');
      if (volts < params.get('BATT_LOW_VOLT')) reasons.push('battery');
      if (!fenceOk) reasons.push('fence');
    }
    // Mandatory: ARMING_CHECK 0 does not switch it off.
    if (mode.needsPosition && !this.#craft.positionOk()) reasons.push('position');
    const said = reasons.map((reason) => this.#firmware.words.reason(reason, mode.name));
    const always = this.#firmware.modeCheck === 'always' ? this.#modeReasons() : [];
    const found = [...calibration, ...uncalibrated, ...said, ...always];
    return this.#faults.armRefuse === '' ? found : [this.#faults.armRefuse, ...found];
  }

  #modeReasons(): string[] {
    const { mode } = this.#view();
    const { family, words } = this.#firmware;
    const { params } = this.#craft;
    const arms = armsIn(family, modeName(family, mode.number), (name) => params.get(name));
    return arms === false ? [words.reason('mode', mode.name)] : [];
  }
}
