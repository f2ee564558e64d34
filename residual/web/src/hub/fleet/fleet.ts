import { signal } from '@preact/signals';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { factsOf, isPresent, type StatusFacts, toldSince } from '../../../../../shared/fleet/node-state.ts';
import { span } from '../../parts/format.ts';
import { hubNow } from '../client.ts';

/** The nodes as the hub tells of them, and how they are read. */

export interface FleetNode {
  readonly entry: NodeEntry;
  /** What is looked through for a search, in small letters. */
  readonly words: string;
}

/**
 * All of a small fleet, of a large one those that are looked at; null: not told yet. A new list at most four times a second, whatever
 * comes in.
 */
export const nodes = signal<readonly FleetNode[] | null>(null);

/** Whether the fleet is so large that the page asks the hub for what is seen of it; null: not known yet. */
export const isLarge = signal<boolean | null>(null);

export function fleetNode(entry: NodeEntry): FleetNode {
  return { entry, words: `${entry.name}\n${entry.id}`.toLowerCase() };
}

/** What a person calls it. */
export function titleOf({ name, id }: NodeEntry): string {
  return name === '' ? id : name;
}

/** Seconds since the hub received something, by its own clock; null: never. */
export function secondsSince(at: number | null | undefined): number | null {
  return at === null || at === undefined ? null : Math.max(0, (hubNow() - at) / 1000);
}

/** An age in words, never less than it is. */
export function ageText(seconds: number | null): string {
  if (seconds === null) return span(null);
  const unit = seconds < 90 ? 1 : seconds < 5400 ? 60 : seconds < 172_800 ? 3600 : 86_400;
  return span(Math.ceil(seconds / unit) * unit);
}

/** The newest status as a list shows it, and how old it is. What the node did not say, or not in the form agreed, is null. */
export interface Figures extends Omit<StatusFacts, 'silence'> {
  /** s since it was told; null: no status, or since when is not known. */
  readonly told: number | null;
  /** Told of lately by a node that is online. */
  readonly present: boolean;
  /** s since the vehicle was heard, for what is the vehicle's: mode, battery, place, height. */
  readonly age: number | null;
  readonly fresh: boolean;
}

export function figuresOf(entry: NodeEntry): Figures {
  const { silence, ...said } = factsOf(entry.status);
  const { online } = entry;
  const told = entry.status === null ? null : toldSince(entry, hubNow());
  const age = told === null ? null : told + silence;
  return { ...said, told, present: isPresent(online, told), age, fresh: isPresent(online, age) };
}
