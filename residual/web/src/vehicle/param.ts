import type { Answer } from '../api/rows.ts';
import { hasBit } from './param-bits.ts';

type Details = NonNullable<Answer<'params.get'>['details']>[string];

/** A parameter of the vehicle, with what is known of it. */
export interface Param {
  readonly name: string;
  readonly value: number;
  readonly group: string;
  /** Null: the node has not told yet. */
  readonly details: Details | null;
}

export function paramsOf(
  values: Readonly<Record<string, number>>,
  details: Readonly<Record<string, Details>>,
): readonly Param[] {
  return Object.entries(values)
    .map(([name, value]) => {
      const known = details[name] ?? null;
      return { name, value, details: known, group: known?.metadata?.group ?? name.split('_')[0] ?? name };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The vehicle keeps 32-bit floats. */
export function isSame(a: number, b: number): boolean {
  return Math.fround(a) === Math.fround(b);
}

/** Null: its default is not known. */
export function isChanged({ value, details }: Param): boolean | null {
  const initial = details?.default ?? null;
  return initial === null ? null : !isSame(value, initial);
}

/** The value in words where its description has some. */
export function meaning(value: number, details: Details | null): string | null {
  const { values, bitmask, units } = details?.metadata ?? { values: null, bitmask: null, units: null };
  const choice = values?.find((each) => isSame(each.value, value));
  if (choice !== undefined) return choice.text;
  if (bitmask !== null && Number.isInteger(value) && value !== 0)
    return bitmask
      .filter(({ bit }) => hasBit(value, bit, details?.type))
      .map(({ text }) => text)
      .join(', ');
  return units;
}

export function isOutside(value: number, details: Details | null): boolean {
  const { min = null, max = null } = details?.metadata ?? {};
  return (
    (min !== null && Math.fround(value) < Math.fround(min)) ||
    (max !== null && Math.fround(value) > Math.fround(max))
  );
}

/** Whether each word stands in its name or in what describes it. */
export function matches({ name, details }: Param, search: string): boolean {
  const { label, description, values, bitmask } = details?.metadata ?? {};
  const words = [...(values ?? []), ...(bitmask ?? [])].map((each) => each.text);
  const text = [name, label, description, ...words].join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
