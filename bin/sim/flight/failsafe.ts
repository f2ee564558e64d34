import { type Craft, MavSeverity } from './craft.ts';
import type { Modes } from './modes.ts';

/** Numbers of the modes that a failsafe goes into. */
export interface EscapeModes {
  readonly rtl: number;
  readonly land: number;
}

/** Ground-station and battery failsafes. */
export class Failsafes {
  readonly #craft: Craft;
  readonly #modes: Modes;
  readonly #escape: EscapeModes;
  readonly #volts: () => number;
  #gcsSeen: number | undefined;
  #gcsLost = false;
  #low = 0; // simulated seconds below BATT_LOW_VOLT
  #batteryLow = false;

  constructor(craft: Craft, modes: Modes, escape: EscapeModes, volts: () => number) {
    this.#escape = escape;
    this.#craft = craft;
    this.#modes = modes;
    this.#volts = volts;
  }

  reset(): void {
    this.#gcsSeen = undefined;
    this.#gcsLost = false;
    this.#low = 0;
    this.#batteryLow = false;
  }

  get batteryLow(): boolean {
    return this.#batteryLow;
  }

  get active(): boolean {
    return this.#gcsLost || this.#batteryLow;
  }

  /** A heartbeat of the ground station that SYSID_MYGCS names. @param now wall clock, ms */
  heardGcs(now: number): void {
    this.#gcsSeen = now;
    if (!this.#gcsLost) return;
    this.#gcsLost = false;
    this.#craft.text(MavSeverity.WARNING, 'GCS Failsafe Cleared');
  }

  /** @param now wall clock, ms: a ground station sends its heartbeats in real time @param dt simulated seconds */
  tick(now: number, dt: number): void {
    this.#gcs(now);
    this.#battery(dt);
  }

  #gcs(now: number): void {
    const { params, vehicle } = this.#craft;
    const action = params.get('FS_GCS_ENABLE');
    if (action === 0 || this.#gcsSeen === undefined || this.#gcsLost || !vehicle.armed) return;
    if (now - this.#gcsSeen < params.get('FS_GCS_TIMEOUT') * 1000) return;
    this.#gcsLost = true;
    this.#craft.text(MavSeverity.WARNING, 'GCS Failsafe');
    this.#act(action === 5 ? this.#escape.land : this.#escape.rtl);
  }

  #battery(dt: number): void {
    const { params, vehicle } = this.#craft;
    const minimum = params.get('BATT_LOW_VOLT');
    const volts = this.#volts();
    if (minimum <= 0 || volts >= minimum || !vehicle.armed) {
      this.#low = 0;
      if (!vehicle.armed) this.#batteryLow = false;
      return;
    }
    this.#low += dt;
    if (this.#batteryLow || this.#low < params.get('BATT_LOW_TIMER')) return;
    this.#batteryLow = true;
    const used = Math.round(vehicle.battery.usedMah);
    this.#craft.text(MavSeverity.WARNING, `Battery 1 is low ${volts.toFixed(2)}V used ${used} mAh`);
    const action = params.get('BATT_FS_LOW_ACT');
    if (action === 1) this.#act(this.#escape.land);
    else if (action >= 2) this.#act(this.#escape.rtl);
  }

  #act(mode: number): void {
    if (this.#craft.vehicle.landed) this.#craft.disarm();
    else if (!this.#modes.set(mode)) this.#modes.set(this.#escape.land);
  }
}
