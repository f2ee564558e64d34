import { messageOf } from '../../../../../shared/errors.ts';
import { textOf } from '../../../../../shared/files/text-of.ts';
import { itemsIn, partOfText } from '../../../../../shared/mission/document.ts';
import type { Pattern } from '../../../../../shared/mission/patterns/placed.ts';
import { isOldPlan, isPlan, makePlan, patternsIn } from '../../../../../shared/mission/plan.ts';
import { type Home, writeWpl } from '../../../../../shared/mission/wpl.ts';
import { MISSION_PARTS } from '../../../../../shared/schemas/mission-item.ts';
import { Refused } from '../../api/client.ts';
import { firstItem } from '../../api/telemetry.ts';
import type { Items, Part } from './list.ts';
import { planWords } from './plan-words.ts';
import type { Sketch } from './sketch.ts';

/** Plan files and waypoint files, read and written by the node's own code. */

const MAX_BYTES = 8 * 1024 * 1024;

interface FileLists {
  /** Those of the mission whose settings the file has. */
  readonly patterns: readonly Pattern[];
  readonly lists: Partial<Record<Part, Items>>;
  readonly warnings: readonly string[];
}

/**
 * The lists in a file of QGroundControl (`.plan`), or the one in a text. A plan's survey gives the items that the file expands it to, and keeps its settings.
 * @throws Refused with what is wrong in it
 */
export async function listsIn(file: File): Promise<FileLists> {
  if (file.size > MAX_BYTES) throw refusal(planWords.tooLarge);
  const text = await textIn(file).catch(() => {
    throw refusal(planWords.unreadable);
  });
  try {
    const isText = !text.trimStart().startsWith('{');
    const document: unknown = isText ? text : JSON.parse(text);
    if (!isText && !isPlan(document) && !isOldPlan(document)) throw refusal(planWords.noPlan);
    const readings = (isText ? [partOfText(text)] : MISSION_PARTS).flatMap((part) => {
      const reading = itemsIn(document, part, firstItem.value);
      return reading === undefined ? [] : [{ part, ...reading }];
    });
    const mission = readings.find(({ part }) => part === 'mission')?.items;
    return {
      patterns: isPlan(document) && mission !== undefined ? patternsIn(document, mission) : [],
      lists: Object.fromEntries(readings.map(({ part, items }) => [part, items])),
      warnings: readings.flatMap(({ warnings }) => warnings),
    };
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw refusal(error instanceof SyntaxError ? planWords.noPlan : messageOf(error));
  }
}

/** @param firmware `px4`, `ardupilot`; null: not known */
export function planText({ lists, placed }: Sketch, home: Home | null, firmware: string | null): string {
  const plan = makePlan({ ...lists.value, home, firmware, patterns: placed.value });
  return `${JSON.stringify(plan, null, 2)}\n`;
}

export function waypointText({ lists }: Sketch, home: Home | null): string {
  return writeWpl(lists.value.mission, 'mission', home);
}

/** @throws NoText; Error of a file that cannot be read */
async function textIn(file: File): Promise<string> {
  return textOf(new Uint8Array(await file.arrayBuffer()));
}

function refusal(sentence: string): Refused {
  return new Refused(0, 'E_INVALID_VALUE', sentence);
}
