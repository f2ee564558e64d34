import { every } from '../../shared/async/every.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Denial } from '../denial.ts';
import type { NodeClient } from '../planes/node-client.ts';
import { type Principal, STDIO } from '../principal.ts';

/**
 * What makes flight tools reachable at all: that the node's MAVLink endpoints hold the armed guard (declared with
 * --flight-enforced, and checked where the config can be read), and the simulator waiver (--sim, asked of the node, and asked
 * again: a simulator may be swapped for an aircraft while we run).
 */

export interface FlightSafetyOptions {
  /** --flight-enforced */
  readonly declared: boolean;
  /** --sim, once every target has proven to be a simulator */
  readonly simulator: boolean;
  /** Flight tools appeared or went: the lists that clients hold are old. */
  readonly onChange: () => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** How long an answer about the config is good for. The simulator is asked about at every call. */
const CONFIG_MS = 5000;
/** How often it is looked at without a call. */
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

  /** Whether flight tools are to be shown: they are usable on one node at least, as far as is known. */
  get shown(): boolean {
    return this.#shown;
  }

  /** Looks at the nodes from time to time, so that the list of tools is true without anybody calling one. */
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
      return false; // it cannot be asked: not a simulator
    }
  }

  /** No endpoint of the node lets ground stations past the armed guard. Where that cannot be read, the declaration stands. */
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
          `${node.target.id}: flight tools are off, because ${open.join(', ')} is not held back`,
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
