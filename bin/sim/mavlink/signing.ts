import { createHash } from 'node:crypto';
import type { Frame } from './wire.ts';

const KEY = 32;
const MAC = 6;
const LINK_ID = 0;
const TIMESTAMP_BITS = 48;
const UNITS_PER_MS = 100n; // a timestamp counts 10 µs
const EPOCH_MS = 1_420_070_400_000n; // 2015-01-01
const NEW_STREAM_WINDOW = 6_000_000n; // one minute: how far a stream that is not known may lie behind
const UNSIGNED_ALLOWED: ReadonlySet<number> = new Set([109, 166]); // RADIO_STATUS and RADIO: a modem cannot sign

/**
 * Signs what goes out and checks what comes in, once there is a key (https://mavlink.io/en/guide/message_signing.html).
 * Like ArduPilot on a network link it takes nothing unsigned but what a radio modem puts in.
 */
export class Signing {
  readonly #wallMs: () => number;
  readonly #streams = new Map<string, bigint>();
  #key: Buffer | undefined;
  #timestamp = 0n;

  /** @param key 32 bytes, or undefined @param wallMs ms since 1970 */
  constructor(key: Buffer | undefined, wallMs: () => number) {
    this.#key = key;
    this.#wallMs = wallMs;
  }

  get active(): boolean {
    return this.#key !== undefined;
  }

  /** SETUP_SIGNING. A key of zeros ends signing. */
  setup(key: Buffer, initialTimestamp: bigint): void {
    this.#key = key.some((byte) => byte !== 0) ? Buffer.from(key.subarray(0, KEY)) : undefined;
    this.#timestamp = BigInt.asUintN(TIMESTAMP_BITS, initialTimestamp);
    this.#streams.clear();
  }

  /** @param frame from the start byte to the checksum @returns link id, timestamp and signature: 13 bytes */
  sign(frame: Buffer): Buffer {
    const now = (BigInt(Math.floor(this.#wallMs())) - EPOCH_MS) * UNITS_PER_MS;
    this.#timestamp = BigInt.asUintN(TIMESTAMP_BITS, now > this.#timestamp ? now : this.#timestamp + 1n);
    const stamp = Buffer.alloc(8);
    stamp.writeUInt8(LINK_ID, 0);
    stamp.writeUIntLE(Number(this.#timestamp), 1, 6);
    const tail = stamp.subarray(0, 7);
    return Buffer.concat([tail, this.#mac(Buffer.concat([frame, tail]))]);
  }

  /** Whether a received frame may be acted on; a good one moves the clock of its stream. */
  accepts({ signature, msgid, sysid, compid }: Frame): boolean {
    if (this.#key === undefined) return true;
    if (signature === undefined) return UNSIGNED_ALLOWED.has(msgid);
    if (!this.#mac(signature.covered).equals(signature.mac)) return false;
    const { timestamp } = signature;
    const stream = `${signature.linkId}/${sysid}/${compid}`;
    const last = this.#streams.get(stream);
    if (last === undefined ? timestamp + NEW_STREAM_WINDOW < this.#timestamp : timestamp <= last)
      return false;
    this.#streams.set(stream, timestamp);
    if (timestamp > this.#timestamp) this.#timestamp = timestamp;
    return true;
  }

  #mac(covered: Buffer): Buffer {
    const hash = createHash('sha256').update(this.#key ?? Buffer.alloc(KEY));
    return hash.update(covered).digest().subarray(0, MAC);
  }
}
