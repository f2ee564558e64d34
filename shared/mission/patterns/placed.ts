import type { JsonObject } from '../../member.ts';
import type { MissionItem } from '../../schemas/mission-item.ts';
import { expand } from './expand.ts';
import type { PatternSettings } from './settings.ts';

/** Patterns in the list of a mission, which itself knows nothing of them. */

export interface Pattern {
  readonly settings: PatternSettings;
  /** What it stands for: made here, or as the file has it that it was read from. */
  readonly items: readonly MissionItem[];
  readonly photos: number;
  /** As it stands in a plan file of QGroundControl; null: made here. */
  readonly source: JsonObject | null;
}

export interface Placed extends Pattern {
  /** Its first item, as an index in the mission. */
  readonly from: number;
}

/** More are not looked for. */
export const MAX_PATTERNS = 100;

/**
 * The patterns whose items all stand in the list, one after the other, with where. The others are no more than items now: one of theirs
 * was changed, or the list is another.
 */
export function placedIn(items: readonly MissionItem[], patterns: readonly Pattern[]): readonly Placed[] {
  const found: Placed[] = [];
  for (const pattern of patterns.slice(0, MAX_PATTERNS)) {
    const count = pattern.items.length;
    if (count === 0) continue;
    const from = items.findIndex(
      (_, at) =>
        at + count <= items.length &&
        found.every((other) => at + count <= other.from || at >= other.from + other.items.length) &&
        pattern.items.every((item, index) => fliesAs(item, items[at + index])),
    );
    if (from >= 0) found.push({ ...pattern, from, items: items.slice(from, from + count) });
  }
  return found.toSorted((a, b) => a.from - b.from);
}

const HEIGHT_STEP_M = 0.02;

/** Whether the vehicle would do the same: it keeps places in steps of 1e-7 degrees, and forgets what means nothing to it. */
function fliesAs(a: MissionItem, b: MissionItem | undefined): boolean {
  if (b === undefined || a.command !== b.command || TWINS[a.frame] !== TWINS[b.frame]) return false;
  return (
    Math.abs(a.x - b.x) < 1.5e-7 &&
    Math.abs(a.y - b.y) < 1.5e-7 &&
    Math.abs(a.z - b.z) < HEIGHT_STEP_M &&
    Math.abs((a.param1 ?? 0) - (b.param1 ?? 0)) <= 1e-5 * Math.max(1, Math.abs(a.param1 ?? 0))
  );
}

/** Frames and their INT twins. */
const TWINS: Readonly<Record<number, number>> = { 0: 0, 5: 0, 2: 2, 3: 3, 6: 3, 10: 10, 11: 10 };

/** A pattern of these settings; null where nothing can be made of them. */
export function patternOf(settings: PatternSettings, source: JsonObject | null): Pattern | null {
  const made = expand(settings);
  return 'problem' in made ? null : { settings, items: made.items, photos: made.photos, source };
}
