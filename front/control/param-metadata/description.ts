/** What is known of a parameter besides its value; null where it is not said. */

import { isRecord, type JsonObject } from '../../../shared/member.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { paramMetadata } from '../../../shared/schemas/params.ts';
export type ParamDescription = NonNullable<Made<typeof paramMetadata>>;

/** A parameter in a file of descriptions. */
export interface Described {
  readonly name: string;
  /** Null where the file tells none, as ArduPilot's. */
  readonly default: number | null;
  readonly description: ParamDescription;
}

const MAX_TEXT = 2000;
const MAX_CHOICES = 256;

/** A text of at most 2000 characters; null for anything else, and for an empty one. */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return text === '' ? null : text.slice(0, MAX_TEXT);
}

/** A finite number, or a text that is one, as in ArduPilot's file. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** Pairs of a number and its text, at most 256; null if there is none. */
export function choicesOf(
  pairs: readonly (readonly [unknown, unknown])[],
): readonly (readonly [number, string])[] | null {
  const choices = pairs.slice(0, MAX_CHOICES).flatMap(([key, value]) => {
    const [number, text] = [numberOf(key), textOf(value)];
    return number === null || text === null ? [] : [[number, text] as const];
  });
  return choices.length === 0 ? null : choices;
}

export function valuesOf(choices: ReturnType<typeof choicesOf>): ParamDescription['values'] {
  return choices?.map(([value, text]) => ({ value, text })) ?? null;
}

/** A bit that no 32-bit value has is left out. */
export function bitsOf(choices: ReturnType<typeof choicesOf>): ParamDescription['bitmask'] {
  const bits = choices?.filter(([bit]) => Number.isInteger(bit) && bit >= 0 && bit < 32) ?? [];
  return bits.length === 0 ? null : bits.map(([bit, text]) => ({ bit, text }));
}

export function recordOf(value: unknown): JsonObject {
  return isRecord(value) ? value : {};
}
