import type { Designated } from '../../shared/rpc/vision.ts';

/** How long it is told that the target was lost, ms. */
const LOST_TOLD_MS = 5000;
/** Without a picture for so long nothing is locked, ms. */
const FRESH_MS = 1500;

/** The one track that a client has pointed at. Times: monotonic, ms. */
export class Target {
  #id: number | null = null;
  #seenAt = 0;
  #isSeen = false;
  #forgetMs = 0;

  get id(): number | null {
    return this.#id;
  }

  point(id: number, now: number, forgetMs: number): void {
    this.#id = id;
    this.#isSeen = true;
    this.#seenAt = now;
    this.#forgetMs = forgetMs;
  }

  release(): void {
    this.#id = null;
  }

  /**
   * After each picture. @param sure the tracks that were seen with confidence @param weak those seen without
   * @param forgetMs how long the tracker looks for what it does not see
   */
  update(sure: ReadonlySet<number>, weak: ReadonlySet<number>, now: number, forgetMs: number): void {
    if (this.#id === null) return;
    this.#forgetMs = forgetMs;
    this.#isSeen = sure.has(this.#id);
    if (this.#isSeen || weak.has(this.#id)) this.#seenAt = now;
  }

  state(now: number): Designated | null {
    if (this.#id === null) return null;
    const away = now - this.#seenAt;
    if (away > this.#forgetMs + LOST_TOLD_MS) {
      this.#id = null;
      return null;
    }
    const fresh = Math.max(FRESH_MS, this.#forgetMs / 2);
    const state = away > this.#forgetMs ? 'lost' : this.#isSeen && away <= fresh ? 'locked' : 'uncertain';
    return { track_id: this.#id, lock_state: state };
  }
}
