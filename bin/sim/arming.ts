import { type Craft, MavSeverity } from './craft.ts';
import type { Faults } from './faults.ts';
import type { FlightMode } from './modes.ts';

/** What the arming checks look at besides the craft. */
export interface ArmingView {
  readonly mode: FlightMode;
  /** A GPS fix is there. */
  readonly gpsOk: boolean;
  /** The EKF attitude has settled. */
  readonly attitudeOk: boolean;
  /** V, under the load of the moment. */
  readonly volts: number;
}

/** ArduCopter's arming checks, as far as the simulation has what they check. Texts are ArduPilot 4.5's. */
export class Arming {
  readonly #craft: Craft;
  readonly #faults: Faults;
  readonly #view: () => ArmingView;

  constructor(craft: Craft, faults: Faults, view: () => ArmingView) {
    this.#craft = craft;
    this.#faults = faults;
    this.#view = view;
  }

  /** @returns whether the motors run now; the reasons of a refusal go out as STATUSTEXT */
  arm(force: boolean): boolean {
    const { vehicle } = this.#craft;
    if (vehicle.armed) return true;
    const reasons = force ? [] : [...this.preArm(), ...this.#modeReasons()];
    if (reasons.length > 0) {
      for (const reason of reasons) this.#craft.text(MavSeverity.CRITICAL, `Arm: ${reason}`);
      return false;
    }
    this.#craft.text(MavSeverity.INFO, 'Arming motors');
    if (!vehicle.homeLocked && this.#craft.positionOk()) vehicle.home = vehicle.location;
    vehicle.armed = true;
    return true;
  }

  /** @returns whether the motors stand now. In the air it is refused unless forced. */
  disarm(force: boolean): boolean {
    const { vehicle } = this.#craft;
    if (!vehicle.armed) return true;
    if (!force && !vehicle.landed) return false;
    this.#craft.disarm();
    return true;
  }

  /** Reasons against arming in any mode that the vehicle finds by itself. */
  preArm(): string[] {
    const { params } = this.#craft;
    const { mode, gpsOk, attitudeOk, volts } = this.#view();
    const reasons: string[] = [];
    if (this.#faults.armRefuse !== '') reasons.push(this.#faults.armRefuse);
    if (!attitudeOk) reasons.push('Gyros still settling');
    if (params.get('ARMING_CHECK') !== 0) {
      if (mode.needsPosition && !gpsOk) reasons.push('GPS 1: Bad fix');
      const minimum = params.get('BATT_ARM_VOLT');
      if (minimum > 0 && volts < minimum) reasons.push('Battery 1 below minimum arming voltage');
      if (volts < params.get('BATT_LOW_VOLT')) reasons.push('Battery 1 low voltage failsafe');
    }
    // Mandatory: ARMING_CHECK 0 does not switch it off.
    if (mode.needsPosition && !this.#craft.positionOk()) reasons.push('Need Position Estimate');
    return reasons;
  }

  #modeReasons(): string[] {
    const { mode } = this.#view();
    const autoArming = mode.name === 'AUTO' && (this.#craft.params.get('AUTO_OPTIONS') & 1) === 1;
    return mode.armable || autoArming ? [] : [`${mode.name} mode not armable`];
  }
}
