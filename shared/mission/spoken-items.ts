import { isRecord, type JsonObject } from '../member.ts';
import { ITEM_PARAMS } from '../schemas/mission-item.ts';
import { ITEM_COMMANDS } from './commands.ts';
import { patternItems } from './patterns/from-figures.ts';

/**
 * Items as a model or a person writes them, in the numbers of MAVLink: names of commands and frames in any case, with or without
 * `MAV_CMD_`, `autocontinue: true`, members in any case; and a pattern by its figures. What is not understood stays as it is, and is
 * refused by whoever checks the list.
 */

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ...[...ITEM_PARAMS, 'seq', 'frame', 'command', 'x', 'y', 'z', 'autocontinue'].map(
    (name): [string, string] => [name, name],
  ),
  ['lat', 'x'],
  ['lon', 'y'],
  ['alt', 'z'],
]);

/** MAV_FRAME */
const FRAMES: ReadonlyMap<string, number> = new Map([
  ['GLOBAL', 0],
  ['MISSION', 2],
  ['GLOBAL_RELATIVE_ALT', 3],
  ['GLOBAL_INT', 5],
  ['GLOBAL_RELATIVE_ALT_INT', 6],
  ['GLOBAL_TERRAIN_ALT', 10],
  ['GLOBAL_TERRAIN_ALT_INT', 11],
]);

/** By name, also without the prefix that says what it is; of two such names that of navigation counts. */
const COMMANDS: ReadonlyMap<string, number> = new Map([
  ...['', 'CONDITION_', 'DO_', 'NAV_'].flatMap((prefix) =>
    [...ITEM_COMMANDS].flatMap(([id, { name }]): readonly [string, number][] =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), id]] : [],
    ),
  ),
  ...[...ITEM_COMMANDS].map(([id, { name }]): [string, number] => [name, id]),
  ['RTL', 20],
]);

/** @throws ApiError E_INVALID_VALUE for a pattern that cannot be made */
export function plainDocument(document: JsonObject): JsonObject {
  if (isRecord(document['pattern'])) return { items: patternItems(document['pattern']).items };
  const { items } = document;
  return Array.isArray(items) ? { ...document, items: items.map(plainItem) } : document;
}

function plainItem(item: unknown): unknown {
  if (!isRecord(item)) return item;
  return Object.fromEntries(
    Object.entries(item).map(([given, value]) => {
      const lower = given.toLowerCase();
      const name = MEMBERS.get(lower);
      // Never two members of one name.
      if (name === undefined || (name !== given && name in item)) return [given, value];
      return [name, plainValue(name, value)];
    }),
  );
}

function plainValue(name: string, value: unknown): unknown {
  if (name === 'autocontinue' && typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return value;
  const word = value
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, '_');
  if (name === 'command') return COMMANDS.get(word.replace(/^MAV_CMD_/, '')) ?? value;
  if (name === 'frame') return FRAMES.get(word.replace(/^MAV_FRAME_/, '')) ?? value;
  return value;
}
