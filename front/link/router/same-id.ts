import type { Frame } from '../../../shared/mavlink/frame.ts';
import type { Clock } from '../clock.ts';
import { OWN_COMPONENT } from '../encode.ts';

/** An echo that the loop guard let through is one frame; another program goes on. */
const FRAMES = 3;
const WITHIN_MS = 10_000;
/** As long as it stays known after its newest frame. */
const PRESENT_MS = 30_000;

/** Whether another program speaks with our own ids: the vehicle answers both of us, and nobody can tell the answers apart. */
export class SameId {
  readonly #clock: Clock;
  readonly #ownSystem: () => number;
  #at = -Infinity;
  #count = 0;

  /** @param ownSystem the system id that we send as */
  constructor(clock: Clock, ownSystem: () => number) {
    this.#clock = clock;
    this.#ownSystem = ownSystem;
  }

  /** A frame that is no echo of ours. @returns whether it calls itself ours */
  onFrame({ system, component }: Frame): boolean {
    if (component !== OWN_COMPONENT || system !== this.#ownSystem()) return false;
    const now = this.#clock.now();
    this.#count = now - this.#at < WITHIN_MS ? this.#count + 1 : 1;
    this.#at = now;
    return true;
  }

  get present(): boolean {
    return this.#count >= FRAMES && this.#clock.now() - this.#at < PRESENT_MS;
  }
}
