import type { Scope } from '../../../shared/auth/scopes.ts';

/** What a credential allows: the scopes, on these nodes; null for every node. */
export interface Grant {
  readonly scopes: readonly Scope[];
  readonly nodes: readonly string[] | null;
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
}

export function sees({ nodes }: Pick<Grant, 'nodes'>, node: string): boolean {
  return nodes === null || nodes.includes(node);
}

/** Whether `inner` allows nothing that `outer` does not. */
export function isWithin(inner: Grant, outer: Grant): boolean {
  const { nodes } = inner;
  return (
    inner.scopes.every((scope) => outer.scopes.includes(scope)) &&
    (outer.nodes === null || (nodes !== null && nodes.every((node) => sees(outer, node))))
  );
}
