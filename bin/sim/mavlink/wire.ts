/**
 * MAVLink 2 framing for the simulator. It shares nothing with `shared/mavlink`: each is the other's oracle, and
 * `test/sim/wire.spec.ts` holds this one byte for byte against `node-mavlink`'s encoder.
 */
import { MSG_ID_MAGIC_NUMBER } from 'mavlink-mappings/dist/lib/magic-numbers.js';
import { recordOf } from '../../../shared/member.ts';
import type { Field, MessageType } from './messages.ts';

/** A received frame whose checksum is right; `payload` has lost the zeros that MAVLink 2 cuts off. */
export interface Frame {
  readonly msgid: number;
  readonly sysid: number;
  readonly compid: number;
  readonly payload: Buffer;
  /** Absent on a frame that is not signed. */
  readonly signature?: FrameSignature;
}

/** The last 13 bytes of a signed frame. */
interface FrameSignature {
  readonly linkId: number;
  /** 10 µs since 2015-01-01. */
  readonly timestamp: bigint;
  readonly mac: Buffer;
  /** What the signature is made of, besides the key: the frame from its start byte to the timestamp. */
  readonly covered: Buffer;
}

const STX_V2 = 0xfd;
const STX_V1 = 0xfe;
const HEADER_V2 = 10;
const HEADER_V1 = 6;
const CHECKSUM = 2;
const SIGNATURE = 13;
const SIGNED = 1; // the one incompatibility flag

/** CRC-16/MCRF4XX over `bytes[start, end)` and then the CRC_EXTRA byte. */
export function checksum(bytes: Buffer, start: number, end: number, extra: number): number {
  let crc = 0xffff;
  const add = (byte: number): void => {
    let t = (byte ^ crc) & 0xff;
    t = (t ^ (t << 4)) & 0xff;
    crc = ((crc >> 8) ^ (t << 8) ^ (t << 3) ^ (t >> 4)) & 0xffff;
  };
  for (let i = start; i < end; i++) add(bytes.readUInt8(i));
  add(extra);
  return crc;
}

/**
 * Frames a finished payload: header, truncation of trailing zeros, checksum.
 * @param sign makes the 13 bytes of the signature of a frame that ends with its checksum
 */
export function frame(
  ids: { readonly sysid: number; readonly compid: number; readonly seq: number; readonly msgid: number },
  payload: Buffer,
  extra: number,
  sign?: (frame: Buffer) => Buffer,
): Buffer {
  let length = payload.length;
  while (length > 1 && payload[length - 1] === 0) length--; // the first byte is never cut off
  const bytes = Buffer.alloc(HEADER_V2 + length + CHECKSUM);
  bytes.writeUInt8(STX_V2, 0);
  bytes.writeUInt8(length, 1);
  if (sign !== undefined) bytes.writeUInt8(SIGNED, 2);
  bytes.writeUInt8(ids.seq, 4);
  bytes.writeUInt8(ids.sysid & 0xff, 5);
  bytes.writeUInt8(ids.compid, 6);
  bytes.writeUIntLE(ids.msgid, 7, 3);
  payload.copy(bytes, HEADER_V2, 0, length);
  bytes.writeUInt16LE(checksum(bytes, 1, HEADER_V2 + length, extra), HEADER_V2 + length);
  return sign === undefined ? bytes : Buffer.concat([bytes, sign(bytes)]);
}

/** The full payload of a message. A field that `values` lacks is zero; a bigint in a float field is its bits. */
export function encode<T extends object>(type: MessageType<T>, values: Partial<T>): Buffer {
  const payload = Buffer.alloc(type.PAYLOAD_LENGTH);
  const record = recordOf(values);
  for (const field of type.FIELDS) {
    const value = record[field.name];
    if (value === undefined) continue;
    if (typeof value === 'string') payload.write(value.slice(0, field.length), field.offset, 'latin1');
    else if (Array.isArray(value)) {
      for (const [i, one] of value.slice(0, field.length).entries()) writeScalar(payload, field, i, one);
    } else writeScalar(payload, field, 0, value);
  }
  return payload;
}

/** Reads a message out of a frame; bytes that the sender cut off are zero. */
export function decode<T extends object>(type: MessageType<T>, received: Frame): T {
  const payload = Buffer.alloc(Math.max(type.PAYLOAD_LENGTH, received.payload.length));
  received.payload.copy(payload);
  const record: Record<string, unknown> = {};
  for (const field of type.FIELDS) {
    if (field.kind === 'c') {
      const text = payload.toString('latin1', field.offset, field.offset + field.length);
      record[field.name] = text.split('\0', 1)[0];
    } else if (field.length > 0) {
      record[field.name] = Array.from({ length: field.length }, (_, i) => readScalar(payload, field, i));
    } else record[field.name] = readScalar(payload, field, 0);
  }
  return record as T;
}

