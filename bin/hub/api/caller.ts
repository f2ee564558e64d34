import type { Scope } from '../../../shared/auth/scopes.ts';

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
  /** Of the operator; the label of a machine credential. */
  readonly name: string;
  /** The operator behind it, by name. */
  readonly operator: string;
  /** Until when it counts, ms since 1970; null: until somebody ends it. */
  readonly expires_at: number | null;
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
