/**
 * RTCP (RFC 3550) between a receiver and a sender that sends while somebody listens: on the port of RTP (RFC 5761), from and to the same
 * addresses (RFC 4961). Each datagram is a compound packet that begins with a report and has the canonical name.
 */

const TYPE = {
  senderReport: 200,
  receiverReport: 201,
  description: 202,
  bye: 203,
  payloadFeedback: 206,
} as const;
const CNAME = 1;
/** Picture Loss Indication (RFC 4585): a key frame, please. */
const PLI = 1;
/** Of a packet without any reports. */
const HEADER_BYTES = 4;

/** A receiver says so in its report that often; who has said nothing for `gone` has left. */
export const REPORTS_MS = { every: 1000, gone: 5000 } as const;

/** What one datagram says. */
export interface ControlPacket {
  readonly ssrc: number;
  readonly bye: boolean;
  readonly key: boolean;
}

/** I am here: a receiver's report, also that of a sender that has sent nothing yet. @param ssrc who says it */
export function report(ssrc: number): Buffer {
  return Buffer.concat([packet(TYPE.receiverReport, 0, word(ssrc)), nameOf(ssrc)]);
}

/** I am here, and want a key frame. @param of the SSRC of who sends the picture */
export function keyRequest(ssrc: number, of: number): Buffer {
  return Buffer.concat([report(ssrc), packet(TYPE.payloadFeedback, PLI, word(ssrc), word(of))]);
}

/** I leave. */
export function goodbye(ssrc: number): Buffer {
  return Buffer.concat([report(ssrc), packet(TYPE.bye, 1, word(ssrc))]);
}

/** Whether a datagram is RTCP, on a port where RTP comes as well. */
export function isControl([first = 0, second = 0]: Buffer): boolean {
  return first >> 6 === 2 && second >= 192 && second <= 223;
}

/** @returns null if it is no whole compound packet */
export function readControl(datagram: Buffer): ControlPacket | null {
  if (datagram.length < 8 || !isControl(datagram)) return null;
  const [, type] = datagram;
  if (type !== TYPE.receiverReport && type !== TYPE.senderReport) return null;
  let [bye, key] = [false, false];
  let at = 0;
  while (at < datagram.length) {
    const head = datagram.subarray(at, at + HEADER_BYTES);
    if (head.length < HEADER_BYTES || !isControl(head)) return null;
    at += HEADER_BYTES + head.readUInt16BE(2) * 4;
    const kind = head.readUInt8(1);
    if (kind === TYPE.bye) bye = true;
    if (kind === TYPE.payloadFeedback && (head.readUInt8(0) & 31) === PLI) key = true;
  }
  return at === datagram.length ? { ssrc: datagram.readUInt32BE(4), bye, key } : null;
}

/** @param count of reports or sources, or the format of a feedback */
function packet(type: number, count: number, ...words: readonly Buffer[]): Buffer {
  const body = Buffer.concat(words);
  const head = Buffer.from([0x80 | count, type, 0, 0]);
  head.writeUInt16BE(body.length / 4, 2);
  return Buffer.concat([head, body]);
}

/** The description that each compound packet has: one item, its end, and zeros up to the next word. */
function nameOf(ssrc: number): Buffer {
  const name = Buffer.from(`${ssrc.toString(16).padStart(8, '0')}@localhost`, 'latin1');
  const item = Buffer.concat([Buffer.from([CNAME, name.length]), name, Buffer.from([0])]);
  const padded = Buffer.alloc(Math.ceil(item.length / 4) * 4);
  item.copy(padded);
  return packet(TYPE.description, 1, word(ssrc), padded);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
