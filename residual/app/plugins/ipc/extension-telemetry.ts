import { TokenBucket } from '../../../../shared/async/token-bucket.ts';
import { type ExtensionValues, plainValues } from '../../../../shared/schemas/extension-values.ts';
import type { Vehicle } from './vehicle.ts';

/** As often as telemetry goes out. */
const RATE = { perSecond: 10, burst: 10 } as const;

/** What one extension adds to the telemetry of the node, over all of its connections. */
export class ExtensionTelemetry {
  readonly #id: string;
  readonly #vehicle: Vehicle;
  readonly #now: () => number;
  readonly #bucket: TokenBucket;
  #shown = false;

  /** @param now monotonic, ms */
  constructor(id: string, vehicle: Vehicle, now: () => number) {
    this.#id = id;
    this.#vehicle = vehicle;
    this.#now = now;
    this.#bucket = new TokenBucket(RATE, now());
  }

  /** @param values valid by `extensionValues` @throws Error: too many, too long; ApiError of svc-link */
  async extend(values: ExtensionValues): Promise<void> {
    if (!this.#bucket.take(this.#now())) throw new Error(`at most ${RATE.perSecond} times a second`);
    const plain = plainValues(values);
    this.#shown = true;
    await this.#vehicle.extend(this.#id, plain);
  }

  /** Nothing of it is shown any more; if svc-link is away, there is nothing that it could show. */
  clear(): void {
    if (!this.#shown) return;
    this.#shown = false;
    this.#vehicle.extend(this.#id, null).catch(() => undefined);
  }
}
