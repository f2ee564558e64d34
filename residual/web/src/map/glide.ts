import { distance, type Place, turn } from './projection.ts';

/** Where the vehicle is between two messages: it glides from where it is drawn to where it was last told to be. */

const GAP_MS = { least: 50, most: 500 } as const;
/** A longer way or a longer silence is no movement: the vehicle is drawn where it is at once. */
const JUMP_M = 300;
const SILENCE_MS = 3000;

export interface Pose {
  readonly place: Place;
  /** Degrees from north; null: not known. */
  readonly heading: number | null;
}

export class Glide {
  #from: Pose | null = null;
  #to: Pose | null = null;
  #since = 0;
  /** Between two messages, ms: as long as the vehicle takes for the way. */
  #gap = 100;

  /** @param now ms of `performance.now()`; a pose without change is no message */
  tell(pose: Pose | null, now: number): void {
    const last = this.#to;
    if (pose === null) {
      this.#from = null;
      this.#to = null;
      return;
    }
    if (last !== null && isSame(last, pose)) return;
    const passed = now - this.#since;
    const shown = this.at(now);
    const jumps = shown === null || passed > SILENCE_MS || distance(shown.place, pose.place) > JUMP_M;
    this.#gap = Math.max(GAP_MS.least, Math.min(GAP_MS.most, this.#gap * 0.7 + passed * 0.3));
    this.#from = jumps ? pose : shown;
    this.#to = pose;
    this.#since = now;
  }

  /** Null: no place is known. */
  at(now: number): Pose | null {
    const [from, to] = [this.#from, this.#to];
    if (from === null || to === null) return null;
    const part = Math.max(0, Math.min(1, (now - this.#since) / this.#gap));
    if (part === 1 || from === to) return to;
    const heading =
      to.heading === null || from.heading === null
        ? to.heading
        : (from.heading + turn(from.heading, to.heading) * part + 360) % 360;
    return {
      place: {
        lat: from.place.lat + (to.place.lat - from.place.lat) * part,
        lon: from.place.lon + turn(from.place.lon, to.place.lon) * part,
      },
      heading,
    };
  }

  /** Whether it is still on its way to where it was last told to be. */
  moves(now: number): boolean {
    return this.#from !== this.#to && now - this.#since < this.#gap;
  }
}

function isSame(a: Pose, b: Pose): boolean {
  return a.place.lat === b.place.lat && a.place.lon === b.place.lon && a.heading === b.heading;
}
