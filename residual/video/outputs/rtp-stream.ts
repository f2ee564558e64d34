import type { AccessUnit } from '../engine/picture.ts';
import { packetize, rtpTimestamp } from '../engine/rtp-h264.ts';

const PAYLOAD_TYPE = 96;
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

  /** The datagrams of one picture. */
  packets(unit: AccessUnit): readonly Buffer[] {
    const timestamp = rtpTimestamp(unit.at);
    return packetize(unit.data).map(({ payload, marker }) => {
      const packet = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
      packet[0] = 0x80;
      packet[1] = PAYLOAD_TYPE | (marker ? 0x80 : 0);
      packet.writeUInt16BE(this.#sequence, 2);
      packet.writeUInt32BE(timestamp, 4);
      packet.writeUInt32BE(this.#ssrc, 8);
      payload.copy(packet, HEADER_BYTES);
      this.#sequence = (this.#sequence + 1) & 0xffff;
      return packet;
    });
  }
}
