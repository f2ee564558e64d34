import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { ZipFile } from 'yazl';

/** A manifest that nothing is wrong with. */
export const MANIFEST = `schema_version: 3
id: org.example.demo
version: 1.2.3
name: Demo
compatibility:
  svc_version: ">=0.1.0, <2.0.0"
agent:
  runtime: node
  entrypoint: agent/main.mjs
  permissions: [telemetry.read]
`;

export type Files = Readonly<Record<string, string | Buffer>>;

/** The least that is an extension. */
export const FILES: Files = { 'manifest.yaml': MANIFEST, 'agent/main.mjs': 'export {};\n' };

/** An archive as another packer would write it. */
export async function writeArchive(file: string, files: Files): Promise<void> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  await pipeline(zip.outputStream as Readable, createWriteStream(file));
}

/** One entry as its bytes will be; what is left out is as it should be. */
export interface RawEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  /** Another name in the local header. */
  readonly localName?: string;
  readonly method?: number;
  readonly flags?: number;
  /** Unix mode with the type of the file. */
  readonly mode?: number;
  /** What both headers say, whatever is true. */
  readonly size?: number;
  readonly crc?: number;
  /** What only the central directory says. */
  readonly centralSize?: number;
  readonly extra?: Buffer;
  /** Its local header and bytes are those that stand here already. */
  readonly at?: number;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;

/** A ZIP byte by byte, for what no packer writes. */
export function rawZip(entries: readonly RawEntry[], { count = entries.length, before = 0 } = {}): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = before; // other bytes, which whoever reads from the start sees first
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? '');
    const method = entry.method ?? 8;
    const data = method === 8 ? deflateRawSync(content) : content;
    const common = (size: number, name: Buffer, extra: Buffer): Buffer => {
      const fields = Buffer.alloc(26);
      fields.writeUInt16LE(20, 0);
      fields.writeUInt16LE(entry.flags ?? 0, 2);
      fields.writeUInt16LE(method, 4);
      fields.writeUInt16LE(0x21, 8);
      fields.writeUInt32LE(entry.crc ?? crc32(content), 10);
      fields.writeUInt32LE(data.length, 14);
      fields.writeUInt32LE(size, 18);
      fields.writeUInt16LE(name.length, 22);
      fields.writeUInt16LE(extra.length, 24);
      return fields;
    };
    const localName = Buffer.from(entry.localName ?? entry.name, 'latin1');
    const name = Buffer.from(entry.name, 'latin1');
    const extra = entry.extra ?? Buffer.alloc(0);
    const size = entry.size ?? content.length;
    const local = Buffer.concat([word(LOCAL), common(size, localName, Buffer.alloc(0)), localName, data]);
    const at = entry.at ?? offset;
    if (entry.at === undefined) {
      locals.push(local);
      offset += local.length;
    }
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
    tail.writeUInt32LE(at, 10);
    central.push(
      word(CENTRAL),
      Buffer.from([20, 3]),
      common(entry.centralSize ?? size, name, extra),
      tail,
      name,
      extra,
    );
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([Buffer.alloc(before, 'x'), ...locals, directory, end]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value, 0);
  return bytes;
}
