import type { FleetNode } from './fleet.ts';

/** Which nodes are shown, and in which order. */

export const STATES = ['all', 'online', 'offline', 'armed', 'alarm'] as const;
export const ORDERS = ['name', 'oldest', 'battery', 'alarm'] as const;

export interface Selection {
  readonly search: string;
  readonly state: (typeof STATES)[number];
  readonly order: (typeof ORDERS)[number];
}

const IS: Readonly<Record<Selection['state'], (node: FleetNode) => boolean>> = {
  all: () => true,
  online: ({ entry }) => entry.online,
  offline: ({ entry }) => !entry.online,
  // Also one that is not known: its motors may be running.
  armed: ({ entry }) => entry.status?.['armed'] === true || entry.status?.['armed'] === 'unknown',
  alarm: ({ entry }) => entry.alarm !== null,
};

/** What comes first, the lower the sooner; equal ones by name. */
const RANK: Readonly<Record<Selection['order'], (node: FleetNode) => number>> = {
  name: () => 0,
  oldest: ({ entry }) => entry.seen_at ?? 0,
  battery: ({ entry }) => Number(entry.status?.['battery_percent'] ?? Number.POSITIVE_INFINITY),
  alarm: ({ entry }) => (entry.alarm === null ? (entry.online ? 2 : 1) : 0),
};

export function countOf(nodes: readonly FleetNode[], state: Selection['state']): number {
  return nodes.reduce((count, node) => count + Number(IS[state](node)), 0);
}

export function selected(
  nodes: readonly FleetNode[],
  { search, state, order }: Selection,
): readonly FleetNode[] {
  const wanted = search.trim().toLowerCase();
  const rank = RANK[order];
  return nodes
    .filter((node) => IS[state](node) && node.words.includes(wanted))
    .map((node) => ({ node, rank: rank(node) }))
    .sort((a, b) => a.rank - b.rank || (a.node.words < b.node.words ? -1 : 1))
    .map(({ node }) => node);
}
