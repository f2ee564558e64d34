import * as shared from '../../../../../shared/fleet/node-state.ts';
import { hubNow } from '../client.ts';
import type { Counts } from './counts.ts';
import type { FleetNode } from './fleet.ts';

/** What a node does now by the hub's clock, and what of it a person must look at: as the hub counts it. */

export type Attention = shared.Attention;

type Entry = FleetNode['entry'];

export function phaseOf(entry: Entry): shared.Phase {
  return shared.phaseOf(entry, shared.factsOf(entry.status), hubNow());
}

export function attentionOf(entry: Entry): Attention | null {
  return shared.attentionOf(entry, shared.factsOf(entry.status), hubNow());
}

export function urgencyOf(entry: Entry): number {
  return shared.urgencyOf(entry, shared.factsOf(entry.status), hubNow());
}

export function isIn(state: shared.NodeState, entry: Entry): boolean {
  return shared.isIn(state, entry, shared.factsOf(entry.status), hubNow());
}

export function countsOf(nodes: readonly FleetNode[]): Counts {
  const phases: Record<shared.Phase, number> = { flying: 0, armed: 0, ground: 0, unknown: 0, away: 0 };
  const counts = { drones: 0, armed: 0, attention: 0 };
  let away: number | null = null;
  for (const { entry } of nodes) {
    const phase = phaseOf(entry);
    phases[phase]++;
    counts.drones += Number(entry.profile === 'drone');
    counts.armed += Number(isIn('armed', entry));
    counts.attention += Number(attentionOf(entry) !== null);
    if (phase === 'away' && entry.seen_at !== null) away = Math.max(away ?? 0, entry.seen_at);
  }
  return { nodes: nodes.length, ...counts, phases, away_since: away };
}
