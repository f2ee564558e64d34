import { every } from '../../shared/async/every.ts';
import { messageOf } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/member.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Denial } from '../denial.ts';
import { type Ask, askOf } from '../planes/ask.ts';
import type { NodeClient } from '../planes/node-client.ts';
import { sideBySide } from '../planes/side-by-side.ts';
import { ownPrincipal, type Principal } from '../principal.ts';
import { asRecord } from '../rows.ts';

/**
 * The conditions for flight tools: either the node's MAVLink endpoints enforce the armed guard (declared with
 * --flight-enforced, and checked in the node's config), or the node flies a simulator (--sim; the node is asked at every call,
 * since a simulator may be replaced by an aircraft). The connector asks with its own credential. What it cannot find out counts
 * against flight, and is asked again at the next call.
 */

export interface FlightSafetyOptions {
  /** --flight-enforced */
  readonly declared: boolean;
  /** --sim, once every target has proven to be a simulator */
  readonly simulator: boolean;
  /** How often nodes are looked at without a call, ms. */
  readonly watchMs?: number;
  /** The token that the connector was launched with, for nodes whose pairing key it does not have. */
  readonly launched: Principal | null;
  /** Called when flight tools appear or disappear, so that clients read the list again. */
  readonly onChange: () => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** How long an answer is believed. The simulator is checked at every call. */
const CONFIG_MS = 5000;
/** How often it is checked without a call. */
const WATCH_MS = 5000;

/** What is known about one node; `unknown`: it did not say. */
type Enforced = 'yes' | 'no' | 'unknown';

export class FlightSafety {
  readonly #options: FlightSafetyOptions;
  /** Answers only, by node. */
  readonly #known = new Map<
    NodeClient,
    { readonly enforced: Exclude<Enforced, 'unknown'>; readonly at: number }
  >();

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
  start(nodes: () => readonly NodeClient[]): void {
    if (!this.#shown) return;
    const look = async (): Promise<void> => {
      const states = await sideBySide(nodes(), async (node) => this.#look(node));
      // While a node does not say, the list stays as it is; a call is refused anyway.
      if (states.includes('yes')) this.#show(true);
      else if (!states.includes('unknown')) this.#show(false);
    };
    this.#timer = every(this.#options.watchMs ?? WATCH_MS, 'flight tools', look);
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

  /** @throws Denial ws_proxy_enforce_off, with the cause */
  async check(node: NodeClient): Promise<void> {
    switch (await this.#look(node)) {
      case 'yes':
        return;
      case 'no':
        throw new Denial('ws_proxy_enforce_off');
      case 'unknown':
        throw new Denial(
          'ws_proxy_enforce_off',
          `Flight tools are off: it cannot be checked that ${node.target.id} enforces the armed guard. The connector needs its pairing key (SVC_MCP_AGENT_KEY or the fleet file), or a launch token with the scope read, and the node must answer.`,
        );
    }
  }

  /** Whether the node says, now, that its flight controller is a simulator. Over a fleet the node wants a person all the same. */
  async isWaived(node: NodeClient): Promise<boolean> {
    return node.presence === null && (await this.#simulated(node)) === 'yes';
  }

  /**
   * The pilot in command at this ground station, if a person claimed it: with the pairing key or a dashboard session, whose
   * heartbeats keep it. A token's claim is no presence. Null where there is none, or it cannot be known.
   */
  async pilotPresent(node: NodeClient): Promise<string | null> {
    try {
      const { claimed_by: pilot, by } = await this.#ask(node)('ground-station.pic.get');
      return typeof pilot === 'string' && (by === 'key' || by === 'session') ? pilot : null;
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      return null; // a drone has no pilot in command, and who does not answer proves nobody's presence
    }
  }

  async #look(node: NodeClient): Promise<Enforced> {
    const simulated = await this.#simulated(node);
    if (simulated === 'yes' || !this.#options.declared) return simulated;
    const { now } = this.#options;
    const known = this.#known.get(node);
    if (known !== undefined && now() - known.at < CONFIG_MS) return known.enforced;
    const enforced = await this.#endpoints(node);
    if (enforced !== 'unknown') this.#known.set(node, { enforced, at: now() });
    return enforced;
  }

  async #simulated(node: NodeClient): Promise<Enforced> {
    if (!this.#options.simulator) return 'no';
    try {
      return (await isSimulated(node, this.#own(node))) ? 'yes' : 'no';
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      return 'unknown';
    }
  }

  /** Whether no endpoint of the node overrides the armed guard. */
  async #endpoints(node: NodeClient): Promise<Enforced> {
    try {
      const config: JsonObject = await this.#ask(node)('config.get');
      const { endpoints } = asRecord(config['mavlink']);
      if (!Array.isArray(endpoints)) return 'unknown';
      const open = endpoints.filter((endpoint) => String(endpoint).includes('force=1'));
      if (open.length > 0)
        this.#options.log.warn(
          `${node.target.id}: flight tools are off, because ${open.join(', ')} has no armed guard`,
        );
      return open.length === 0 ? 'yes' : 'no';
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      this.#options.log.warn(`${node.target.id}: its config cannot be read (${messageOf(error)})`);
      return 'unknown';
    }
  }

  #ask(node: NodeClient): Ask {
    return askOf(node, this.#own(node));
  }

  #own(node: NodeClient): Principal {
    return ownPrincipal(node.target.key, this.#options.launched);
  }
}

/** @throws Denial where the node does not answer */
export async function isSimulated(node: NodeClient, principal: Principal): Promise<boolean> {
  return (await askOf(node, principal)('status.get')).fc_simulated === true;
}
