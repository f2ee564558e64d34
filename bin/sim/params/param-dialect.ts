import { crc32 } from 'node:zlib';
import type { Param, ParamType } from './params.ts';

/** How a firmware speaks the parameter protocol. */
export interface ParamDialect {
  /** What stands in PARAM_VALUE.param_value; a bigint is its 32 bits. */
  write(param: Param): number | bigint;
  /** @param bits the four bytes of PARAM_SET.param_value @returns NaN for what is no value */
  read(bits: Buffer, type: number): number;
  /** Answers to a name and to a PARAM_SET carry the parameter's index. */
  readonly indexed: boolean;
  /** What cannot be read or set is answered by PARAM_ERROR (PX4 since October 2025); else by nothing. */
  readonly errors: boolean;
  /** A PARAM_SET with another type than the parameter's is refused. */
  readonly typed: boolean;
  /** The value of the pseudo parameter _HASH_CHECK; absent: there is none. */
  readonly hash?: (params: readonly Param[]) => number;
}

/** ArduPilot: every value is a float, integers too, and the type of a PARAM_SET is not looked at. */
export const BY_VALUE: ParamDialect = {
  write: ({ value }) => value,
  read: (bits) => bits.readFloatLE(0),
  indexed: false,
  typed: false,
  errors: false,
};

/**
 * PX4 (MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE): the bytes of an integer stand where the float would be
 * (https://mavlink.io/en/services/parameter.html#parameter-encoding).
 */
export const BYTEWISE: ParamDialect = {
  write: (param) => BigInt(rawBytes(param).readUInt32LE(0)),
  read: (bits, type) => (type === REAL32 ? bits.readFloatLE(0) : bits.readInt32LE(0)),
  indexed: true,
  typed: true,
  errors: true,
  hash: hashCheck,
};

const REAL32: ParamType = 9;

function rawBytes({ type, value }: Param): Buffer {
  const bytes = Buffer.alloc(4);
  if (type === REAL32) bytes.writeFloatLE(value);
  else bytes.writeInt32LE(value);
  return bytes;
}

/**
 * PX4's param_hash_check: one CRC-32 that runs over the name and the value of each parameter in use. PX4 starts it at
 * zero and does not invert it, unlike zlib.
 */
function hashCheck(params: readonly Param[]): number {
  let crc = 0;
  for (const param of params) {
    crc = plainCrc32(Buffer.from(param.name, 'latin1'), crc);
    crc = plainCrc32(rawBytes(param), crc);
  }
  return crc;
}

function plainCrc32(bytes: Buffer, start: number): number {
  return ~crc32(bytes, ~start >>> 0) >>> 0;
}
