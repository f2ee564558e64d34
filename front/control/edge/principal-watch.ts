import { every } from '../../../shared/async/every.ts';
import type { Principal } from '../../../shared/auth/principal.ts';

const RECHECK_MS = 250;

interface Watched {
  /** Whether the caller's credential is still valid. */
  readonly holds: () => boolean;
  readonly end: () => void;
}

/**
 * Ends what a caller has opened (WebSockets, streams, sessions in the residual) when its principal ends
 * (docs/contract/edge.md#scope). The end of a principal (a revocation by another process, an expiry) is noticed within 250 ms.
 */
export class PrincipalWatch {
  readonly #holds: (principal: Principal) => () => boolean;
  readonly #open = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;

  /** @param holds returns a check whether the caller's credential is still valid, which is called again and again */
  constructor(holds: (principal: Principal) => () => boolean) {
    this.#holds = holds;
  }

  start(): void {
    this.#timer = every(RECHECK_MS, 'open connections', () => this.recheck());
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * @param end called once, when the principal has ended
   * @returns a function to call when the opened thing is closed
   */
  onEnd(principal: Principal, end: () => void): () => void {
    const watched = { holds: this.#holds(principal), end };
    this.#open.add(watched);
    return () => {
      this.#open.delete(watched);
    };
  }

  /** Checks all principals now. */
  recheck(): void {
    for (const watched of this.#open) {
      if (watched.holds()) continue;
      this.#open.delete(watched);
      watched.end();
    }
  }
}
