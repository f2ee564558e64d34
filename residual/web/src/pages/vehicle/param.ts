import type { Answer } from '../../api/rows.ts';

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
      .filter(({ bit }) => hasBit(value, bit, details))
      .map(({ text }) => text)
      .join(', ');
  return units;
}

/** By MAV_PARAM_TYPE, UINT8 first; a float has those of 32 bits. */
const WIDTHS: readonly (number | undefined)[] = [undefined, 8, 8, 16, 16, 32, 32, 64, 64];
const SIGNED: readonly number[] = [2, 4, 6, 8];

const widthOf = (details: Details | null): number => WIDTHS[details?.type ?? 0] ?? 32;

/** The bits of a value as a number from 0 on: a negative one is in two's complement of its type's width. */
function bitsOf(value: number, details: Details | null): number {
  return value < 0 ? value + 2 ** widthOf(details) : value;
}

/** Bits beyond 31 too, which `&` does not know. */
export function hasBit(value: number, bit: number, details: Details | null): boolean {
  return Math.floor(bitsOf(value, details) / 2 ** bit) % 2 === 1;
}

/** The value with one of its bits set or cleared. */
export function withBit(value: number, bit: number, isSet: boolean, details: Details | null): number {
  const change = isSet === hasBit(value, bit, details) ? 0 : (isSet ? 1 : -1) * 2 ** bit;
  const bits = bitsOf(value, details) + change;
  const width = widthOf(details);
  const isSigned = value < 0 || SIGNED.includes(details?.type ?? 0);
  return isSigned && bits >= 2 ** (width - 1) ? bits - 2 ** width : bits;
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
  const { label, description } = details?.metadata ?? { label: '', description: '' };
  const text = `${name} ${label ?? ''} ${description ?? ''}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
