import { NAL, nalType, splitNals } from './h264.ts';

/** H.264 over RTP (RFC 6184), packetization mode 1: single NAL units and FU-A. */

/** One packet without its header. */
export interface RtpPart {
  readonly payload: Buffer;
  /** The last packet of the picture. */
  readonly marker: boolean;
}

/** Ticks of the RTP clock a second. */
const RTP_CLOCK = 90_000;
/** Fits an Ethernet MTU with IP, UDP, SRTP and a tunnel around it. */
export const MAX_PAYLOAD = 1200;

/** @param at CLOCK_MONOTONIC, microseconds */
export function rtpTimestamp(at: number): number {
  return (Math.floor((at * RTP_CLOCK) / 1e6) % 2 ** 32) >>> 0;
}

/** @param unit one access unit in Annex B */
export function packetize(unit: Buffer): readonly RtpPart[] {
  const payloads: Buffer[] = [];
  for (const nal of splitNals(unit)) {
    if (nalType(nal) === NAL.aud) continue;
    if (nal.length <= MAX_PAYLOAD) payloads.push(nal);
    else fragment(nal, payloads);
  }
  return marked(payloads);
}

/** The payloads of one picture. */
export function marked(payloads: readonly Buffer[]): readonly RtpPart[] {
  return payloads.map((payload, index) => ({ payload, marker: index === payloads.length - 1 }));
}

function fragment(nal: Buffer, payloads: Buffer[]): void {
  const header = nal[0] ?? 0;
  const room = MAX_PAYLOAD - 2;
  for (let from = 1; from < nal.length; from += room) {
    const to = Math.min(nal.length, from + room);
    const part = Buffer.allocUnsafe(to - from + 2);
    part[0] = (header & 0xe0) | NAL.fuA;
    part[1] = (from === 1 ? 0x80 : 0) | (to === nal.length ? 0x40 : 0) | (header & 0x1f);
    nal.copy(part, 2, from, to);
    payloads.push(part);
  }
}
