import { createHash, timingSafeEqual } from 'node:crypto';
import { frameCrc } from '../../shared/mavlink/crc.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import type { Frame } from '../../shared/mavlink/frame.ts';
import { STX_V2 } from '../../shared/mavlink/frame-head.ts';

const SIGNED = 1;
const MAC_BYTES = 6;
/** Link id, timestamp, and the first six bytes of the hash. */
export const SIGNATURE_BYTES = 13;
/** Timestamps count 10 µs from here: 1 January 2015, UTC. */
const EPOCH_MS = Date.UTC(2015, 0, 1);
const UNITS_PER_MS = 100;

/** A time in the units of MAVLink signing: 10 µs since 2015, 48 bits. @param wallMs ms since 1970 */
function signingTime(wallMs: number): number {
  return Math.max(0, Math.floor((wallMs - EPOCH_MS) * UNITS_PER_MS));
}

/**
 * Signs frames for the vehicle and checks the vehicle's (https://mavlink.io/en/guide/message_signing.html).
 */
export class Signer {
  readonly #key: Buffer;
  readonly #linkId: number;
  readonly #wall: () => number;
  #timestamp = 0;
  /** First 8 hex characters of the key's SHA-256, to tell keys apart without showing one. */
  readonly keyId: string;

  /** @param key 32 bytes, which this object owns from now on @param wall ms since 1970 */
  constructor(key: Buffer, linkId: number, wall: () => number) {
    this.#key = key;
    this.#linkId = linkId;
    this.#wall = wall;
    this.keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  }

  /**
   * Signs an unsigned frame of another sender. A v1 frame becomes a v2 frame, since only those can be signed. @returns null for
   * a v1 frame of an unknown message, whose v2 checksum cannot be computed
   */
  signFrame(frame: Frame): Buffer | null {
    if (frame.version === 2) return this.sign(frame.bytes());
    if (!frame.known) return null;
    let length = frame.payloadLength;
    while (length > 1 && frame.buffer[frame.payloadStart + length - 1] === 0) length--;
    const whole = Buffer.alloc(length + 12);
    whole[0] = STX_V2;
    whole[1] = length;
    whole[4] = frame.seq;
    whole[5] = frame.system;
    whole[6] = frame.component;
    whole.writeUIntLE(frame.id, 7, 3);
    frame.buffer.copy(whole, 10, frame.payloadStart, frame.payloadStart + length);
    whole.writeUInt16LE(frameCrc(whole, 1, 10 + length, crcExtraOf(frame.id)), 10 + length);
    return this.sign(whole);
  }

  /** @param frame an unsigned v2 frame */
  sign(frame: Buffer): Buffer {
    const signed = Buffer.alloc(frame.length + SIGNATURE_BYTES);
    frame.copy(signed);
    const crcAt = frame.length - 2;
    // The flag changes the checksum. A CRC is linear: the difference depends only on the changed bytes, so this works without
    // the CRC_EXTRA.
    const before = frameCrc(signed, 1, crcAt, 0);
    signed[2] = SIGNED;
    signed.writeUInt16LE(frame.readUInt16LE(crcAt) ^ before ^ frameCrc(signed, 1, crcAt, 0), crcAt);
    this.#timestamp = Math.max(this.#timestamp + 1, signingTime(this.#wall()));
    signed.writeUInt8(this.#linkId, frame.length);
    signed.writeUIntLE(this.#timestamp, frame.length + 1, 6);
    this.#mac(signed.subarray(0, signed.length - MAC_BYTES)).copy(signed, signed.length - MAC_BYTES);
    return signed;
  }

  /**
   * Whether a signed frame was signed with this key. If so, and its time is ahead of ours, we continue from its time: a vehicle
   * rejects frames older than the newest it has seen, and a companion computer may have booted without a clock.
   */
  verifies({ buffer, end, start }: Frame): boolean {
    const mac = buffer.subarray(end - MAC_BYTES, end);
    if (!timingSafeEqual(mac, this.#mac(buffer.subarray(start, end - MAC_BYTES)))) return false;
    this.#timestamp = Math.max(this.#timestamp, buffer.readUIntLE(end - MAC_BYTES - 6, 6));
    return true;
  }

  /** The payload of SETUP_SIGNING (256) that gives the vehicle this key. */
  setup(system: number, component: number): Buffer {
    return setupPayload(system, component, this.#key, Math.max(this.#timestamp, signingTime(this.#wall())));
  }

  /** Overwrites the key; the signer must not be used afterwards. */
  forget(): void {
    this.#key.fill(0);
  }

  #mac(covered: Uint8Array): Buffer {
    return createHash('sha256').update(this.#key).update(covered).digest().subarray(0, MAC_BYTES);
  }
}

/** The payload of SETUP_SIGNING that ends signing: a key of zeros at time zero. */
export function setupNone(system: number, component: number): Buffer {
  return setupPayload(system, component, Buffer.alloc(32), 0);
}

function setupPayload(system: number, component: number, key: Buffer, timestamp: number): Buffer {
  const payload = Buffer.alloc(42);
  payload.writeUIntLE(timestamp, 0, 6);
  payload.writeUInt8(system, 8);
  payload.writeUInt8(component, 9);
  key.copy(payload, 10);
  return payload;
}
