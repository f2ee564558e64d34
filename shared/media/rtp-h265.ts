import { splitNals } from './h264.ts';
import { HEADER_BYTES_265, NAL265, nalType265 } from './h265.ts';
import { MAX_PAYLOAD, marked, type RtpPart } from './rtp-h264.ts';

/** H.265 over RTP (RFC 7798), without decoding order numbers: single NAL units and fragmentation units. */

/** @param unit one access unit in Annex B */
export function packetize265(unit: Buffer): readonly RtpPart[] {
  const payloads: Buffer[] = [];
  for (const nal of splitNals(unit)) {
    if (nalType265(nal) === NAL265.aud) continue;
    if (nal.length <= MAX_PAYLOAD) payloads.push(nal);
    else fragment(nal, payloads);
  }
  return marked(payloads);
}

function fragment(nal: Buffer, payloads: Buffer[]): void {
  const [first = 0, second = 0] = nal;
  const type = nalType265(nal);
  const room = MAX_PAYLOAD - HEADER_BYTES_265 - 1;
  for (let from = HEADER_BYTES_265; from < nal.length; from += room) {
    const to = Math.min(nal.length, from + room);
    const part = Buffer.allocUnsafe(to - from + HEADER_BYTES_265 + 1);
    part[0] = (first & 0x81) | (NAL265.fragment << 1);
    part[1] = second;
    part[2] = (from === HEADER_BYTES_265 ? 0x80 : 0) | (to === nal.length ? 0x40 : 0) | type;
    nal.copy(part, HEADER_BYTES_265 + 1, from, to);
    payloads.push(part);
  }
}
