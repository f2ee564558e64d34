import { joinNals, NAL, nalType } from '../engine/h264.ts';

/** RTP (RFC 3550) with H.264 (RFC 6184: single NAL units, STAP-A, FU-A) into access units. */

interface Header {
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly marker: boolean;
  readonly payload: Buffer;
}

interface RtpCounters {
  /** Sequence numbers that never came. */
  lost: number;
  /** Datagrams that are not RTP, come too late or are from another sender. */
  refused: number;
}

const HEADER_BYTES = 12;
/** H.264 has no fixed payload type, so it is one of the dynamic ones. */
const FIRST_DYNAMIC_TYPE = 96;
const MAX_UNIT_BYTES = 4 * 1024 * 1024;
const SILENCE_US = 1_000_000;

/** @returns null if the datagram is not RTP */
function parse(datagram: Buffer): Header | null {
  const [first = 0, second = 0] = datagram;
  if (datagram.length < HEADER_BYTES || first >> 6 !== 2 || (second & 127) < FIRST_DYNAMIC_TYPE) return null;
  let from = HEADER_BYTES + (first & 15) * 4;
  if ((first & 16) !== 0) {
    if (from + 4 > datagram.length) return null;
    from += 4 + datagram.readUInt16BE(from + 2) * 4;
  }
  const padding = (first & 32) !== 0 ? (datagram.at(-1) ?? 0) : 0;
  const to = datagram.length - padding;
  if (from >= to || !isH264(datagram[from] ?? 0)) return null;
  return {
    sequence: datagram.readUInt16BE(2),
    timestamp: datagram.readUInt32BE(4),
    ssrc: datagram.readUInt32BE(8),
    marker: (second & 128) !== 0,
    payload: datagram.subarray(from, to),
  };
}

/** Whether it is a payload of packetization mode 1: other datagrams must not replace the sender. */
function isH264(first: number): boolean {
  const type = first & 0x1f;
  return (first & 0x80) === 0 && ((type >= 1 && type <= NAL.stapA) || type === NAL.fuA);
}

export class RtpDepacketizer {
  readonly counters: RtpCounters = { lost: 0, refused: 0 };
  readonly #onUnit: (unit: Buffer, key: boolean) => void;
  #nals: Buffer[] = [];
  #bytes = 0;
  /** FU-A parts of one NAL unit; empty when none is under way. */
  #parts: Buffer[] = [];
  #next: number | null = null;
  #timestamp: number | null = null;
  #ssrc: number | null = null;
  #heardAt = 0;

  /** @param onUnit an access unit in Annex B, without lost parts */
  constructor(onUnit: (unit: Buffer, key: boolean) => void) {
    this.#onUnit = onUnit;
  }

  /** @param at microseconds of a steady clock */
  push(datagram: Buffer, at: number): void {
    const header = parse(datagram);
    if (header === null || !this.#isOurs(header, at)) {
      this.counters.refused++;
      return;
    }
    const gap = this.#next === null ? 0 : (header.sequence - this.#next) & 0xffff;
    if (gap >= 0x8000) {
      this.counters.refused++; // older than what went before
      return;
    }
    if (gap > 0) {
      this.counters.lost += gap;
      this.#parts = [];
    }
    this.#next = (header.sequence + 1) & 0xffff;
    if (this.#timestamp !== null && this.#timestamp !== header.timestamp) this.#flush(); // its marker was lost
    this.#timestamp = header.timestamp;
    this.#take(header.payload);
    if (header.marker) this.#flush();
  }

  /** The first sender is used until it has been silent for a second: two at once would make a broken picture. */
  #isOurs({ ssrc }: Header, at: number): boolean {
    if (this.#ssrc !== ssrc) {
      if (this.#ssrc !== null && at - this.#heardAt < SILENCE_US) return false;
      this.#ssrc = ssrc;
      this.#next = null;
      this.#reset();
    }
    this.#heardAt = at;
    return true;
  }

  #take(payload: Buffer): void {
    switch (nalType(payload)) {
      case NAL.stapA: {
        for (let at = 1; at + 2 < payload.length; ) {
          const length = payload.readUInt16BE(at);
          const nal = payload.subarray(at + 2, at + 2 + length);
          if (nal.length !== length || length === 0) return;
          this.#keep(nal);
          at += 2 + length;
        }
        return;
      }
      case NAL.fuA: {
        const [indicator = 0, header = 0] = payload;
        if ((header & 0x80) !== 0) this.#parts = [Buffer.from([(indicator & 0xe0) | (header & 0x1f)])];
        else if (this.#parts.length === 0) return; // its beginning was lost
        this.#parts.push(payload.subarray(2));
        if ((header & 0x40) === 0) return;
        this.#keep(Buffer.concat(this.#parts));
        this.#parts = [];
        return;
      }
      default:
        this.#keep(payload);
    }
  }

  #keep(nal: Buffer): void {
    this.#bytes += nal.length;
    if (this.#bytes > MAX_UNIT_BYTES) this.#reset();
    else this.#nals.push(nal);
  }

  #flush(): void {
    const nals = this.#nals;
    this.#reset();
    if (nals.length === 0) return;
    const key = nals.some((nal) => nalType(nal) === NAL.idr);
    this.#onUnit(joinNals(nals), key);
  }

  #reset(): void {
    this.#nals = [];
    this.#bytes = 0;
    this.#parts = [];
  }
}
