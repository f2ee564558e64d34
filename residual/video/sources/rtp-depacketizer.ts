import { joinNals, NAL, nalType } from '../../../shared/media/h264.ts';
import { HEADER_BYTES_265, isKey265, NAL265, nalType265 } from '../../../shared/media/h265.ts';
import type { VideoCodec } from '../../../shared/rpc/video.ts';

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
/** Sequence numbers, as RFC 3550 A.1 has them: a gap of more, or a step back of more, is no loss and no detour. */
const MAX_DROPOUT = 3000;
const MAX_MISORDER = 100;
/** Of the RTP clock: what took a detour is no older. */
const MAX_DETOUR = 2 * 90_000;

/** Where a stream stands. */
interface Stream {
  readonly ssrc: number;
  /** The sequence number that comes next. */
  next: number;
  /** By the steady clock, microseconds. */
  heardAt: number;
}

interface PacketHead {
  readonly header: Header;
  readonly codec: VideoCodec;
}

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

/** Whether it comes next, or after a loss. */
function forward(sequence: number, next: number): boolean {
  return ((sequence - next) & 0xffff) < MAX_DROPOUT;
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
  #timestamp: number | null = null;
  #stream: Stream | null = null;
  /** The first packet of what may be a new stream: with the second one, the next in sequence, it is (RFC 3550 A.1). */
  #held: PacketHead | null = null;
  /** What was given up for the present stream. If it goes on, there are two senders, and the first one is kept. */
  #left: Stream | null = null;
  #second: number | null = null;

  /** @param onUnit an access unit in Annex B, without lost parts */
  constructor(onUnit: (unit: Buffer, key: boolean, codec: VideoCodec) => void) {
    this.#onUnit = onUnit;
  }

  /** @param at microseconds of a steady clock */
  push(datagram: Buffer, at: number): void {
    const header = parse(datagram);
    const codec = header === null ? null : this.#codecOf(header, at);
    if (header === null || codec === null) {
      this.counters.refused++;
      return;
    }
    const stream = this.#streamOf(header, codec, at);
    if (stream === null) {
      this.counters.refused++;
      return;
    }
    this.#take(header, codec, stream, at);
  }

  #take(header: Header, codec: VideoCodec, stream: Stream, at: number): void {
    if (codec !== this.#codec) this.#reset();
    this.#codec = codec;
    this.#type = header.type;
    const gap = (header.sequence - stream.next) & 0xffff;
    if (gap > 0) {
      this.counters.lost += gap;
      this.#parts = [];
    }
    stream.next = (header.sequence + 1) & 0xffff;
    stream.heardAt = at;
    if (this.#timestamp !== null && this.#timestamp !== header.timestamp) this.#flush(); // its marker was lost
    this.#timestamp = header.timestamp;
    if (this.#codec === 'h265') this.#take265(header.payload);
    else this.#take264(header.payload);
    if (header.marker) this.#flush();
  }

  /**
   * The stream that a packet belongs to. A sender may begin anew at any time, with another SSRC or other sequence numbers; another
   * sender beside it is not let in, as the two would make a broken picture.
   * @returns null for one that is not used, or not yet
   */
  #streamOf(header: Header, codec: VideoCodec, at: number): Stream | null {
    const { ssrc, sequence } = header;
    const present = this.#stream;
    if (present === null || at - present.heardAt >= SILENCE_US) {
      // It goes on, as if nothing had been: after a pause it is as good as new.
      const goesOn = present?.ssrc === ssrc && forward(sequence, present.next);
      return goesOn ? present : this.#begin(header, at);
    }
    if (present.ssrc === ssrc) {
      if (forward(sequence, present.next)) return present;
      if (this.#isDetour(header, present)) return null;
    } else if (this.#left?.ssrc === ssrc && this.#goesOn(this.#left, sequence, at)) {
      this.#second = present.ssrc;
      this.#stream = this.#left;
      this.#left = null;
      this.#reset();
      return this.#stream;
    } else if (ssrc === this.#second) return null;
    const held = this.#held;
    this.#held = { header, codec };
    if (held?.header.ssrc !== ssrc || ((held.header.sequence + 1) & 0xffff) !== sequence) return null;
    this.#held = null;
    this.counters.refused--;
    const begun = this.#begin(held.header, at);
    this.#left = present.ssrc === ssrc ? null : present;
    this.#take(held.header, held.codec, begun, at);
    return begun;
  }

  #begin({ ssrc, sequence }: Header, heardAt: number): Stream {
    this.#flush();
    this.#stream = { ssrc, next: sequence, heardAt };
    this.#held = null;
    this.#left = null;
    this.#second = null;
    return this.#stream;
  }

  #goesOn({ next, heardAt }: Stream, sequence: number, at: number): boolean {
    return at - heardAt < SILENCE_US && ((sequence - next) & 0xffff) < MAX_MISORDER;
  }

  /** Overtaken on its way, and too late: not the first of a stream that begins a little below. */
  #isDetour({ sequence, timestamp }: Header, { next }: Stream): boolean {
    const older = ((this.#timestamp ?? timestamp) - timestamp) >>> 0;
    return ((next - sequence) & 0xffff) <= MAX_MISORDER && older <= MAX_DETOUR;
  }

  /** No description of the stream comes with it. @returns null: it is neither, and must not replace the sender */
  #codecOf({ payload, ssrc, type }: Header, at: number): VideoCodec | null {
    if (isOnlyH265(payload)) return 'h265';
    const is265 = this.#codec === 'h265' && type === this.#type;
    if (is265 && isH265(payload)) return 'h265';
    // A sender may begin anew, with the other codec and the same numbers.
    if (is265 && ssrc === this.#stream?.ssrc && at - this.#stream.heardAt < SILENCE_US) return null;
    return isH264(payload) ? 'h264' : null;
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
