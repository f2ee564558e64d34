import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { Denial } from '../denial.ts';
import type { NodeClient } from '../planes/node-client.ts';
import type { Principal } from '../principal.ts';

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
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** How long an answer about the config is good for. The simulator is asked about at every call. */
const CONFIG_MS = 5000;

export class FlightSafety {
  readonly #options: FlightSafetyOptions;
  readonly #enforced = new Map<string, { readonly value: boolean; readonly at: number }>();

  constructor(options: FlightSafetyOptions) {
    this.#options = options;
  }

  /** Whether flight tools are to be shown. */
  get declared(): boolean {
    return this.#options.declared || this.#options.simulator;
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
