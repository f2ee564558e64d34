import { messageOf } from '../../shared/errors.ts';
import { MAX_CALL_BYTES } from '../../shared/fleet/told.ts';
import type { FleetLog } from './fleet-log.ts';

/** One caller must not keep the others out: an operator's stop may be among them. */
const AT_ONCE = { all: 8, perCaller: 4 } as const;
const WAITING = { all: 64, perCaller: 32 } as const;
/** How often dropped calls are told. */
const TELL_MS = 10_000;

interface Call {
  readonly caller: string;
  readonly jws: string;
}

interface CallCarrierOptions {
  /** Carries a call out. @returns the reply, null where it has none */
  readonly run: (call: Call) => Promise<string | null>;
  readonly reply: (caller: string, reply: string) => Promise<void>;
  readonly log: FleetLog;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/**
 * Takes calls to svc-control and replies back: some at once, some waiting, the others dropped, so that their callers see a
 * time-out. After a connection they wait until the policy has been read, which may have ended a caller.
 */
export class CallCarrier {
  readonly #options: CallCarrierOptions;
  readonly #running: Call[] = [];
  readonly #waiting: Call[] = [];
  #held = true;
  #dropped = 0;
  #toldAt = -Infinity;

  constructor(options: CallCarrierOptions) {
    this.#options = options;
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#next();
  }

  /** Calls whose callers have been told nothing yet are of no use to a new connection. */
  clear(): void {
    this.#waiting.length = 0;
  }

  take(caller: string, payload: Buffer): void {
    const full = this.#waiting.length >= WAITING.all || count(this.#waiting, caller) >= WAITING.perCaller;
    if (payload.length > MAX_CALL_BYTES) this.#drop('is longer than a call may be');
    else if (full) this.#drop('found too many waiting');
    else {
      this.#waiting.push({ caller, jws: payload.toString() });
      this.#next();
    }
  }

  #next(): void {
    while (!this.#held && this.#running.length < AT_ONCE.all) {
      const index = this.#waiting.findIndex(({ caller }) => count(this.#running, caller) < AT_ONCE.perCaller);
      const [call] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (call === undefined) return;
      this.#running.push(call);
      void this.#carry(call);
    }
  }

  async #carry(call: Call): Promise<void> {
    const { run, reply, log } = this.#options;
    try {
      const text = await run(call);
      if (text !== null) await reply(call.caller, text);
    } catch (error) {
      log.warn(`a call of ${call.caller} got no reply: ${messageOf(error)}`);
    } finally {
      this.#running.splice(this.#running.indexOf(call), 1);
      this.#next();
    }
  }

  #drop(why: string): void {
    this.#dropped++;
    const now = this.#options.now();
    if (now - this.#toldAt < TELL_MS) return;
    this.#toldAt = now;
    this.#options.log.warn(`dropped ${this.#dropped} calls; the newest ${why}`);
    this.#dropped = 0;
  }
}

function count(calls: readonly Call[], caller: string): number {
  return calls.filter((call) => call.caller === caller).length;
}
