/** Reads the number at a place. */
export type GetNumber = (view: DataView, at: number) => number;

/** Size and reader of each little-endian number that logs have, by its name in C. */
export const NUMBERS = {
  int8_t: [1, (view, at) => view.getInt8(at)],
  uint8_t: [1, (view, at) => view.getUint8(at)],
  int16_t: [2, (view, at) => view.getInt16(at, true)],
  uint16_t: [2, (view, at) => view.getUint16(at, true)],
  int32_t: [4, (view, at) => view.getInt32(at, true)],
  uint32_t: [4, (view, at) => view.getUint32(at, true)],
  int64_t: [8, (view, at) => Number(view.getBigInt64(at, true))],
  uint64_t: [8, (view, at) => micros(view, at)],
  float: [4, (view, at) => view.getFloat32(at, true)],
  double: [8, (view, at) => view.getFloat64(at, true)],
} as const satisfies Readonly<Record<string, readonly [size: number, get: GetNumber]>>;

const HIGH = 2 ** 32;

/** Without a BigInt, of which a log with a time in every record would make millions. */
function micros(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * HIGH;
}

/** A text of one byte a character (latin1), up to its first NUL. */
export function textAt(view: DataView, at: number, size: number): string {
  let text = '';
  for (let index = 0; index < size && at + index < view.byteLength; index++) {
    const code = view.getUint8(at + index);
    if (code === 0) break;
    text += String.fromCharCode(code);
  }
  return text;
}
