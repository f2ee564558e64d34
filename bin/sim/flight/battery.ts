const SAG_OHM = 0.028; // pack and wiring
const EMPTY_SHARE = 0.81; // open-circuit voltage of the empty pack over that of the full one: 10.2 V of 12.6 V

/** A lithium pack: charge is drawn by current, the voltage falls with the charge and sags under load. */
export class Battery {
  #usedMah = 0;
  #amps = 0;

  /** @param dt simulated seconds */
  step(dt: number, amps: number): void {
    this.#amps = amps;
    this.#usedMah += (amps * 1000 * dt) / 3600;
  }

  /** A full pack. */
  reset(): void {
    this.#usedMah = 0;
    this.#amps = 0;
  }

  get usedMah(): number {
    return this.#usedMah;
  }

  get amps(): number {
    return this.#amps;
  }

  /** @param fullVolts open-circuit voltage of the full pack */
  volts(fullVolts: number, capacityMah: number): number {
    const used = Math.min(1, this.#usedMah / Math.max(1, capacityMah));
    return Math.max(0, fullVolts * (1 - used * (1 - EMPTY_SHARE)) - this.#amps * SAG_OHM);
  }

  /** Percent, 0..100. */
  remaining(capacityMah: number): number {
    return Math.max(0, Math.round(100 * (1 - this.#usedMah / Math.max(1, capacityMah))));
  }
}
