import { Denial } from '../denial.ts';
import { type Principal, STDIO } from '../principal.ts';
import { askOf } from './ask.ts';
import { HttpNode, type HttpTarget } from './http-node.ts';
import type { NodeClient } from './node-client.ts';
import { sideBySide } from './side-by-side.ts';

export type Mode = 'agent' | 'local-fleet' | 'fleet';

/** The name of the node until it has reported its device id, and an alias afterwards. */
export const LOCAL = 'local';
const IDENTITY_MS = 2000;

/** The nodes that this connector reaches. Those of a fleet come and go. */
export interface Plane {
  readonly mode: Mode;
  readonly nodes: readonly NodeClient[];

  /** Resolves once a search that runs has had time to find the first node; absent where none runs. */
  readonly searching?: Promise<void>;

  /** Asks the nodes for their names, and one that has not said yet who it is. @returns whether there is something new */
  learn(): Promise<boolean>;

  /**
   * The node that a call is for.
   * @param wanted the argument `node`; optional if there is only one node
   * @throws Denial node_required, node_not_allowed
   */
  resolve(wanted: unknown, principal: Principal): NodeClient;

  /** What the hub answers, for what it keeps itself; absent where there is none. @throws Denial */
  askHub?(path: string): Promise<unknown>;
}

/** Nodes at addresses that are known from the start, or are found. */
export class LanPlane implements Plane {
  readonly mode: Mode;
  searching?: Promise<void>;
  #nodes: readonly HttpNode[];

  /** @throws Error when two nodes have the same id */
  constructor(mode: Mode, targets: readonly HttpTarget[]) {
    this.mode = mode;
    for (const [index, { id }] of targets.entries())
      if (targets.findIndex((other) => other.id === id) !== index)
        throw new Error(`two nodes are called ${id}`);
    this.#nodes = targets.map((target) => new HttpNode(target));
  }

  get nodes(): readonly HttpNode[] {
    return this.#nodes;
  }

  /** A node that was found while it runs. */
  add(node: HttpNode): void {
    if (this.#nodes.every(({ target }) => target.id !== node.target.id)) this.#nodes = [...this.#nodes, node];
  }

  async learn(): Promise<boolean> {
    const changed = await sideBySide(this.nodes, async (node) => learnOf(node));
    return changed.includes(true);
  }

  resolve(wanted: unknown, principal: Principal): HttpNode {
    const [only, ...others] = this.nodes;
    const alias = wanted === LOCAL && others.length === 0 ? only?.target.id : wanted;
    return choose(this.nodes, alias, principal);
  }
}

/** What the node says of itself; while it is away, what is known stays. A node of a fleet file keeps the id that it has there. */
async function learnOf(node: HttpNode): Promise<boolean> {
  const { id: known, name: before } = node.target;
  try {
    const { device_id: said, name } = await askOf(node, STDIO)('pairing.info.get', {
      timeoutMs: IDENTITY_MS,
    });
    const id = known === LOCAL && typeof said === 'string' ? said : known;
    const now = typeof name === 'string' && name !== '' ? name : before;
    if (id === known && now === before) return false;
    node.identify(id, now);
    return true;
  } catch (error) {
    if (error instanceof Denial) return false; // it is away
    throw error;
  }
}

const MAX_NAMED = 50;

/** By id, or by a name that only one node has. @throws Denial node_required, node_not_allowed */
export function choose<N extends NodeClient>(nodes: readonly N[], wanted: unknown, principal: Principal): N {
  const [only, ...others] = nodes;
  const named = nodes.filter(({ target }) => target.name !== null && target.name === wanted);
  const byId = nodes.find(({ target }) => target.id === wanted);
  const found = byId ?? (named.length === 1 ? named[0] : undefined);
  const node = wanted === undefined && others.length === 0 ? only : found;
  if (node === undefined) {
    const known = byId === undefined && named.length > 1 ? named : nodes;
    const told = { nodes: known.slice(0, MAX_NAMED).map(({ target: { id, name } }) => ({ id, name })) };
    if (wanted === undefined && only !== undefined) throw new Denial('node_required', undefined, told);
    throw new Denial(
      'node_not_allowed',
      named.length > 1 ? 'Several nodes have this name. Say the id.' : 'There is no such node here.',
      told,
    );
  }
  // In agent mode the node's id may be unknown; the node itself refuses tokens of other nodes.
  const { id } = node.target;
  if (principal.deviceId !== null && id !== LOCAL && principal.deviceId !== id)
    throw new Denial('node_not_allowed', `The token belongs to ${principal.deviceId}.`);
  return node;
}
