import { every } from '../../shared/async/every.ts';
import type { Principal } from '../../shared/auth/principal.ts';

const RECHECK_MS = 250;

interface Tenure {
  /** Whether what let this caller in still does. */
  readonly holds: () => boolean;
  readonly end: () => void;
}

/**
 * What callers have opened and what lives no longer than they do: WebSockets, streams, sessions in the residual
 * (docs/contract.md 4.10). Whatever ends a principal (a revocation by another process, an expiry) is seen within 250 ms.
 */
export class Tenures {
  readonly #holds: (principal: Principal) => () => boolean;
  readonly #open = new Set<Tenure>();
  #timer: NodeJS.Timeout | null = null;

  /** @param holds whether what let this caller in still does; the answer is asked again and again */
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
   * @returns to be called when what was opened is closed
   */
  begin(principal: Principal, end: () => void): () => void {
    const tenure = { holds: this.#holds(principal), end };
    this.#open.add(tenure);
    return () => {
      this.#open.delete(tenure);
    };
  }

  /** Ends what no longer holds, at once. */
  recheck(): void {
    for (const tenure of this.#open) {
      if (tenure.holds()) continue;
      this.#open.delete(tenure);
      tenure.end();
    }
  }
}
