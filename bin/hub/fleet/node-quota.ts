import { TokenBucket } from '../../../shared/async/token-bucket.ts';

/** More than a node that waits for each acknowledgement can send: at most one in 25 ms. */
const EVENTS_PER_MINUTE = 3000;
const BYTES_PER_MINUTE = 8 * 1024 * 1024;

interface Own {
  readonly events: TokenBucket;
  readonly bytes: TokenBucket;
}

/** How many events, and how much of them, the hub takes of one node in a minute. */
export class NodeQuota {
  readonly #monotonic: () => number;
  /** Only of nodes that are enrolled. */
  readonly #nodes = new Map<string, Own>();

  /** @param monotonic ms */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** @returns false for one that is too much now: it is not acknowledged, and the node sends it again later */
  take(node: string, bytes: number): boolean {
    const now = this.#monotonic();
    const own = this.#nodes.get(node) ?? {
      events: new TokenBucket(perMinute(EVENTS_PER_MINUTE), now),
      bytes: new TokenBucket(perMinute(BYTES_PER_MINUTE), now),
    };
    this.#nodes.set(node, own);
    return own.bytes.waitMs(now) === 0 && own.events.take(now) && own.bytes.take(now, bytes);
  }

  forget(node: string): void {
    this.#nodes.delete(node);
  }
}

function perMinute(amount: number) {
  return { perSecond: amount / 60, burst: amount };
}
