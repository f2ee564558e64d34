import type { Projection, View } from './projection.ts';

/**
 * What a map shows between two renderings: the view that follows a finger or the vehicle sixty times a second, without anything
 * being rendered anew. Layers paint themselves by it, and ask for no frame while nothing moves.
 */

/** @returns whether it is to be called for the next frame, too; else when the view changes or somebody wakes the map */
type Painter = (live: Projection, now: number) => boolean;

export class Frames {
  readonly #painters = new Set<Painter>();
  readonly #settle: (now: number) => boolean;
  readonly #live: () => Projection;
  #asked = 0;

  /** @param settle brings the view up to date, before the layers; whether it goes on moving */
  constructor(live: () => Projection, settle: (now: number) => boolean) {
    this.#live = live;
    this.#settle = settle;
  }

  /** What is on the screen now. */
  get projection(): Projection {
    return this.#live();
  }

  get view(): View {
    return this.#live().view;
  }

  /** @returns ends it */
  add(painter: Painter): () => void {
    this.#painters.add(painter);
    this.wake();
    return () => {
      this.#painters.delete(painter);
    };
  }

  wake(): void {
    if (this.#asked === 0) this.#asked = requestAnimationFrame((now) => this.#paint(now));
  }

  stop(): void {
    cancelAnimationFrame(this.#asked);
    this.#asked = 0;
  }

  #paint(now: number): void {
    this.#asked = 0;
    let more = this.#settle(now);
    const live = this.#live();
    for (const painter of this.#painters) more = painter(live, now) || more;
    if (more) this.wake();
  }
}
