import type { Scope } from '../auth/scopes.ts';

/** On which nodes: the listed ones and those with one of the labels (`tag`, `group:name`); `nodes` null: on every one. */
export interface Reach {
  readonly nodes: readonly string[] | null;
  readonly tags: readonly string[];
}

/** What a credential allows: the scopes, on these nodes. */
export interface Grant extends Reach {
  readonly scopes: readonly Scope[];
}

/** Who asks, by a credential that was checked. */
export interface Caller extends Grant {
  readonly kind: 'operator' | 'machine';
  /** `op_…` or `mc_…` */
  readonly id: string;
  /** Whom what is there for all is counted by: somebody who signs in again is nobody else. Otherwise the id. */
  readonly person: string;
  /** Of the operator; the label of a machine credential. */
  readonly name: string;
  /** The operator behind it, by name. */
  readonly operator: string;
  /** Until when it counts, ms since 1970; null: until somebody ends it. */
  readonly expires_at: number | null;
}

/** Places of all; how many one person may have; and how many are for administrators of the whole fleet alone. */
interface Places {
  readonly all: number;
  readonly each: number;
  readonly kept: number;
}

/** Whether there is a place for one more of theirs. @param taken who has those that are taken */
export function hasPlace(
  taken: Iterable<{ readonly caller: Caller }>,
  { person, scopes, nodes }: Caller,
  { all, each, kept }: Places,
): boolean {
  let [count, own] = [0, 0];
  for (const { caller } of taken) {
    count++;
    if (caller.person === person) own++;
  }
  const isAdministrator = nodes === null && scopes.includes('admin');
  return own < each && count < (isAdministrator ? all : all - kept);
}

export const EVERY_NODE: Reach = { nodes: null, tags: [] };

/** Of what was asked for or stored. With labels `nodes` is never null: whoever forgets the labels then sees too little, not all. */
export function reachOf(nodes: readonly string[] | null, tags: readonly string[]): Reach {
  return { nodes: nodes === null && tags.length > 0 ? [] : nodes, tags };
}

/** @param labels of the node; none for one that is not enrolled */
export function sees({ nodes, tags }: Reach, node: string, labels: ReadonlySet<string>): boolean {
  return nodes === null || nodes.includes(node) || tags.some((tag) => labels.has(tag));
}

/**
 * Whether `inner` allows nothing that `outer` does not, whatever tags nodes get later: so a node that `outer` sees by a tag is not
 * within it by its name.
 */
export function isWithin(inner: Grant, outer: Grant): boolean {
  const { nodes } = inner;
  const { nodes: all } = outer;
  return (
    inner.scopes.every((scope) => outer.scopes.includes(scope)) &&
    (all === null ||
      (nodes !== null &&
        nodes.every((node) => all.includes(node)) &&
        inner.tags.every((tag) => outer.tags.includes(tag))))
  );
}
