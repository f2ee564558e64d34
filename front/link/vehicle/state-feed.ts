import type { LinkState } from '../../../shared/rpc/link-state.ts';
import type { Clock, Timer } from '../clock.ts';

const CHANGING_MS = 100;
const IDLE_MS = 500;

/**
 * Sends LinkState to the clients at the rates of the protocol: at once when the connection, arming or mode changes, every
 * 100 ms while telemetry comes, every 500 ms otherwise (a client without one for 3 s reads the link as unknown).
 */
export class StateFeed {
  readonly #clock: Clock;
  readonly #send: (state: LinkState) => void;
  /** Null before the start. */
  #state: (() => LinkState) | null = null;
  #timer: Timer | null = null;
  #changed = false;
  #sentAt = -Infinity;
  #sentKey = '';

  constructor(clock: Clock, send: (state: LinkState) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** @param state tells the state of this moment */
  start(state: () => LinkState): void {
    this.#state = state;
    // Also notices changes by time alone, such as a heartbeat that is too old.
    this.#timer = this.#clock.every(CHANGING_MS, () => this.#look(true));
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Some value has changed; it goes out with the next regular state. */
  telemetryChanged(): void {
    this.#changed = true;
  }

  /** Something that clients must know at once may have changed. */
  importantChanged(): void {
    this.#changed = true;
    this.#look(false);
  }

  #look(regular: boolean): void {
    const state = this.#state?.();
    if (state === undefined) return;
    const key = importantPart(state);
    const due = regular && (this.#changed || this.#clock.now() - this.#sentAt >= IDLE_MS);
    if (key === this.#sentKey && !due) return;
    this.#changed = false;
    this.#sentAt = this.#clock.now();
    this.#sentKey = key;
    this.#send(state);
  }
}

function importantPart(state: LinkState): string {
  const {
    transport_open,
    mavlink_alive,
    heard,
    armed,
    guard,
    guard_any: guardAny,
    system_id,
    simulated,
    params,
    telemetry,
    problems,
  } = state;
  return [
    transport_open,
    mavlink_alive,
    heard,
    armed,
    guard,
    guardAny,
    system_id,
    simulated,
    params.priming,
    telemetry.mode,
    ...problems.map(({ code }) => code),
  ].join();
}
