import { stat } from 'node:fs/promises';
import { codeOf } from '../../../shared/errors.ts';

/** A look at the folder is good for so long. */
const LOOK_MS = 2000;

/**
 * Whether the folder of the node's state is still the one that it began with: what is in memory of a deleted one lasts until the
 * restart. It is looked at when somebody asks, and nobody waits for the disk: the answer is that of the last look.
 */
export class StateFolder {
  readonly #path: string;
  readonly #now: () => number;
  #began: number | null = null;
  #isGone = false;
  #lookedAt = -Infinity;

  /** @param now monotonic, ms */
  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
  }

  /** What is wrong with it, a sentence each. */
  get problems(): readonly string[] {
    const now = this.#now();
    if (now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now;
      void this.#look();
    }
    if (!this.#isGone) return [];
    return [
      `${this.#path} was deleted while the node ran, and what it kept there with it. Put it back, then restart the node.`,
    ];
  }

  async #look(): Promise<void> {
    try {
      const { ino } = await stat(this.#path);
      this.#began ??= ino;
      this.#isGone = ino !== this.#began; // also one that was made anew, which is empty
    } catch (error) {
      // Another error is the disk's, which has problems of its own.
      if (codeOf(error) === 'ENOENT' && this.#began !== null) this.#isGone = true;
    }
  }
}
