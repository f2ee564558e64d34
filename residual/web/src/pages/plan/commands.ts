import { ITEM_COMMANDS } from '../../../../../shared/mission/commands.ts';
import { planWords } from './plan-words.ts';

/** A parameter of a command: its name with the unit, or what its numbers mean. Null: it means nothing. */
export type Named =
  | string
  | { readonly label: string; readonly choices: Readonly<Record<number, string>> }
  | null;

interface NamedCommand {
  readonly name: string;
  /** Parameters 1 to 7; of a command with a place the last three are the place. */
  readonly params: readonly Named[];
}

const KNOWN: Readonly<Record<number, NamedCommand>> = planWords.commands;

/** MAV_CMD numbers in the order in which they are offered. */
export const OFFERED: readonly number[] = [
  16, 22, 21, 20, 17, 18, 19, 82, 84, 85, 93, 112, 115, 178, 177, 195, 197, 206, 214, 203, 2000, 2001, 2500,
  2501, 211, 183,
];

export function commandName(command: number): string {
  const known = KNOWN[command];
  if (known !== undefined) return known.name;
  const name = ITEM_COMMANDS.get(command)?.name;
  return name === undefined ? planWords.commandNumber({ command }) : `${name} (${command})`;
}

/** Null: the page does not name its parameters, and leaves them as they are. */
export function commandMeaning(command: number): readonly Named[] | null {
  return KNOWN[command]?.params ?? null;
}
