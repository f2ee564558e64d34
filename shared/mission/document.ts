import { checkItems } from './check.ts';
import type { MissionItem, MissionPart } from './item.ts';
import { isPlan, readPlan } from './plan.ts';
import { readWpl } from './wpl.ts';

/**
 * The items of one part in what people write missions in: `{items}`, a QGroundControl plan, or a `QGC WPL 110` text.
 * @returns undefined for a plan without this part
 * @throws ApiError E_MISSION_ITEM with the index of the first that is wrong; E_INVALID_VALUE for no such document
 */
export function itemsIn(document: unknown, part: MissionPart): readonly MissionItem[] | undefined {
  if (typeof document === 'string') return checkItems(part, readWpl(document));
  const items = isPlan(document)
    ? readPlan(document, part)
    : (document as { readonly items: readonly unknown[] }).items; // by the row's schema
  return items === undefined ? undefined : checkItems(part, items);
}
