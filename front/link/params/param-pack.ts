/** One parameter of ArduPilot's packed file. */
interface PackedParam {
  readonly name: string;
  /** MAV_PARAM_TYPE */
  readonly type: number;
  readonly value: number;
  /** Null: the file does not tell defaults. */
  readonly default: number | null;
}

const MAGIC = 0x671b;
const MAGIC_WITH_DEFAULTS = 0x671c;
const HAS_DEFAULT = 1;
const MAX_NAME = 16;

/** ArduPilot's ap_var_type -> MAV_PARAM_TYPE and size in bytes. */
const TYPES: Readonly<Record<number, readonly [type: number, bytes: number]>> = {
  1: [2, 1],
  2: [4, 2],
  3: [6, 4],
  4: [9, 4],
};

/**
 * Reads `@PARAM/param.pck`, the file that ArduPilot serves over MAVLink FTP (libraries/AP_Filesystem/README.md): a header of
 * magic, number of parameters and total number, 16 bits each; then for each parameter a byte with type and flags, a byte with
 * two lengths (of the prefix that its name shares with the name before, and of the rest), the rest of the name, and the value;
 * in a file with defaults, and flagged so, the default after it.
 * Zero bytes between parameters are padding.
 * @returns null if it is not a complete file of this format
 */
export function readParamPack(file: Buffer): readonly PackedParam[] | null {
  if (file.length < 6) return null;
  const magic = file.readUInt16LE(0);
  if (magic !== MAGIC && magic !== MAGIC_WITH_DEFAULTS) return null;
  const count = file.readUInt16LE(2);
  const params: PackedParam[] = [];
  let name = '';
  let at = 6;
  while (params.length < count) {
    while (at < file.length && file[at] === 0) at++;
    if (at + 2 > file.length) return null;
    const head = file.readUInt8(at);
    const lengths = file.readUInt8(at + 1);
    const kind = TYPES[head & 0x0f];
    const rest = (lengths >> 4) + 1;
    if (kind === undefined) return null;
    const [type, bytes] = kind;
    const valueAt = at + 2 + rest;
    const differs = ((head >> 4) & HAS_DEFAULT) !== 0;
    const end = valueAt + bytes * (differs ? 2 : 1);
    if (end > file.length) return null;
    name = name.slice(0, lengths & 0x0f) + file.toString('latin1', at + 2, valueAt);
    if (name.length > MAX_NAME) return null;
    const value = valueOf(file, valueAt, type);
    // A default that is the value stands in the file once.
    const initial = differs ? valueOf(file, valueAt + bytes, type) : value;
    params.push({ name, type, value, default: magic === MAGIC_WITH_DEFAULTS ? initial : null });
    at = end;
  }
  return params;
}

function valueOf(file: Buffer, at: number, type: number): number {
  switch (type) {
    case 2:
      return file.readInt8(at);
    case 4:
      return file.readInt16LE(at);
    case 6:
      return file.readInt32LE(at);
    default:
      return file.readFloatLE(at);
  }
}
