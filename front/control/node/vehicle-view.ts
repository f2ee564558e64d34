import { tellAll } from '../../../shared/async/tell.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import type { OnProgress } from '../../../shared/routes/handler.ts';
import { type Calls, type Client, clientOf } from '../../../shared/rpc/contract.ts';
import { LINK } from '../../../shared/rpc/link.ts';
import type { WorkProgress } from '../../../shared/rpc/link-answers.ts';
import type { LinkState } from '../../../shared/rpc/link-state.ts';
import { telemetryOf } from '../../../shared/rpc/telemetry-body.ts';

const STALE_MS = 3000;

/**
 * The front's view of the vehicle: the newest state that svc-link sent, and how far it can be trusted. Without a link process
 * the motors may be running, so its silence means `unknown`.
 */
export class VehicleView {
  readonly #client: Client<typeof LINK>;
  readonly #now: () => number;
  #state: LinkState | null = null;
  #telemetryText: string | null = null;
  #receivedAt = 0;
  /** By the token of the call. */
  readonly #followers = new Map<string, OnProgress>();
  readonly #listeners = new Set<(state: LinkState) => void>();

  /** @param now monotonic clock, ms */
  constructor(socketPath: string, now: () => number) {
    this.#now = now;
    this.#client = clientOf(LINK, {
      path: socketPath,
      // What a process said that is gone is not what the next one says.
      onConnection: () => {
        this.#state = null;
      },
      listeners: {
        state: (state) => this.#receive(state),
        progress: ({ token, ...progress }: WorkProgress) => this.#followers.get(token)?.(progress),
      },
    });
  }

  /** What svc-link can be asked for. */
  get link(): Calls<typeof LINK> {
    return this.#client.calls;
  }

  /** Runs a call that names `token`, and tells its progress meanwhile. */
  async follow<T>(token: string, onProgress: OnProgress, call: () => Promise<T>): Promise<T> {
    this.#followers.set(token, onProgress);
    try {
      return await call();
    } finally {
      this.#followers.delete(token);
    }
  }

  /** Whether svc-link is there. */
  get connected(): boolean {
    return this.#client.connected;
  }

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#client.stop();
  }

  #receive(state: LinkState): void {
    this.#state = state;
    this.#telemetryText = null;
    this.#receivedAt = this.#now();
    tellAll('the vehicle', this.#listeners, state);
  }

  /** Calls `listener` with every new state. @returns a function that stops this */
  subscribe(listener: (state: LinkState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with the first state, or after `timeoutMs` where svc-link is away, or when `signal` is aborted. */
  async first(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.state !== null || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(late);
        signal.removeEventListener('abort', done);
        end();
        resolve();
      };
      const end = this.subscribe(done);
      const late = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done);
    });
  }

  /** The newest state while it is fresh (3 s), else null. */
  get state(): LinkState | null {
    return this.#client.connected && this.#now() - this.#receivedAt <= STALE_MS ? this.#state : null;
  }

  /** The body of GET /api/telemetry, made once for each state; null if `state` is null. */
  get telemetryText(): string | null {
    const { state } = this;
    if (state === null) return null;
    this.#telemetryText ??= JSON.stringify(telemetryOf(state));
    return this.#telemetryText;
  }

  /** The armed state for the armed guard. */
  get armed(): Armed {
    return this.state?.guard ?? 'unknown';
  }

  /** The same of every vehicle on the link: what cuts the link asks about all. */
  get anyArmed(): Armed {
    return this.state?.guard_any ?? 'unknown';
  }
}
