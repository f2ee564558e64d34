import { NotBelieved, verifyStatement } from '../../../shared/fleet/signed.ts';
import type { Nonces } from './nonces.ts';
import type { PolicyStore } from './policy-store.ts';

/** How long a nonce may be good, ms: a statement that was here before is old by then. */
const KEPT_MS = 60_000;
/** A hub says it every few seconds. */
const MAX_KEPT = 256;

interface WatchesOptions {
  readonly node: string;
  readonly policy: Pick<PolicyStore, 'key'>;
  readonly nonces: Pick<Nonces, 'ageOf'>;
  /** The most that the config allows, a second. */
  readonly telemetryHz: number;
  readonly picturesHz: number;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

/** How often this node tells, and for how long. */
export interface Watched {
  readonly telemetry_hz: number;
  readonly pictures_hz: number;
  readonly seconds: number;
}

/** Believes the hub when it says that somebody looks at this node: only for this node, only now, and each statement once. */
export class Watches {
  readonly #options: WatchesOptions;
  /** By jti, the oldest first: when it came. */
  readonly #seen = new Map<string, number>();

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  /** @throws NotBelieved */
  async take(jws: string): Promise<Watched> {
    const { node, policy, nonces, telemetryHz, picturesHz, now } = this.#options;
    const { payload } = await verifyStatement('svc-watch', jws, (kid) => policy.key(kid));
    if (payload.node !== node) throw new NotBelieved('svc-watch: for another node');
    if (nonces.ageOf(payload.nonce) !== 'fresh') throw new NotBelieved('svc-watch: its nonce is old');
    for (const [jti, at] of this.#seen) {
      if (now() - at < KEPT_MS) break;
      this.#seen.delete(jti);
    }
    if (this.#seen.has(payload.jti)) throw new NotBelieved('svc-watch: it was here before');
    if (this.#seen.size >= MAX_KEPT) throw new NotBelieved('svc-watch: too many in a minute');
    this.#seen.set(payload.jti, now());
    return {
      telemetry_hz: Math.min(payload.telemetry_hz, telemetryHz),
      pictures_hz: Math.min(payload.pictures_hz, picturesHz),
      seconds: payload.seconds,
    };
  }
}
