import { Denial } from '../denial.ts';
import type { Principal } from '../principal.ts';
import { NodeClient, type NodeTarget } from './node-client.ts';

/** The nodes that this connector reaches. */

export type Mode = 'agent' | 'local-fleet';

/** The name of the node until it has reported its device id, and an alias afterwards. */
export const LOCAL = 'local';

export class Plane {
  readonly mode: Mode;
  readonly #nodes: Map<string, NodeClient>;

  /** @throws Error when two nodes have the same id */
  constructor(mode: Mode, targets: readonly NodeTarget[]) {
    this.mode = mode;
    this.#nodes = new Map();
    for (const target of targets) {
      if (this.#nodes.has(target.id)) throw new Error(`two nodes are called ${target.id}`);
      this.#nodes.set(target.id, new NodeClient(target));
    }
  }

  get nodes(): readonly NodeClient[] {
    return [...this.#nodes.values()];
  }

  /**
   * The node that a call is for.
   * @param wanted the argument `node`; optional if there is only one node
   * @throws Denial node_required, node_not_allowed
   */
  resolve(wanted: unknown, principal: Principal): NodeClient {
    const [only, ...others] = this.#nodes.values();
    const named =
      typeof wanted === 'string'
        ? (this.#nodes.get(wanted) ?? (wanted === LOCAL && others.length === 0 ? only : undefined))
        : undefined;
    const node = wanted === undefined && others.length === 0 ? only : named;
    if (node === undefined) {
      const known = this.nodes.map(({ target }) => target.id);
      if (wanted === undefined) throw new Denial('node_required', undefined, { nodes: known });
      throw new Denial('node_not_allowed', 'There is no such node here.', {
        nodes: known,
      });
    }
    // In agent mode the node's id may be unknown; the node itself refuses tokens of other nodes.
    const { id } = node.target;
    if (principal.deviceId !== null && id !== LOCAL && principal.deviceId !== id)
      throw new Denial('node_not_allowed', `The token belongs to ${principal.deviceId}.`);
    return node;
  }
}
