import { type Rate, TokenBucket } from '../../../shared/async/token-bucket.ts';
import { MAX_PICTURE_BYTES } from '../../../shared/fleet/told.ts';
import type { NodeTopic } from '../../../shared/fleet/topics.ts';

const MIB = 1024 * 1024;

/** How many messages, and how many bytes of them, the hub takes in a minute. */
const MOST = {
  /** One a connection, and again after the will of the one before. */
  presence: { messages: perMinute(60), bytes: perMinute(MIB) },
  /** One in 10 s, and at each change of mode, arming or link. */
  status: { messages: perMinute(240), bytes: perMinute(4 * MIB) },
  /** Ten a second are the most that a node can be set to; twice that, for what came late. */
  telemetry: { messages: perMinute(1200), bytes: perMinute(16 * MIB) },
  /** Five a second. */
  picture: { messages: perMinute(600), bytes: perMinute(600 * MAX_PICTURE_BYTES) },
  /** More than a node that waits for each acknowledgement can send: at most one in 25 ms. */
  event: { messages: perMinute(3000), bytes: perMinute(8 * MIB) },
} as const satisfies Record<NodeTopic, Readonly<Record<'messages' | 'bytes', Rate>>>;

type Own = Readonly<Record<'messages' | 'bytes', TokenBucket>>;

/** What the hub takes of one node, so that one that tells far more often than it should costs the others nothing. */
export class NodeQuota {
  readonly #monotonic: () => number;
  /** Only of nodes that are enrolled, and of what they tell. */
  readonly #nodes = new Map<string, Map<NodeTopic, Own>>();

  /** @param monotonic ms */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** @returns false for one that is too much now: an event is not acknowledged then, and the node sends it again later */
  take(node: string, what: NodeTopic, bytes: number): boolean {
    const now = this.#monotonic();
    const told = this.#nodes.get(node) ?? new Map<NodeTopic, Own>();
    this.#nodes.set(node, told);
    const own = told.get(what) ?? {
      messages: new TokenBucket(MOST[what].messages, now),
      bytes: new TokenBucket(MOST[what].bytes, now),
    };
    told.set(what, own);
    return own.bytes.waitMs(now) === 0 && own.messages.take(now) && own.bytes.take(now, bytes);
  }

  forget(node: string): void {
    this.#nodes.delete(node);
  }
}

function perMinute(amount: number): Rate {
  return { perSecond: amount / 60, burst: amount };
}
