/**
 * A frame of the simulated air, one UDP datagram. It is not wfb-ng's format: only what a node sees of wfb-ng is simulated. A
 * parity frame has copies of its whole block, so that any k of n frames are enough, as with a Reed-Solomon code.
 */
export const STREAMS = ['video', 'mavlink', 'tunnel'] as const;
export type StreamName = (typeof STREAMS)[number];

export interface Session {
  /** A new one for each session of a sender. */
  readonly epoch: number;
  readonly k: number;
  readonly n: number;
  readonly mcs: number;
  /** MHz */
  readonly bandwidth: number;
}

export interface AirFrame extends Session {
  readonly channel: number;
  /** Stands for the encryption: the same at two ends whose keys belong together. */
  readonly tag: Buffer;
  readonly stream: StreamName;
  readonly kind: 'session' | 'data';
  readonly block: number;
  /** From 0; from k on it is a parity frame. */
  readonly fragment: number;
  readonly payloads: readonly Buffer[];
}

/** As wfb-ng's `radio_mtu`. */
export const MAX_PAYLOAD = 1445;
export const TAG_BYTES = 8;
const MAGIC = 0x5352;
const HEADER = 20 + TAG_BYTES;
const KINDS = ['session', 'data'] as const;
/** What wfb-ng adds to a packet, and the size of its session packet, bytes. */
const OVERHEAD = 24;
const SESSION_BYTES = 68;

/** The size that this frame would have in wfb-ng, bytes. */
export function airBytes({ kind, payloads }: AirFrame): number {
  if (kind === 'session') return SESSION_BYTES;
  return OVERHEAD + Math.max(0, ...payloads.map(({ length }) => length));
}

export function encodeFrame(frame: AirFrame): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt16BE(MAGIC, 0);
  const bytes = [
    frame.channel,
    STREAMS.indexOf(frame.stream),
    KINDS.indexOf(frame.kind),
    frame.k,
    frame.n,
    frame.mcs,
    frame.bandwidth,
    frame.fragment,
    frame.payloads.length,
  ];
  bytes.forEach((byte, index) => {
    header.writeUInt8(byte, 2 + index);
  });
  header.writeUInt32BE(frame.epoch, 12);
  header.writeUInt32BE(frame.block, 16);
  frame.tag.copy(header, 20);
  const parts = frame.payloads.flatMap((payload) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(payload.length);
    return [length, payload];
  });
  return Buffer.concat([header, ...parts]);
}

/** @returns null for bytes that are no frame */
export function decodeFrame(bytes: Buffer): AirFrame | null {
  if (bytes.length < HEADER || bytes.readUInt16BE(0) !== MAGIC) return null;
  const [channel = 0, stream = 0, kind = 0, k = 0, n = 0, mcs = 0, bandwidth = 0, fragment = 0, count = 0] =
    bytes.subarray(2, 11);
  const streamName = STREAMS[stream];
  const kindName = KINDS[kind];
  if (streamName === undefined || kindName === undefined || k === 0 || n < k || fragment >= n) return null;
  const payloads: Buffer[] = [];
  let at = HEADER;
  for (let index = 0; index < count; index++) {
    if (at + 2 > bytes.length) return null;
    const end = at + 2 + bytes.readUInt16BE(at);
    if (end > bytes.length) return null;
    payloads.push(bytes.subarray(at + 2, end));
    at = end;
  }
  if (kindName === 'data' && payloads.length !== (fragment < k ? 1 : k)) return null;
  return {
    channel,
    stream: streamName,
    kind: kindName,
    k,
    n,
    mcs,
    bandwidth,
    fragment,
    epoch: bytes.readUInt32BE(12),
    block: bytes.readUInt32BE(16),
    tag: bytes.subarray(20, HEADER),
    payloads,
  };
}
