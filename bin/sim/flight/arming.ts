import type { Faults } from '../faults.ts';
import type { ArmReason, Words } from '../firmware/words.ts';
import { type Craft, MavSeverity } from './craft.ts';
import type { FlightMode } from './modes.ts';

/** What the arming checks look at besides the craft. */
export interface ArmingView {
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
}

/** ArduCopter's arming checks, as far as the simulation has what they check, in the words of the firmware. */
export class Arming {
  readonly #craft: Craft;
  readonly #faults: Faults;
  readonly #words: Words;
  readonly #view: () => ArmingView;

  constructor(craft: Craft, faults: Faults, words: Words, view: () => ArmingView) {
    this.#craft = craft;
    this.#faults = faults;
    this.#words = words;
    this.#view = view;
  }

  /** @returns whether the motors run now; the reasons of a refusal go out as STATUSTEXT */
  arm(force: boolean): boolean {
    const { vehicle } = this.#craft;
    if (vehicle.armed) return true;
    const reasons = force ? [] : [...this.preArm(), ...this.#modeReasons()];
    if (reasons.length > 0) {
      for (const text of this.#words.armRefused(reasons)) this.#craft.text(MavSeverity.CRITICAL, text);
      return false;
    }
    this.#craft.text(MavSeverity.INFO, this.#words.armed);
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

  /** Reasons against arming in any mode that the vehicle finds by itself. */
  preArm(): string[] {
    const { params } = this.#craft;
    const { mode, gpsOk, attitudeOk, fenceOk, volts, calibration } = this.#view();
    const reasons: ArmReason[] = [];
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
    const found = [...calibration, ...reasons.map((reason) => this.#words.reason(reason, mode.name))];
    return this.#faults.armRefuse === '' ? found : [this.#faults.armRefuse, ...found];
  }

  #modeReasons(): string[] {
    const { mode } = this.#view();
    const autoArming = mode.kind === 'mission' && (this.#craft.params.get('AUTO_OPTIONS') & 1) === 1;
    return mode.armable || autoArming ? [] : [this.#words.reason('mode', mode.name)];
  }
}
