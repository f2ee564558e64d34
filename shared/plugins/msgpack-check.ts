const MAX_DEPTH = 32;
const MAX_VALUES = 200_000;

/** Values of a fixed size: how many bytes follow the first one. */
const FIXED: ReadonlyMap<number, number> = new Map([
  [0xc0, 0],
  [0xc2, 0],
  [0xc3, 0],
  [0xca, 4],
  [0xcb, 8],
  [0xcc, 1],
  [0xcd, 2],
  [0xce, 4],
  [0xcf, 8],
  [0xd0, 1],
  [0xd1, 2],
  [0xd2, 4],
  [0xd3, 8],
]);
/** Texts and bytes: in how many bytes their length stands. */
const BYTES: ReadonlyMap<number, 1 | 2 | 4> = new Map([
  [0xc4, 1],
  [0xc5, 2],
  [0xc6, 4],
  [0xd9, 1],
  [0xda, 2],
  [0xdb, 4],
]);
const CONTAINERS: ReadonlyMap<number, { width: 2 | 4; values: 1 | 2 }> = new Map([
  [0xdc, { width: 2, values: 1 }],
  [0xdd, { width: 4, values: 1 }],
  [0xde, { width: 2, values: 2 }],
  [0xdf, { width: 4, values: 2 }],
]);

/**
 * Walks over a MessagePack value without building anything. The decoder reserves the room that a list claims to need, so a
 * nested list of five bytes each could claim all memory; here every list must be able to fit into what follows it.
 * @throws when it is cut short, nested deeper than 32, has more than 200 000 values, or has types that nobody here uses
 */
export function checkMsgpack(bytes: Buffer): void {
  const open: number[] = [1]; // how many values are still to come, for each container that is open
  let at = 0;
  let count = 0;
  const need = (size: number): void => {
    if (size > bytes.length - at) throw new Error('a frame is cut short');
  };
  while (open.length > 0) {
    const left = open.at(-1) ?? 0;
    if (left === 0) {
      open.pop();
      continue;
    }
    open[open.length - 1] = left - 1;
    if (++count > MAX_VALUES) throw new Error(`a frame has more than ${MAX_VALUES} values`);
    need(1);
    const type = bytes.readUInt8(at++);
    const size = sizeOf(type, bytes, at, need);
    at += size.header;
    if (size.values === null) {
      need(size.bytes);
      at += size.bytes;
    } else {
      need(size.values); // a value has at least one byte
      if (open.length > MAX_DEPTH) throw new Error(`a frame is nested deeper than ${MAX_DEPTH}`);
      open.push(size.values);
    }
  }
  if (at !== bytes.length) throw new Error('a frame has bytes after its message');
}

interface Size {
  readonly header: number;
  readonly bytes: number;
  /** How many values a list or a map has; null for everything else. */
  readonly values: number | null;
}

function sizeOf(type: number, bytes: Buffer, at: number, need: (size: number) => void): Size {
  if (type <= 0x7f || type >= 0xe0) return { header: 0, bytes: 0, values: null };
  if (type <= 0x8f) return { header: 0, bytes: 0, values: (type & 0x0f) * 2 };
  if (type <= 0x9f) return { header: 0, bytes: 0, values: type & 0x0f };
  if (type <= 0xbf) return { header: 0, bytes: type & 0x1f, values: null };
  const fixed = FIXED.get(type);
  if (fixed !== undefined) return { header: 0, bytes: fixed, values: null };
  const width = BYTES.get(type);
  if (width !== undefined) {
    need(width);
    return { header: width, bytes: bytes.readUIntBE(at, width), values: null };
  }
  const container = CONTAINERS.get(type);
  if (container === undefined)
    throw new Error(`a frame has a value of the type 0x${type.toString(16)}, which is not used here`);
  need(container.width);
  return {
    header: container.width,
    bytes: 0,
    values: bytes.readUIntBE(at, container.width) * container.values,
  };
}
