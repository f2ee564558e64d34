import type { VideoCodec } from '../../../shared/rpc/video.ts';
import { joinNals, NAL, nalType } from '../engine/h264.ts';
import { HEADER_BYTES_265, isKey265, NAL265, nalType265 } from '../engine/h265.ts';

/**
 * RTP (RFC 3550) into access units: with H.264 (RFC 6184: single NAL units, STAP-A, FU-A) or with H.265 (RFC 7798: single NAL units,
 * aggregation packets, fragmentation units).
 */

interface Header {
  /** Of the payload. */
  readonly type: number;
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
/** Neither has a fixed payload type, so it is one of the dynamic ones. */
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
  if (from >= to) return null;
  return {
    type: second & 127,
    sequence: datagram.readUInt16BE(2),
    timestamp: datagram.readUInt32BE(4),
    ssrc: datagram.readUInt32BE(8),
    marker: (second & 128) !== 0,
    payload: datagram.subarray(from, to),
  };
}

/** Whether it is a payload of packetization mode 1. Nobody sends data partitions, and as such the small packets of H.265 look. */
function isH264([first = 0]: Buffer): boolean {
  const type = first & 0x1f;
  const partition = type > NAL.slice && type < NAL.idr;
  return (first & 0x80) === 0 && ((type >= 1 && type <= NAL.stapA && !partition) || type === NAL.fuA);
}

/** Whether it can be H.265: of the base layer, with a temporal id. */
function isH265([first = 0, second = 0]: Buffer): boolean {
  return (first & 0x81) === 0 && second >= 1 && second <= 7;
}

const ONLY_265: readonly number[] = [NAL265.vps, NAL265.sps, NAL265.pps, NAL265.aggregate, NAL265.fragment];

/** Whether it can be nothing but H.265. As H.264 it would be of a type that does not exist, or a data partition. */
function isOnlyH265(payload: Buffer): boolean {
  return isH265(payload) && ONLY_265.includes(nalType265(payload));
}

export class RtpDepacketizer {
  readonly counters: RtpCounters = { lost: 0, refused: 0 };
  readonly #onUnit: (unit: Buffer, key: boolean, codec: VideoCodec) => void;
  #codec: VideoCodec = 'h264';
  #type: number | null = null;
  #nals: Buffer[] = [];
  #bytes = 0;
  /** The fragments of one NAL unit; empty when none is under way. */
  #parts: Buffer[] = [];
  #next: number | null = null;
  #timestamp: number | null = null;
  #ssrc: number | null = null;
  #heardAt = 0;

  /** @param onUnit an access unit in Annex B, without lost parts */
  constructor(onUnit: (unit: Buffer, key: boolean, codec: VideoCodec) => void) {
    this.#onUnit = onUnit;
  }

  /** @param at microseconds of a steady clock */
  push(datagram: Buffer, at: number): void {
    const header = parse(datagram);
    const codec = header === null ? null : this.#codecOf(header, at);
    if (header === null || codec === null || !this.#isOurs(header, at)) {
      this.counters.refused++;
      return;
    }
    if (codec !== this.#codec) this.#reset();
    this.#codec = codec;
    this.#type = header.type;
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

  /** No description of the stream comes with it. @returns null: it is neither, and must not replace the sender */
  #codecOf({ payload, ssrc, type }: Header, at: number): VideoCodec | null {
    if (isOnlyH265(payload)) return 'h265';
    const isKnown = ssrc === this.#ssrc && type === this.#type;
    if (isKnown && this.#codec === 'h265' && isH265(payload)) return 'h265';
    // A sender may begin anew, with the other codec and the same numbers.
    if (isKnown && this.#codec === 'h265' && at - this.#heardAt < SILENCE_US) return null;
    return isH264(payload) ? 'h264' : null;
  }

  #take(payload: Buffer): void {
    if (this.#codec === 'h265') this.#take265(payload);
    else this.#take264(payload);
  }

  #take265(payload: Buffer): void {
    switch (nalType265(payload)) {
      case NAL265.aggregate:
        this.#aggregate(payload, HEADER_BYTES_265);
        return;
      case NAL265.fragment: {
        const [first = 0, second = 0, header = 0] = payload;
        const whole = Buffer.from([(first & 0x81) | ((header & 0x3f) << 1), second]);
        this.#part(header, whole, payload.subarray(HEADER_BYTES_265 + 1));
        return;
      }
      default:
        this.#keep(payload);
    }
  }

  #take264(payload: Buffer): void {
    switch (nalType(payload)) {
      case NAL.stapA:
        this.#aggregate(payload, 1);
        return;
      case NAL.fuA: {
        const [indicator = 0, header = 0] = payload;
        this.#part(header, Buffer.from([(indicator & 0xe0) | (header & 0x1f)]), payload.subarray(2));
        return;
      }
      default:
        this.#keep(payload);
    }
  }

  /** Several NAL units, each with its length. @param from where the first one is */
  #aggregate(payload: Buffer, from: number): void {
    for (let at = from; at + 2 < payload.length; ) {
      const length = payload.readUInt16BE(at);
      const nal = payload.subarray(at + 2, at + 2 + length);
      if (nal.length !== length || length === 0) return;
      this.#keep(nal);
      at += 2 + length;
    }
  }

  /** A part of one. @param header says whether it is the first or the last. @param whole the header of the NAL unit */
  #part(header: number, whole: Buffer, bytes: Buffer): void {
    if ((header & 0x80) !== 0) this.#parts = [whole];
    else if (this.#parts.length === 0) return; // its beginning was lost
    this.#parts.push(bytes);
    if ((header & 0x40) === 0) return;
    this.#keep(Buffer.concat(this.#parts));
    this.#parts = [];
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
    const codec = this.#codec;
    const key = nals.some((nal) => (codec === 'h265' ? isKey265(nal) : nalType(nal) === NAL.idr));
    this.#onUnit(joinNals(nals), key, codec);
  }

  #reset(): void {
    this.#nals = [];
    this.#bytes = 0;
    this.#parts = [];
  }
}
