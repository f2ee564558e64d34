import { every } from '../../shared/async/every.ts';
import { enabledFeatures } from '../../shared/config/features.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { FEATURES } from '../../shared/profile.ts';
import { type Running, unserved } from '../../shared/routes/served.ts';
import type { RowId } from '../../shared/routes/typed-row.ts';
import { Denial } from '../denial.ts';
import { ownPrincipal, type Principal } from '../principal.ts';
import { asRecord, rowOf } from '../rows.ts';
import { askOf } from './ask.ts';
import type { NodeClient } from './node-client.ts';

/** How long an answer is believed: features change with a restart of the node. */
const KNOWN_MS = 60_000;
/** How often a node that has not said yet is asked. */
const WATCH_MS = 5000;
const ASK_MS = 2000;

interface OffersOptions {
  readonly nodes: () => readonly NodeClient[];
  /** The token that the connector was launched with, for nodes whose pairing key it does not have. */
  readonly launched: Principal | null;
  /** A node has said what it runs, so that the list of tools may be another. */
  readonly onChange: () => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Which tools the nodes have routes for: the route table with each node's own profile and features, by the rule that makes the
 * node answer 501. While a node has not said what it runs, it counts as having all of them.
 */
export class Offers {
  readonly #options: OffersOptions;
  readonly #known = new Map<NodeClient, { readonly running: Running; readonly at: number }>();
  /** Nodes that refuse the connector's own credential: they would write each try into their audit. */
  readonly #refused = new Set<NodeClient>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  /** Asks the nodes that were away, until they answer. */
  start(): void {
    const { nodes, onChange } = this.#options;
    this.#timer = every(WATCH_MS, 'offers', async () => {
      const silent = nodes().filter((node) => !this.#known.has(node));
      const answers = await Promise.all(silent.map(async (node) => this.#askAsOurselves(node)));
      if (answers.includes(true)) onChange();
    });
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /**
   * Refreshes what is known, where it is old. A node that does not answer keeps what it said last.
   * @param caller asks where the connector has no credential of its own
   */
  async refresh(caller: Principal): Promise<void> {
    const { nodes, now } = this.#options;
    const old = nodes().filter((node) => now() - (this.#known.get(node)?.at ?? -Infinity) >= KNOWN_MS);
    await Promise.all(
      old.map(async (node) => {
        if (!(await this.#askAsOurselves(node)) && caller.token !== null) await this.#ask(node, caller);
      }),
    );
  }

  /** Whether at least one node serves all routes of the tool, as far as is known; also while there is no node yet. */
  has({ routes }: { readonly routes: readonly RowId[] }): boolean {
    const rows = routes.map(rowOf);
    const nodes = this.#options.nodes();
    if (nodes.length === 0) return true;
    return nodes.some((node) => {
      const known = this.#known.get(node);
      return known === undefined || rows.every((row) => unserved(row, known.running) === null);
    });
  }

  async #askAsOurselves(node: NodeClient): Promise<boolean> {
    if (this.#refused.has(node)) return false;
    const answer = await this.#ask(node, ownPrincipal(node.target.key, this.#options.launched));
    if (answer === 'refused') this.#refused.add(node);
    return answer === 'said';
  }

  async #ask(node: NodeClient, principal: Principal): Promise<'said' | 'away' | 'refused'> {
    try {
      const running = runningBy(await askOf(node, principal)('config.get', { timeoutMs: ASK_MS }));
      this.#known.set(node, { running, at: this.#options.now() });
      return 'said';
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      this.#options.log.debug(`${node.target.id}: what it runs is not known (${messageOf(error)})`);
      return error.reason === 'rest_down' || error.reason === 'rate_limited' ? 'away' : 'refused';
    }
  }
}

/** @param config of the node, masked or not */
function runningBy(config: unknown): Running {
  const { agent, features } = asRecord(config);
  const profile = asRecord(agent)['profile'] === 'ground-station' ? 'ground-station' : 'drone';
  const given = asRecord(features);
  const set = FEATURES.filter((feature) => typeof given[feature] === 'boolean');
  return {
    profile,
    features: enabledFeatures({
      agent: { profile },
      features: Object.fromEntries(set.map((feature) => [feature, given[feature] === true])),
    }),
    residual: given['residual'] !== false,
  };
}
