import { every } from '../../shared/async/every.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Denial } from '../denial.ts';
import type { NodeClient } from '../planes/node-client.ts';
import { type Principal, STDIO } from '../principal.ts';

/**
 * The conditions for flight tools: either the node's MAVLink endpoints enforce the armed guard (declared with
 * --flight-enforced, and checked if the config can be read), or the node flies a simulator (--sim; the node is asked at every
 * call, since a simulator may be replaced by an aircraft).
 */

export interface FlightSafetyOptions {
  /** --flight-enforced */
  readonly declared: boolean;
  /** --sim, once every target has proven to be a simulator */
  readonly simulator: boolean;
  /** Called when flight tools appear or disappear, so that clients read the list again. */
  readonly onChange: () => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** How long the config is cached. The simulator is checked at every call. */
const CONFIG_MS = 5000;
/** How often it is checked without a call. */
const WATCH_MS = 5000;

export class FlightSafety {
  readonly #options: FlightSafetyOptions;
  readonly #enforced = new Map<string, { readonly value: boolean; readonly at: number }>();

  #shown: boolean;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: FlightSafetyOptions) {
    this.#options = options;
    this.#shown = options.declared || options.simulator;
  }

  /** Whether to show flight tools: they are usable on at least one node, as far as is known. */
  get shown(): boolean {
    return this.#shown;
  }

  /** Checks the nodes from time to time, so that the list of tools is right even without a call. */
  start(nodes: readonly NodeClient[]): void {
    if (!this.#shown) return;
    const look = async (): Promise<void> => {
      const usable = await Promise.all(nodes.map(async (node) => this.isEnforced(node, STDIO)));
      this.#show(usable.includes(true));
    };
    this.#timer = every(WATCH_MS, 'flight tools', look);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #show(shown: boolean): void {
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#options.log.warn(shown ? 'flight tools are on again' : 'flight tools are off');
    this.#options.onChange();
  }

  async isEnforced(node: NodeClient, principal: Principal): Promise<boolean> {
    if (await this.isWaived(node, principal)) return true;
    if (!this.#options.declared) return false;
    const { now } = this.#options;
    const known = this.#enforced.get(node.target.id);
    if (known !== undefined && now() - known.at < CONFIG_MS) return known.value;
    const value = await this.#holds(node, principal);
    this.#enforced.set(node.target.id, { value, at: now() });
    return value;
  }

  /** Whether the node says, now, that its flight controller is a simulator. */
  async isWaived(node: NodeClient, principal: Principal): Promise<boolean> {
    if (!this.#options.simulator) return false;
    try {
      return await isSimulated(node, principal);
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      return false; // no answer: not a simulator
    }
  }

  /** True if no endpoint of the node overrides the armed guard. If the config cannot be read, --flight-enforced decides. */
  async #holds(node: NodeClient, principal: Principal): Promise<boolean> {
    try {
      const config = (await node.json({ method: 'GET', path: '/api/config' }, principal)) as {
        readonly mavlink?: { readonly endpoints?: readonly unknown[] };
      };
      const open = (config.mavlink?.endpoints ?? []).filter((endpoint) =>
        String(endpoint).includes('force=1'),
      );
      if (open.length > 0)
        this.#options.log.warn(
          `${node.target.id}: flight tools are off, because ${open.join(', ')} has no armed guard`,
        );
      return open.length === 0;
    } catch (error) {
      this.#options.log.warn(
        `${node.target.id}: its config cannot be read (${messageOf(error)}); --flight-enforced stands`,
      );
      return true;
    }
  }
}

/** @throws Denial where the node does not answer */
export async function isSimulated(node: NodeClient, principal: Principal): Promise<boolean> {
  const status = (await node.json({ method: 'GET', path: '/api/status' }, principal)) as {
    readonly fc_simulated?: unknown;
  };
  return status.fc_simulated === true;
}
