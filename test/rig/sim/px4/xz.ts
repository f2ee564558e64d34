import { crc32 } from 'node:zlib';

const CHUNK = 65_536;

/** An .xz file whose LZMA2 chunks are stored as they are. */
export function xz(bytes: Buffer): Buffer {
  const flags = Buffer.from([0, 1]); // the check is CRC32
  const header = Buffer.from([2, 0, 0x21, 1, 0x16, 0, 0, 0]);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const part = bytes.subarray(at, at + CHUNK);
    const first = at === 0; // begins a dictionary
    chunks.push(Buffer.from([first ? 1 : 2, (part.length - 1) >> 8, (part.length - 1) & 0xff]), part);
  }
  const data = Buffer.concat([...chunks, Buffer.of(0)]);
  const padding = Buffer.alloc((4 - (data.length % 4)) % 4);
  const unpadded = header.length + 4 + data.length + 4;
  const index = Buffer.concat([Buffer.from([0, 1]), vli(unpadded), vli(bytes.length)]);
  const padded = Buffer.concat([index, Buffer.alloc((4 - (index.length % 4)) % 4)]);
  const backward = Buffer.alloc(4);
  backward.writeUInt32LE((padded.length + 4) / 4 - 1);
  const foot = Buffer.concat([backward, flags]);
  return Buffer.concat([
    Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]),
    flags,
    sum(flags),
    header,
    sum(header),
    data,
    padding,
    sum(bytes),
    padded,
    sum(padded),
    sum(foot),
    foot,
    Buffer.from('YZ'),
  ]);
}

function sum(bytes: Buffer): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(crc32(bytes));
  return out;
}

/** A number in sevens of bits, the lowest first. */
function vli(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
