import { TokenBucket } from '../../../../shared/async/token-bucket.ts';
import { batchOf, type PublishedBatch } from '../../../../shared/plugins/detections.ts';
import type { Batch } from '../../../../shared/schemas/vision.ts';
import type { DetectionFeed } from '../../vision/detection-feed.ts';

/** As many as the fastest detector of the node may make. */
const RATE = { perSecond: 30, burst: 30 } as const;
/** Older or later ones are of another clock than the pictures are. */
const CLOCK_MS = 10_000;

/** The detections of the node, as one extension publishes and hears them, over all of its connections. */
export class ExtensionDetections {
  readonly #id: string;
  readonly #feed: DetectionFeed;
  readonly #now: () => number;
  readonly #wall: () => number;
  readonly #bucket: TokenBucket;

  /** @param now monotonic, ms @param wall Unix time, ms */
  constructor(id: string, feed: DetectionFeed, now: () => number, wall: () => number) {
    this.#id = id;
    this.#feed = feed;
    this.#now = now;
    this.#wall = wall;
    this.#bucket = new TokenBucket(RATE, now());
  }

  /** @param args valid by `publishedBatch` @throws Error: too many, or of another time */
  publish(args: PublishedBatch): void {
    if (!this.#bucket.take(this.#now())) throw new Error(`at most ${RATE.perSecond} batches a second`);
    const batch = batchOf(this.#id, args);
    if (Math.abs(batch.ts_ms - this.#wall()) > CLOCK_MS)
      throw new Error(`ts_ms: Unix time in ms, within ${CLOCK_MS / 1000} s of the node's clock`);
    this.#feed.publish(batch);
  }

  /** Batches of others: an extension that publishes what it makes of them must not hear itself. @returns how to unsubscribe */
  subscribe(listener: (batch: Batch) => void): () => void {
    return this.#feed.subscribe((batch) => {
      if (batch.source !== this.#id) listener(batch);
    });
  }
}
