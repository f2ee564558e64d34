import { itemsIn } from '../../../../../shared/mission/document.ts';
import { MISSION_PARTS } from '../../../../../shared/mission/item.ts';
import { isPlan, makePlan } from '../../../../../shared/mission/plan.ts';
import { type Home, writeWpl } from '../../../../../shared/mission/wpl.ts';
import { Refused } from '../../api/client.ts';
import { t } from '../../strings.ts';
import type { Items, Part } from './list.ts';
import type { Sketch } from './sketch.ts';

/** Plan files and waypoint files, read and written by the node's own code. */

const MAX_BYTES = 8 * 1024 * 1024;

/**
 * The lists in a file of QGroundControl (`.plan`) or in a `QGC WPL 110` text. A plan's survey gives the items that the file expands
 * it to. @throws Refused with what is wrong in it
 */
export async function listsIn(file: File): Promise<Partial<Record<Part, Items>>> {
  if (file.size > MAX_BYTES) throw refusal(t.plan.tooLarge);
  const text = await file.text().catch(() => {
    throw refusal(t.plan.unreadable);
  });
  try {
    if (!text.trimStart().startsWith('{')) return { mission: itemsIn(text, 'mission') ?? [] };
    const document: unknown = JSON.parse(text);
    if (!isPlan(document)) throw refusal(t.plan.noPlan);
    return Object.fromEntries(
      MISSION_PARTS.flatMap((part) => {
        const items = itemsIn(document, part);
        return items === undefined ? [] : [[part, items]];
      }),
    );
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw refusal(error instanceof SyntaxError ? t.plan.noPlan : (error as Error).message);
  }
}

/** @param firmware `px4`, `ardupilot`; null: not known */
export function planText({ lists }: Sketch, home: Home | null, firmware: string | null): string {
  return `${JSON.stringify(makePlan({ ...lists.value, home, firmware }), null, 2)}\n`;
}

export function waypointText({ lists }: Sketch, home: Home | null): string {
  return writeWpl(lists.value.mission, home);
}

function refusal(sentence: string): Refused {
  return new Refused(0, 'E_INVALID_VALUE', sentence);
}
