/** How a vehicle puts a parameter's value into the 32 bits of PARAM_VALUE. */
export type ParamEncoding = 'by_value' | 'bytewise';

const CAPABILITY_BYTEWISE = 16;
const CAPABILITY_C_CAST = 131_072;

// MAV_PARAM_TYPE
const UINT8 = 1;
const INT8 = 2;
const UINT16 = 3;
const INT16 = 4;
const UINT32 = 5;
const INT32 = 6;

const view = new DataView(new ArrayBuffer(4));

/**
 * The encoding that the vehicle declares in AUTOPILOT_VERSION (MAV_PROTOCOL_CAPABILITY); until then, its firmware's usual one.
 * @param capabilities low 32 bits, null while unknown
 */
export function paramEncoding(
  capabilities: number | null,
  firmware: 'ardupilot' | 'px4' | 'unknown' | null,
): ParamEncoding {
  if (capabilities !== null && (capabilities & CAPABILITY_BYTEWISE) !== 0) return 'bytewise';
  if (capabilities !== null && (capabilities & CAPABILITY_C_CAST) !== 0) return 'by_value';
  return firmware === 'px4' ? 'bytewise' : 'by_value';
}

/** @param bits the four bytes of `param_value` as an unsigned integer */
export function paramFromBits(bits: number, type: number, encoding: ParamEncoding): number {
  view.setUint32(0, bits);
  if (encoding === 'by_value') return view.getFloat32(0);
  // An integer of less than 32 bits is in the first bytes on the wire, which are the low bits of `bits`.
  switch (type) {
    case UINT8:
      return view.getUint8(3);
    case INT8:
      return view.getInt8(3);
    case UINT16:
      return view.getUint16(2);
    case INT16:
      return view.getInt16(2);
    case UINT32:
      return view.getUint32(0);
    case INT32:
      return view.getInt32(0);
    default:
      return view.getFloat32(0);
  }
}

/** Bounds of the integer types, inclusive. */
const BOUNDS: Readonly<Record<number, readonly [low: number, high: number]>> = {
  [UINT8]: [0, 0xff],
  [INT8]: [-0x80, 0x7f],
  [UINT16]: [0, 0xffff],
  [INT16]: [-0x8000, 0x7fff],
  [UINT32]: [0, 0xffff_ffff],
  [INT32]: [-0x8000_0000, 0x7fff_ffff],
};

/**
 * The four bytes of a value for PARAM_SET, as an unsigned integer; a float is rounded to the nearest float32.
 * @returns a sentence (without its subject) for a value that the type cannot hold
 */
export function paramToBits(value: number, type: number, encoding: ParamEncoding): number | string {
  const bounds = BOUNDS[type];
  if (bounds !== undefined) {
    const [low, high] = bounds;
    if (!Number.isInteger(value) || value < low || value > high)
      return `is an integer from ${low} to ${high} on this vehicle`;
    if (encoding === 'by_value' && Math.fround(value) !== value)
      return 'travels as a float32 on this vehicle, which cannot hold this integer';
  } else if (!Number.isFinite(Math.fround(value))) return 'is beyond what a float32 holds';
  if (bounds === undefined || encoding === 'by_value') {
    view.setFloat32(0, value);
    return view.getUint32(0);
  }
  // An integer of less than 32 bits goes into the first bytes on the wire; the others are zero.
  const [low, high] = bounds;
  return (value & (high - low)) >>> 0;
}
