import { expand } from '../../../../../shared/mission/patterns/expand.ts';
import { MAX_PATTERNS, type Pattern, type Placed } from '../../../../../shared/mission/patterns/placed.ts';
import { type PatternSettings, settled } from '../../../../../shared/mission/patterns/settings.ts';
import { type Items, replaced } from './list.ts';
import type { Sketch } from './sketch.ts';

/** The mission as a person sees it: items, and patterns that are one thing each. */

export type Entry =
  | { readonly kind: 'item'; readonly from: number; readonly count: 1 }
  | { readonly kind: 'pattern'; readonly from: number; readonly count: number; readonly placed: Placed };

export function entriesOf(items: Items, placed: readonly Placed[]): readonly Entry[] {
  const entries: Entry[] = [];
  for (let from = 0; from < items.length; ) {
    const pattern = placed.find((each) => each.from === from);
    const entry: Entry =
      pattern === undefined
        ? { kind: 'item', from, count: 1 }
        : { kind: 'pattern', from, count: pattern.items.length, placed: pattern };
    entries.push(entry);
    from += entry.count;
  }
  return entries;
}

/** Where something new goes: behind what is chosen, else before what ends the flight. */
export function placeToAdd(sketch: Sketch): number {
  const items = sketch.items.value;
  const chosen = sketch.chosen.value;
  const pattern = sketch.chosenPattern.value;
  if (pattern !== null) return pattern.from + pattern.items.length;
  if (chosen !== null) return chosen + 1;
  const last = items.at(-1);
  return last !== undefined && ENDS.has(last.command) ? items.length - 1 : items.length;
}

const ENDS: ReadonlySet<number> = new Set([20, 21, 85]);

/** Adds a pattern and chooses it; one of which nothing can be made is not added. @returns whether it was */
export function addPattern(sketch: Sketch, given: PatternSettings): boolean {
  const settings = settled(given);
  const made = expand(settings);
  if ('problem' in made) {
    sketch.trial.value = { settings, wrong: made };
    return false;
  }
  sketch.part.value = 'mission';
  const at = placeToAdd(sketch);
  put(sketch, at, 0, { settings, items: made.items, photos: made.photos, source: null }, null);
  sketch.show('mission', at);
  return true;
}

/** The pattern with other settings, where it stands. Settings of which nothing can be made are shown with what is wrong. */
export function changePattern(sketch: Sketch, old: Placed, given: PatternSettings): void {
  const settings = settled(given);
  const made = expand(settings);
  if ('problem' in made) {
    sketch.trial.value = { settings, wrong: made };
    return;
  }
  const pattern = { settings, items: made.items, photos: made.photos, source: old.source };
  const corner = sketch.corner.value;
  put(sketch, old.from, old.items.length, pattern, old);
  sketch.show('mission', old.from);
  sketch.corner.value = corner;
}

/** Its items stand alone from now on. */
export function dissolvePattern(sketch: Sketch, old: Placed): void {
  sketch.change(
    sketch.lists.value.mission,
    'mission',
    sketch.patterns.filter((each) => each.settings !== old.settings),
  );
  sketch.show('mission', old.from);
}

export function moveEntry(sketch: Sketch, entry: Entry, step: 1 | -1): void {
  const items = sketch.lists.value.mission;
  const entries = entriesOf(items, sketch.placed.value);
  const at = entries.findIndex(({ from }) => from === entry.from);
  const other = entries[at + step];
  if (other === undefined) return;
  const [first, second] = step === 1 ? [entry, other] : [other, entry];
  const taken = (each: Entry): Items => items.slice(each.from, each.from + each.count);
  sketch.change(
    replaced(items, first.from, first.count + second.count, [...taken(second), ...taken(first)]),
    'mission',
  );
  sketch.show('mission', step === 1 ? entry.from + other.count : other.from);
}

function put(sketch: Sketch, at: number, count: number, pattern: Pattern, old: Pattern | null): void {
  const items = replaced(sketch.lists.value.mission, at, count, pattern.items);
  const others = sketch.patterns.filter((each) => each.settings !== old?.settings);
  sketch.change(items, 'mission', [...others.slice(1 - MAX_PATTERNS), pattern]);
}
