/** By MAV_PARAM_TYPE, UINT8 first; a float has those of 32 bits. */
const WIDTHS: readonly (number | undefined)[] = [undefined, 8, 8, 16, 16, 32, 32, 64, 64];
const SIGNED: readonly number[] = [2, 4, 6, 8];

const widthOf = (type: number | undefined): number => WIDTHS[type ?? 0] ?? 32;

/** The bits of a value as a number from 0 on: a negative one is in two's complement of its type's width. */
function bitsOf(value: number, type: number | undefined): number {
  return value < 0 ? value + 2 ** widthOf(type) : value;
}

/** Bits beyond 31 too, which `&` does not know. */
export function hasBit(value: number, bit: number, type: number | undefined): boolean {
  return Math.floor(bitsOf(value, type) / 2 ** bit) % 2 === 1;
}

/** The value with one of its bits set or cleared. */
export function withBit(value: number, bit: number, isSet: boolean, type: number | undefined): number {
  const change = isSet === hasBit(value, bit, type) ? 0 : (isSet ? 1 : -1) * 2 ** bit;
  const bits = bitsOf(value, type) + change;
  const width = widthOf(type);
  const isSigned = value < 0 || SIGNED.includes(type ?? 0);
  return isSigned && bits >= 2 ** (width - 1) ? bits - 2 ** width : bits;
}
