/** A part of a TCP connection in the simulated tunnel. */
export interface Segment {
  readonly connection: number;
  /** ack: it has no place in the order of the others. */
  readonly kind: 'ack' | 'open' | 'data' | 'end' | 'reset';
  readonly seq: number;
  /** The next segment that the sender of this one waits for. */
  readonly ack: number;
  /** Bit i: the segment `ack + 1 + i` has arrived as well. */
  readonly more: number;
  readonly payload: Buffer;
}

const KINDS = ['ack', 'open', 'data', 'end', 'reset'] as const;
const HEADER = 17;

export function encodeSegment({ connection, kind, seq, ack, more, payload }: Segment): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt32BE(connection, 0);
  header.writeUInt8(KINDS.indexOf(kind), 4);
  header.writeUInt32BE(seq, 5);
  header.writeUInt32BE(ack, 9);
  header.writeUInt32BE(more, 13);
  return Buffer.concat([header, payload]);
}

/** @returns null for bytes that are no segment */
export function decodeSegment(bytes: Buffer): Segment | null {
  if (bytes.length < HEADER) return null;
  const kind = KINDS[bytes.readUInt8(4)];
  if (kind === undefined) return null;
  return {
    connection: bytes.readUInt32BE(0),
    kind,
    seq: bytes.readUInt32BE(5),
    ack: bytes.readUInt32BE(9),
    more: bytes.readUInt32BE(13),
    payload: bytes.subarray(HEADER),
  };
}
