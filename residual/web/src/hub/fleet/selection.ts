import { signal } from '@preact/signals';
import { labelsOf } from '../../../../../shared/fleet/node-labels.ts';
import type { NodeState } from '../../../../../shared/fleet/node-state.ts';
import type { FleetNode } from './fleet.ts';
import { isIn, urgencyOf } from './state.ts';

/** Which nodes are shown, and in which order. */

export const STATES = ['all', 'attention', 'armed', 'ground', 'offline'] as const;
export const ORDERS = ['attention', 'name', 'oldest', 'battery'] as const;

export interface FleetFilter {
  readonly search: string;
  readonly state: NodeState | 'all';
  readonly order: (typeof ORDERS)[number];
  /** A tag, or `group:name`; null: whatever they have. */
  readonly label: string | null;
}

export interface Selection extends FleetFilter {
  readonly state: (typeof STATES)[number];
}

/** Kept while one looks at a node and comes back. */
export const selection = signal<Selection>({ search: '', state: 'all', order: 'attention', label: null });

/** The node that the map shows more of; null: none. */
export const chosen = signal<string | null>(null);
/** Whether the map goes with it. */
export const following = signal(false);

/** What comes first, the lower the sooner; equal ones by name. */
const RANK: Readonly<Record<Selection['order'], (node: FleetNode) => number>> = {
  attention: ({ entry }) => urgencyOf(entry),
  name: () => 0,
  oldest: ({ entry }) => entry.seen_at ?? 0,
  battery: ({ entry }) => Number(entry.status?.['battery_percent'] ?? Number.POSITIVE_INFINITY),
};

const byName = new Intl.Collator(undefined, { numeric: true });

export function selected(
  nodes: readonly FleetNode[],
  { search, state, order, label }: FleetFilter,
): readonly FleetNode[] {
  const wanted = search.trim().toLowerCase();
  const rank = RANK[order];
  return nodes
    .filter(
      ({ entry, words }) =>
        (state === 'all' || isIn(state, entry)) &&
        words.includes(wanted) &&
        (label === null || labelsOf(entry).has(label)),
    )
    .map((node) => ({ node, rank: rank(node) }))
    .sort((a, b) => a.rank - b.rank || byName.compare(a.node.words, b.node.words))
    .map(({ node }) => node);
}

/** The same nodes in the order in which they were before; those that are new come last. */
export function inOrder(nodes: readonly FleetNode[], before: readonly string[]): readonly FleetNode[] {
  const place = new Map(before.map((id, at) => [id, at]));
  const last = before.length;
  return nodes.toSorted((a, b) => (place.get(a.entry.id) ?? last) - (place.get(b.entry.id) ?? last));
}