function writeScalar(bytes: Buffer, field: Field, index: number, value: unknown): void {
  const { kind, size } = field;
  const at = field.offset + index * size;
  if (kind === 'f' && typeof value === 'bigint') bytes.writeUInt32LE(Number(BigInt.asUintN(32, value)), at);
  else if (kind === 'f') bytes.writeFloatLE(Number(value), at);
  else if (size === 8)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, typeof value === 'bigint' ? value : BigInt(Number(value))), at);
  else if (kind === 'i')
    bytes.writeIntLE(held(value, -(2 ** (size * 8 - 1)), 2 ** (size * 8 - 1) - 1), at, size);
  else bytes.writeUIntLE(held(value, 0, 2 ** (size * 8) - 1), at, size);
}

// Rounded, and held inside the field: a parameter that somebody sets to nonsense must not end the process.
function held(value: unknown, low: number, high: number): number {
  const rounded = Math.round(Number(value));
  return Number.isNaN(rounded) ? 0 : Math.min(high, Math.max(low, rounded));
}

function readScalar(bytes: Buffer, field: Field, index: number): number | bigint {
  const { kind, size } = field;
  const at = field.offset + index * size;
  if (kind === 'f') return bytes.readFloatLE(at);
  if (size === 8) return bytes.readBigUInt64LE(at);
  return kind === 'i' ? bytes.readIntLE(at, size) : bytes.readUIntLE(at, size);
}

const SILENCE_MS = 100;

/** Cuts a byte stream into frames. MAVLink 1 is read too; what cannot be checked is skipped byte by byte. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #last = 0;

  /** @param now wall clock, ms. A frame that is not complete after a pause was none: its bytes are searched again. */
  push(chunk: Buffer, now: number): Frame[] {
    const paused = this.#rest.length > 0 && now - this.#last > SILENCE_MS;
    this.#last = now;
    const before = paused ? this.#cut(this.#rest, true) : [];
    return [...before, ...this.#cut(Buffer.concat([this.#rest, chunk]), false)];
  }

  #cut(stream: Buffer, ended: boolean): Frame[] {
    let bytes = stream;
    const frames: Frame[] = [];
    for (;;) {
      const start = bytes.findIndex((byte) => byte === STX_V2 || byte === STX_V1);
      if (start < 0) {
        bytes = bytes.subarray(bytes.length);
        break;
      }
      bytes = bytes.subarray(start);
      const total = frameLength(bytes);
      const incomplete = total === undefined || bytes.length < total;
      if (incomplete && !ended) break;
      const whole = incomplete ? undefined : readFrame(bytes.subarray(0, total));
      if (whole !== undefined) frames.push(whole);
      bytes = bytes.subarray(whole === undefined ? 1 : (total ?? 1));
    }
    this.#rest = Buffer.from(bytes); // a copy: the chunk's pool must not be held
    return frames;
  }
}

/** Bytes of the frame that starts at 0, or undefined while its header is incomplete. */
function frameLength(bytes: Buffer): number | undefined {
  if (bytes.length < HEADER_V1) return undefined;
  const v2 = bytes[0] === STX_V2;
  const signed = v2 && (bytes.readUInt8(2) & 1) === 1;
  return (v2 ? HEADER_V2 : HEADER_V1) + bytes.readUInt8(1) + CHECKSUM + (signed ? SIGNATURE : 0);
}

function readFrame(bytes: Buffer): Frame | undefined {
  const v2 = bytes[0] === STX_V2;
  const from = v2 ? HEADER_V2 : HEADER_V1;
  const to = from + bytes.readUInt8(1);
  const msgid = v2 ? bytes.readUIntLE(7, 3) : bytes.readUInt8(5);
  const extra = MSG_ID_MAGIC_NUMBER[String(msgid)];
  if (extra === undefined || checksum(bytes, 1, to, extra) !== bytes.readUInt16LE(to)) return undefined;
  if (v2 && (bytes.readUInt8(2) & ~SIGNED) !== 0) return undefined; // a flag that changes the frame in an unknown way
  const ids = v2 ? 5 : 3;
  const signature = v2 && bytes.length > to + CHECKSUM ? readSignature(bytes, to + CHECKSUM) : undefined;
  return {
    msgid,
    sysid: bytes.readUInt8(ids),
    compid: bytes.readUInt8(ids + 1),
    payload: Buffer.from(bytes.subarray(from, to)),
    ...(signature === undefined ? {} : { signature }),
  };
}

function readSignature(bytes: Buffer, at: number): FrameSignature {
  return {
    linkId: bytes.readUInt8(at),
    timestamp: BigInt(bytes.readUIntLE(at + 1, 6)),
    mac: Buffer.from(bytes.subarray(at + 7, at + SIGNATURE)),
    covered: Buffer.from(bytes.subarray(0, at + 7)),
  };
}
