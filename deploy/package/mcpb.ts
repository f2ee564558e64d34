import { createWriteStream } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { zipOutput } from '../../shared/files/zip-output.ts';

/** The earliest time that the format knows, as the machine's own time: the same bytes in each zone. */
const MTIME = new Date(1980, 0, 1);
const MODE = 0o100644;

/**
 * Packs a folder as an `.mcpb` bundle, a ZIP file: the same files give the same bytes.
 * @throws Error for a link, which not every client unpacks
 */
export async function packBundle(folder: string, out: string): Promise<void> {
  const zip = new ZipFile();
  for (const path of await filesBelow(folder))
    zip.addFile(join(folder, path), path, {
      mtime: MTIME,
      mode: MODE,
      forceDosTimestamp: true,
      compressionLevel: 9,
    });
  const output = zipOutput(zip);
  zip.on('error', (error: Error) => output.destroy(error));
  zip.end();
  await pipeline(output, createWriteStream(`${out}.new`));
  await rename(`${out}.new`, out);
}

/** Relative, in the order of their code points. */
async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile()) found.push(path);
      else throw new Error(`${path} is neither a file nor a folder`);
    }
  };
  await walk('');
  return found.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
