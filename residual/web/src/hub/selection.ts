import { signal } from '@preact/signals';
import type { FleetNode } from './fleet.ts';
import { type Attention, attentionOf, phaseOf } from './state.ts';

/** Which nodes are shown, and in which order. */

export const STATES = ['all', 'attention', 'armed', 'ground', 'offline'] as const;
export const ORDERS = ['attention', 'name', 'oldest', 'battery'] as const;

export interface Selection {
  readonly search: string;
  readonly state: (typeof STATES)[number];
  readonly order: (typeof ORDERS)[number];
}

/** Kept while one looks at a node and comes back. */
export const selection = signal<Selection>({ search: '', state: 'all', order: 'attention' });

/** The node that the map shows more of; null: none. */
export const chosen = signal<string | null>(null);
/** Whether the map goes with it. */
export const following = signal(false);

const IS: Readonly<Record<Selection['state'], (node: FleetNode) => boolean>> = {
  all: () => true,
  attention: ({ entry }) => attentionOf(entry) !== null,
  // Also one that is not known: its motors may be running.
  armed: ({ entry }) => entry.status?.['armed'] === true || entry.status?.['armed'] === 'unknown',
  ground: ({ entry }) => phaseOf(entry) === 'ground',
  offline: ({ entry }) => !entry.online,
};

const GRAVITY: Readonly<Record<Attention, number>> = {
  alarm: 0,
  wasArmed: 1,
  armedUnknown: 2,
  lowBattery: 3,
  silent: 4,
};
const AFTER: Readonly<Record<ReturnType<typeof phaseOf>, number>> = {
  flying: 5,
  armed: 6,
  unknown: 7,
  ground: 8,
  away: 9,
};

/** What comes first, the lower the sooner; equal ones by name. */
const RANK: Readonly<Record<Selection['order'], (node: FleetNode) => number>> = {
  attention: ({ entry }) => {
    const attention = attentionOf(entry);
    return attention === null ? AFTER[phaseOf(entry)] : GRAVITY[attention];
  },
  name: () => 0,
  oldest: ({ entry }) => entry.seen_at ?? 0,
  battery: ({ entry }) => Number(entry.status?.['battery_percent'] ?? Number.POSITIVE_INFINITY),
};

export function countOf(nodes: readonly FleetNode[], state: Selection['state']): number {
  return nodes.reduce((count, node) => count + Number(IS[state](node)), 0);
}

const byName = new Intl.Collator(undefined, { numeric: true });

export function selected(
  nodes: readonly FleetNode[],
  { search, state, order }: Selection,
): readonly FleetNode[] {
  const wanted = search.trim().toLowerCase();
  const rank = RANK[order];
  return nodes
    .filter((node) => IS[state](node) && node.words.includes(wanted))
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
