import type { Made } from '../schemas/made.ts';
import type { missionWritten } from '../schemas/mission.ts';
import type { MissionItem, MissionPart } from '../schemas/mission-item.ts';

export type ItemMember = Exclude<keyof MissionItem, 'seq' | 'frame' | 'command'>;

/** A member that the vehicle holds otherwise than it was sent, as `GET` shows it; null is NaN. */
export type HeldOtherwise = Extract<Made<typeof missionWritten>['warnings'][number], object>;

/** What is worth a look although the list is taken: a sentence, or a member that is held otherwise. */
export type MissionWarning = string | HeldOtherwise;

const NAMES: Readonly<Record<MissionPart, string>> = {
  mission: 'Item',
  fence: 'Fence item',
  rally: 'Rally point',
};

export function warningText(warning: MissionWarning): string {
  if (typeof warning === 'string') return warning;
  const { part, seq, member, sent, held } = warning;
  return `${NAMES[part]} ${seq}: ${member} ${shown(sent)} is held as ${shown(held)}.`;
}

function shown(value: number | null): string {
  return value === null ? 'NaN' : String(value);
}

/** Larger would be a second list to read. */
const MAX_WARNINGS = 50;

/** The first of them, and how many more there are. */
export function bounded(warnings: readonly MissionWarning[]): readonly MissionWarning[] {
  if (warnings.length <= MAX_WARNINGS) return warnings;
  const kept = warnings.slice(0, MAX_WARNINGS - 1);
  return [...kept, `There are ${warnings.length - kept.length} more warnings like these.`];
}
