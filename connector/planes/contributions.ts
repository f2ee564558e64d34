import { every } from '../../shared/async/every.ts';
import { messageOf } from '../../shared/errors.ts';
import { type JsonObject, listOf } from '../../shared/member.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Denial } from '../denial.ts';
import { ownPrincipal, type Principal } from '../principal.ts';
import { asRecord } from '../rows.ts';
import { askOf } from './ask.ts';
import type { NodeClient } from './node-client.ts';
import { sideBySide } from './side-by-side.ts';

/** How often the nodes' lists of extensions are read. */
const WATCH_MS = 2000;
const ASK_MS = 4000;
const MAX_EXTENSIONS = 64;
/** As the manifest has it; it stands in titles. */
const ID = /^[a-z0-9][a-z0-9.-]{0,127}$/;

/** What one extension of one node offers, as the node tells it. */
export interface Offered {
  readonly node: NodeClient;
  /** Id of the extension. */
  readonly id: string;
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
}

interface ContributionsOptions {
  readonly nodes: () => readonly NodeClient[];
  /** How often they are read, ms. */
  readonly watchMs?: number;
  /** The token that the connector was launched with, for nodes whose pairing key it does not have. */
  readonly launched: Principal | null;
  /** Something came, went or changed its class. */
  readonly onChange: () => void;
  readonly log: Logger;
}

/**
 * Tools, resources and prompts of the nodes' extensions, where they were granted `mcp.expose`. A node that is away keeps what it
 * offered: its tools then say that it is away.
 */
export class Contributions {
  readonly #options: ContributionsOptions;
  readonly #offered = new Map<NodeClient, { readonly list: string; readonly offered: readonly Offered[] }>();
  #timer: NodeJS.Timeout | null = null;
  #looked = '';

  constructor(options: ContributionsOptions) {
    this.#options = options;
  }

  /** Without waiting for the first answers, so that a node that is away does not delay the start. */
  start(): void {
    void this.#look();
    this.#timer = every(this.#options.watchMs ?? WATCH_MS, 'extensions of the nodes', async () =>
      this.#look(),
    );
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  get all(): readonly Offered[] {
    return [...this.#offered.values()].flatMap(({ offered }) => offered);
  }

  async #look(): Promise<void> {
    // Those that have offered something too: a node that has left a fleet says so.
    const nodes = new Set([...this.#options.nodes(), ...this.#offered.keys()]);
    await sideBySide([...nodes], async (node) => this.#lookAt(node));
    const now = JSON.stringify(this.all.map(({ node, ...offered }) => [node.target.id, offered]));
    if (now === this.#looked) return;
    this.#looked = now;
    this.#options.onChange();
  }

  async #lookAt(node: NodeClient): Promise<void> {
    const { launched, log } = this.#options;
    const principal = ownPrincipal(node.target.key, launched);
    const ask = askOf(node, principal);
    try {
      const { installs } = await ask('plugins.get', { timeoutMs: ASK_MS });
      // Nobody waits for this: what a node says must not end the connector.
      const exposed = listOf(installs)
        .map(asRecord)
        .filter((record) => ID.test(String(record['plugin_id'])) && isExposed(record))
        .slice(0, MAX_EXTENSIONS);
      // The classes of its tools follow from its grants, which are in the record.
      const list = JSON.stringify(exposed);
      if (this.#offered.get(node)?.list === list) return;
      const offered: Offered[] = [];
      for (const record of exposed) {
        const id = String(record['plugin_id']);
        const { manifest } = await ask('plugins.id.get', { params: { id }, timeoutMs: ASK_MS });
        const mcp = asRecord(asRecord(manifest)['mcp']);
        const of = (kind: string): Offered['tools'] =>
          listOf(mcp[kind])
            .map(asRecord)
            .filter(({ half }) => half === 'agent');
        offered.push({ node, id, tools: of('tools'), resources: of('resources'), prompts: of('prompts') });
      }
      this.#offered.set(node, { list, offered });
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      // Not away, but without extensions, or not for us.
      if (error.reason !== 'rest_down' && error.reason !== 'rate_limited') this.#offered.delete(node);
      log.debug(`${node.target.id}: its extensions are not known (${messageOf(error)})`);
    }
  }
}

/** Granted by a person on the node, and not switched off. */
function isExposed({ permissions, status }: JsonObject): boolean {
  return asRecord(asRecord(permissions)['mcp.expose'])['granted'] === true && status !== 'disabled';
}
