import type { Profile } from '../rpc/video.ts';

/**
 * How the pictures follow a processor that cannot encode them all: first fewer of them, then smaller ones, and back when there is
 * room again. Pure: all times come from outside, microseconds of a steady clock.
 */

/** Shares of the profile. Another size is another stream, so the rate goes first. */
const STEPS = [
  { rate: 1, size: 1 },
  { rate: 2 / 3, size: 1 },
  { rate: 1 / 2, size: 1 },
  { rate: 1 / 3, size: 1 },
  { rate: 1 / 3, size: 3 / 4 },
  { rate: 1 / 3, size: 1 / 2 },
  { rate: 1 / 6, size: 1 / 2 },
] as const;

const LIMITS = {
  windowUs: 1_000_000,
  /** A window is bad with more than this share of its pictures left out. */
  left: 0.1,
  /** So many bad windows in a row: one alone is a moment. A smaller picture interrupts films, so it waits longer. */
  bad: 2,
  badBeforeSize: 4,
  /** Of the time, for the encoder: what a step down has to promise, and what a step up may. */
  downTo: 0.8,
  upTo: 0.6,
  /** Without a picture left out, before a step up; doubled whenever that was too early. */
  holdUs: 10_000_000,
  longestHoldUs: 160_000_000,
} as const;

export class Pace {
  #step = 0;
  #since = 0;
  #taken = 0;
  #left = 0;
  #encoded = 0;
  #spentUs = 0;
  /** What a picture of the present size took in the window before. */
  #eachUs = 0;
  #bad = 0;
  #steppedAt = -Infinity;
  #goodSince = 0;
  #holdUs: number = LIMITS.holdUs;
  #wasUp = false;

  /** Pictures a second, as a share of the profile's. */
  get rate(): number {
    return this.#now.rate;
  }

  get reduced(): boolean {
    return this.#step > 0;
  }

  /** What is encoded of a profile at the moment. */
  applied({ width, height, fps, ...rest }: Profile): Profile {
    const { rate, size } = this.#now;
    const even = (side: number): number => Math.max(2, 2 * Math.round((side * size) / 2));
    return { ...rest, width: even(width), height: even(height), fps: Math.max(1, Math.round(fps * rate)) };
  }

  /** A picture was due. @param left it was left out, as the encoder was busy. @returns whether the step has changed */
  due(at: number, left: boolean, fps: number): boolean {
    if (left) this.#left++;
    else this.#taken++;
    if (at - this.#since < LIMITS.windowUs) return false;
    const before = this.#step;
    if (this.#encoded > 0) this.#eachUs = this.#spentUs / this.#encoded;
    if (at - this.#since < 2 * LIMITS.windowUs) this.#look(at, fps); // else nothing came for a while
    this.#since = at;
    this.#taken = this.#left = this.#encoded = this.#spentUs = 0;
    return this.#step !== before;
  }

  /**
   * Another profile is wanted. One that is lighter gets back at once what there is room for: what the one before wanted too much of
   * is no reason to make a small picture smaller still.
   * @returns whether the step has changed
   */
  changed(before: Profile, after: Profile): boolean {
    this.#eachUs *= (after.width * after.height) / (before.width * before.height);
    const room = STEPS.findIndex((_, step) => this.#load(step, after.fps) <= LIMITS.upTo);
    if (room < 0 || room >= this.#step) return false;
    this.#to(room, this.#since);
    this.#wasUp = false;
    return true;
  }

  /** A picture was encoded. */
  encoded(spentUs: number): void {
    this.#encoded++;
    this.#spentUs += spentUs;
  }

  get #now(): (typeof STEPS)[number] {
    return STEPS[this.#step] ?? STEPS[0];
  }

  #look(at: number, fps: number): void {
    const isBad = this.#left > LIMITS.left * (this.#left + this.#taken);
    this.#bad = isBad ? this.#bad + 1 : 0;
    if (isBad) {
      this.#goodSince = at;
      this.#down(at, fps);
    } else if (
      this.#step > 0 &&
      at - Math.max(this.#goodSince, this.#steppedAt) >= this.#holdUs &&
      this.#load(this.#step - 1, fps) <= LIMITS.upTo
    ) {
      this.#wasUp = true;
      this.#to(this.#step - 1, at);
    }
  }

  #down(at: number, fps: number): void {
    const next = STEPS[this.#step + 1];
    if (next === undefined) return;
    const sizes = next.size < this.#now.size;
    if (this.#bad < (sizes ? LIMITS.badBeforeSize : LIMITS.bad)) return;
    const early = this.#wasUp && at - this.#steppedAt < 2 * this.#holdUs;
    this.#holdUs = early ? Math.min(LIMITS.longestHoldUs, this.#holdUs * 2) : LIMITS.holdUs;
    this.#wasUp = false;
    // Over several rates at once, but to one smaller size at a time.
    const enough = STEPS.findIndex(
      ({ size }, step) =>
        step > this.#step && size === this.#now.size && this.#load(step, fps) <= LIMITS.downTo,
    );
    const slowest = STEPS.findLastIndex(({ size }) => size === this.#now.size);
    this.#to(sizes ? this.#step + 1 : enough < 0 ? slowest : enough, at);
  }

  #to(step: number, at: number): void {
    const { size } = this.#now;
    this.#step = step;
    this.#eachUs *= (this.#now.size / size) ** 2;
    this.#steppedAt = at;
    this.#bad = 0;
  }

  /** The share of the time that a step would want, from what the pictures of the newest window took. */
  #load(step: number, fps: number): number {
    const to = STEPS[step] ?? STEPS[0];
    return (this.#eachUs * fps * to.rate * (to.size / this.#now.size) ** 2) / 1e6;
  }
}
