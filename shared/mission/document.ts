import { ApiError } from '../errors.ts';
import { memberOf } from '../member.ts';
import {
  ARDUPILOT,
  type FirstItem,
  firstItemOf,
  MISSION_PARTS,
  type MissionItem,
  type MissionPart,
} from '../schemas/mission-item.ts';
import { checkItems, fits, inNumbers, refusedByArduPilot } from './check.ts';
import { firmwareOf, isOldPlan, isPlan, readOldPlan, readPlan } from './plan.ts';
import { isFencePoints, isRallyPoints, readFencePoints, readRallyPoints } from './points.ts';
import { type Draft, linesOf, readWpl } from './wpl.ts';

/** What a document says: items that were checked, and what is odd in it. */
export interface Reading {
  readonly items: readonly MissionItem[];
  readonly warnings: readonly string[];
}

/**
 * The items of one part in what people write missions in: `{items}`, a QGroundControl plan, a `QGC WPL 110` text, or the older lists
 * of points of a fence and of rally points. A file has numbers of its own; the items have the vehicle's.
 * @param first the vehicle's number of a mission's first item; null: not known
 * @returns undefined for a plan without this part
 * @throws ApiError E_MISSION_ITEM with the index of the first that is wrong; E_INVALID_VALUE for no such document
 */
export function itemsIn(document: unknown, part: MissionPart, first: FirstItem | null): Reading | undefined {
  const draft = inNumbers(part === 'mission' ? first : 0, () => draftOf(document, part));
  if (draft === undefined) return undefined;
  const items = checkItems(part, draft.items, first);
  const odd = part === 'mission' ? forAnother(document, items, first) : [];
  return { items, warnings: [...draft.warnings, ...odd] };
}

/** What a mission for one firmware is to a vehicle of the other. */
function forAnother(
  document: unknown,
  items: readonly MissionItem[],
  first: FirstItem | null,
): readonly string[] {
  const made = isPlan(document) ? firmwareOf(document) : null;
  const names = ['PX4', 'ArduPilot'];
  const other = made !== null && first !== null && firstItemOf(made) !== first;
  return [
    ...(other ? [`The plan was made for ${names[1 - first]}, which this vehicle is not.`] : []),
    ...(first === firstItemOf(ARDUPILOT) ? refusedByArduPilot(items) : []),
  ];
}

/**
 * The items of a document before they are checked, as `itemsIn` takes them on; none for what it refuses before that, or where there is
 * no such part. So nothing is written whose class was not seen.
 */
export function draftedItems(document: unknown, part: MissionPart): readonly unknown[] {
  try {
    return inNumbers(null, () => draftOf(document, part))?.items ?? [];
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

/** Which list a text is of; a `QGC WPL 110` file tells it by the command of its first item. @throws ApiError E_BAD_REQUEST, E_MISSION_ITEM */
export function partOfText(text: string): MissionPart {
  return inNumbers(null, () => partOfLines(linesOf(text)));
}

function partOfLines(lines: readonly string[]): MissionPart {
  if (isFencePoints(lines)) return 'fence';
  if (isRallyPoints(lines)) return 'rally';
  const command = memberOf(readWpl(lines).items[0], 'command');
  return MISSION_PARTS.find((part) => typeof command === 'number' && fits(part, command)) ?? 'mission';
}

function draftOf(document: unknown, part: MissionPart): Draft | undefined {
  if (typeof document === 'string') {
    const lines = linesOf(document);
    if (part === 'fence' && isFencePoints(lines)) return readFencePoints(lines);
    if (part === 'rally' && isRallyPoints(lines)) return readRallyPoints(lines);
    return readWpl(lines);
  }
  if (isPlan(document)) return readPlan(document, part);
  if (isOldPlan(document)) return part === 'mission' ? readOldPlan(document) : undefined;
  const items = memberOf(document, 'items');
  return Array.isArray(items) ? { items, warnings: [] } : undefined; // a list by the row's schema
}
