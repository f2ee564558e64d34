import type { Counts, Phase } from './counts.ts';
import { type FleetNode, figuresOf } from './fleet.ts';

/** What a node does now, and what of it a person must look at. */

export type Attention = 'alarm' | 'wasArmed' | 'armedUnknown' | 'lowBattery' | 'silent';

/** A status does not say whether it has left the ground: armed and so high above home, m, counts as flying. */
const FLYING_M = 2;
/** Percent, as on the page to fly by. */
const LOW = 30;

export function phaseOf(entry: FleetNode['entry']): Phase {
  const { armed, present, height } = figuresOf(entry);
  if (!entry.online) return 'away';
  if (!present || typeof armed !== 'boolean') return 'unknown';
  if (!armed) return 'ground';
  return height !== null && height >= FLYING_M ? 'flying' : 'armed';
}

/** The gravest of what is the matter; null: nothing. */
export function attentionOf(entry: FleetNode['entry']): Attention | null {
  const { armed, present, fresh, battery } = figuresOf(entry);
  if (entry.alarm !== null) return 'alarm';
  if (!present && armed === true) return 'wasArmed';
  if (armed === 'unknown') return 'armedUnknown';
  if (fresh && armed === true && battery !== null && battery < LOW) return 'lowBattery';
  return entry.online && !present ? 'silent' : null;
}

export function countsOf(nodes: readonly FleetNode[]): Counts {
  const phases: Record<Phase, number> = { flying: 0, armed: 0, ground: 0, unknown: 0, away: 0 };
  let drones = 0;
  let attention = 0;
  let awaySince: number | null = null;
  for (const { entry } of nodes) {
    const phase = phaseOf(entry);
    phases[phase]++;
    drones += Number(entry.profile === 'drone');
    attention += Number(attentionOf(entry) !== null);
    if (phase === 'away' && entry.seen_at !== null) awaySince = Math.max(awaySince ?? 0, entry.seen_at);
  }
  return { all: nodes.length, drones, phases, attention, awaySince };
}
