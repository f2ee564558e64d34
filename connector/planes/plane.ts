import { Denial } from '../denial.ts';
import { type Principal, STDIO } from '../principal.ts';
import { NodeClient, type NodeTarget } from './node-client.ts';

/** The nodes that this connector reaches. */

export type Mode = 'agent' | 'local-fleet';

/** The name of the node until it has reported its device id, and an alias afterwards. */
export const LOCAL = 'local';
const IDENTITY_MS = 2000;

export class Plane {
  readonly mode: Mode;
  readonly nodes: readonly NodeClient[];

  /** @throws Error when two nodes have the same id */
  constructor(mode: Mode, targets: readonly NodeTarget[]) {
    this.mode = mode;
    for (const [index, { id }] of targets.entries())
      if (targets.findIndex((other) => other.id === id) !== index)
        throw new Error(`two nodes are called ${id}`);
    this.nodes = targets.map((target) => new NodeClient(target));
  }

  /** Asks a node that has not said yet who it is. @returns whether there is something new */
  async learn(): Promise<boolean> {
    const nameless = this.nodes.find(({ target }) => target.id === LOCAL);
    if (nameless === undefined) return false;
    try {
      const request = { method: 'GET', path: '/api/pairing/info', timeoutMs: IDENTITY_MS };
      const info = (await nameless.json(request, STDIO)) as Readonly<Record<string, unknown>> | null;
      const { device_id: id, name } = info ?? {};
      if (typeof id !== 'string') return false;
      nameless.identify(id, typeof name === 'string' ? name : null);
      return true;
    } catch (error) {
      if (error instanceof Denial) return false; // it is away
      throw error;
    }
  }

  /**
   * The node that a call is for.
   * @param wanted the argument `node`; optional if there is only one node
   * @throws Denial node_required, node_not_allowed
   */
  resolve(wanted: unknown, principal: Principal): NodeClient {
    const [only, ...others] = this.nodes;
    const named =
      this.nodes.find(({ target }) => target.id === wanted) ??
      (wanted === LOCAL && others.length === 0 ? only : undefined);
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
