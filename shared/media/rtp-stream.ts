import type { AccessUnit } from './picture.ts';
import { packetize, rtpTimestamp } from './rtp-h264.ts';
import { packetize265 } from './rtp-h265.ts';

/** Both are dynamic; cameras and receivers without a description of the stream use these two. */
const FORMATS = {
  h264: { type: 96, packetize },
  h265: { type: 97, packetize: packetize265 },
} as const;
const HEADER_BYTES = 12;

/** One RTP stream of the main encode; every receiver gets the same packets. */
export class RtpStream {
  readonly #ssrc: number;
  #sequence: number;

  /** @param random 0 to 1, twice: RFC 3550 wants an unpredictable SSRC and first sequence number */
  constructor(random: () => number) {
    this.#ssrc = Math.floor(random() * 2 ** 32) >>> 0;
    this.#sequence = Math.floor(random() * 2 ** 16);
  }

  get ssrc(): number {
    return this.#ssrc;
  }

  /** The datagrams of one picture. */
  packets(unit: AccessUnit): readonly Buffer[] {
    const { type, packetize: split } = FORMATS[unit.codec];
    const timestamp = rtpTimestamp(unit.at);
    return split(unit.data).map(({ payload, marker }) => {
      const packet = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
      packet[0] = 0x80;
      packet[1] = type | (marker ? 0x80 : 0);
      packet.writeUInt16BE(this.#sequence, 2);
      packet.writeUInt32BE(timestamp, 4);
      packet.writeUInt32BE(this.#ssrc, 8);
      payload.copy(packet, HEADER_BYTES);
      this.#sequence = (this.#sequence + 1) & 0xffff;
      return packet;
    });
  }
}
