import { every } from '../../shared/async/every.ts';
import { type SeenVehicle, seenIn } from '../../shared/flight/seen.ts';
import type { ConfirmedBy } from '../audit/audit.ts';
import { Denial } from '../denial.ts';
import { askOf } from '../planes/ask.ts';
import type { NodeClient } from '../planes/node-client.ts';
import { sideBySide } from '../planes/side-by-side.ts';
import { ownPrincipal, type Principal } from '../principal.ts';

/**
 * Whose flight it is: what a person approved when it began, a signed take-off or plan or one under a hold, covers the way down of the same
 * caller until the vehicle has landed (decisions 30). In memory: after a restart a person is asked again.
 */

const BEGINS: ReadonlySet<string> = new Set(['flight_takeoff', 'flight_run', 'mission_start']);
/** What ends a flight; nothing else is covered. */
const COVERED: ReadonlySet<string> = new Set(['flight_stop', 'flight_land', 'flight_rtl']);

const WATCH_MS = 2000;
const LOOK_MS = 3000;
/** A take-off that was approved, and has not begun by then, was none. */
const BEGIN_MS = 60_000;
/** Longer than a multicopter flies; then a person is asked again. */
const LONGEST_MS = 4 * 3600_000;
// More than anybody flies at once; the oldest are forgotten.
const MAX_FLIGHTS = 256;

interface Flight {
  readonly node: NodeClient;
  readonly principal: string;
  /** Steady, ms. */
  readonly at: number;
  /** Whether it has been seen armed, and in the air. */
  wasArmed: boolean;
  wasInAir: boolean;
}

interface WayDownOptions {
  /** As FlightSafety has it: for nodes whose pairing key the connector does not have. */
  readonly launched: Principal | null;
  /** Steady, ms. */
  readonly now: () => number;
  readonly watchMs?: number;
}

/** As much of a call as counts here. */
interface FlownCall {
  readonly tool: { readonly name: string };
  readonly node: NodeClient;
  readonly principal: Principal;
}

/** As much of its grant. */
interface Approval {
  readonly by: ConfirmedBy | null;
  readonly take: () => Promise<void>;
  readonly settle: (done: boolean) => void;
}

export class WayDown {
  readonly #options: WayDownOptions;
  /** The oldest first. */
  #flights: readonly Flight[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(options: WayDownOptions) {
    this.#options = options;
  }

  /** Looks at the vehicles of known flights, so that a landing is not missed. */
  start(): void {
    this.#timer = every(this.#options.watchMs ?? WATCH_MS, 'way down', async () => {
      await sideBySide([...new Set(this.#flights.map(({ node }) => node))], async (node) => this.#look(node));
    });
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** The grant of a call that a person approved; where the call begins a flight, this flight is known from then on. */
  follow<G extends Approval>({ tool, node, principal }: FlownCall, grant: G): G {
    const approved = grant.by === 'signature' || grant.by === 'presence';
    // A node of a fleet wants a person's signature over each request itself.
    if (!approved || !BEGINS.has(tool.name) || node.presence !== null) return grant;
    let begins = false;
    return {
      ...grant,
      take: async () => {
        await grant.take();
        // A vehicle that another has brought into the air is not this caller's to land, unless a person signed a plan for it.
        begins = tool.name === 'flight_run' || (await this.#seen(node))?.phase !== 'in_air';
      },
      settle: (done) => {
        grant.settle(done);
        if (done && begins) this.#begin(node, principal.id);
      },
    };
  }

  /** Whether the approval of a flight under way covers this call. */
  async covers({ tool, node, principal }: FlownCall): Promise<boolean> {
    if (!COVERED.has(tool.name) || node.presence !== null) return false;
    const isKnown = (): boolean =>
      this.#flights.some((flight) => flight.node === node && flight.principal === principal.id);
    if (!isKnown()) return false;
    await this.#look(node);
    return isKnown();
  }

  #begin(node: NodeClient, principal: string): void {
    const others = this.#flights.filter((flight) => flight.node !== node || flight.principal !== principal);
    const flight = { node, principal, at: this.#options.now(), wasArmed: false, wasInAir: false };
    this.#flights = [...others, flight].slice(-MAX_FLIGHTS);
  }

  /** Forgets the flights of this node that are over. */
  async #look(node: NodeClient): Promise<void> {
    const seen = await this.#seen(node);
    const now = this.#options.now();
    this.#flights = this.#flights.filter((flight) => {
      if (flight.node !== node) return true;
      if (now - flight.at > LONGEST_MS) return false;
      if (seen === null) return true; // who cannot be seen may be in the air
      flight.wasArmed ||= seen.armed === true;
      flight.wasInAir ||= seen.phase === 'in_air';
      const isLate = now - flight.at > BEGIN_MS;
      if (seen.phase === 'disarmed') return !flight.wasArmed && !isLate;
      if (seen.phase === 'on_ground') return !flight.wasInAir && !isLate;
      return true;
    });
  }

  /** Null: not known. */
  async #seen(node: NodeClient): Promise<SeenVehicle | null> {
    try {
      const ask = askOf(node, ownPrincipal(node.target.key, this.#options.launched));
      const seen = seenIn(await ask('telemetry.get', { timeoutMs: LOOK_MS }));
      return seen.alive ? seen : null;
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      return null;
    }
  }
}

/** Why the way down is not covered, where a caller might think that it is. */
export function forgotten({ tool }: FlownCall): string {
  return COVERED.has(tool.name)
    ? ' This caller began no approved flight that is still under way here; a restart of the connector forgets them.'
    : '';
}
