import type { ServerResponse } from 'node:http';
import { every } from '../../async/every.ts';

const LOOK_MS = 2000;

interface Watched {
  /** Bytes that the kernel has taken. */
  taken: number;
  /** Since when it has taken none of what waits, monotonic ms. */
  since: number;
  readonly end: () => void;
}

/** Ends answers and streams that nobody reads: what is not sent is kept in memory, and its connection is a place. */
export class UnreadAnswers {
  readonly #stuckMs: number;
  readonly #now: () => number;
  readonly #open = new Map<ServerResponse, Watched>();
  #timer: NodeJS.Timeout | null = null;

  /** @param stuckMs so long not a byte of what waits may be taken @param now monotonic clock, ms */
  constructor(stuckMs: number, now: () => number) {
    this.#stuckMs = stuckMs;
    this.#now = now;
  }

  start(): void {
    this.#timer = every(LOOK_MS, 'unread answers', () => this.look());
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** From now to its close. @param end of the connection */
  watch(res: ServerResponse, end: () => void): void {
    this.#open.set(res, { taken: 0, since: this.#now(), end });
    res.once('close', () => this.#open.delete(res));
  }

  /** Ends those that are stuck now. */
  look(): void {
    const now = this.#now();
    for (const [res, watched] of this.#open) {
      const { socket } = res;
      // One that waits for those before it on its connection has none yet.
      const waits = socket?.writableLength ?? 0;
      const taken = (socket?.bytesWritten ?? 0) - waits;
      if (waits === 0 || taken !== watched.taken) Object.assign(watched, { taken, since: now });
      else if (now - watched.since > this.#stuckMs) watched.end();
    }
  }
}
