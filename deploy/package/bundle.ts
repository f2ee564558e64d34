import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { chunksOf } from '../../shared/async/chunks.ts';
import { zipOutput } from '../../shared/files/zip-output.ts';
import {
  FIRST,
  HEADER_ENTRY,
  MANIFEST_ENTRY,
  openBundle,
  SIGNATURE_ENTRY,
  TREE,
} from '../../shared/update/bundle.ts';
import type { Arch, Header, Manifest } from '../../shared/update/manifest.ts';
import { parsePublicKey, type SecretKey, signText } from '../../shared/update/minisign.ts';

/** The earliest time that the format knows, as the machine's own time: the same bytes in each zone. */
const MTIME = new Date(1980, 0, 1);
const FILE_TYPE = 0o100000;
const LINK_TYPE = 0o120000;
/** In the tree: the floor of the version, which svc-switch reads too. */
export const FLOOR_FILE = 'deploy/security-floor';

interface BundleInput {
  /** The folder of a version, as it lies in /opt/svc/versions/<version>. */
  readonly tree: string;
  readonly version: string;
  readonly arch: Arch;
  readonly key: SecretKey;
  /** The text of the public half: the bundle is opened with it as a node does. */
  readonly publicKey: string;
  /** Public keys that may sign the bundles after this one, by file name. */
  readonly newKeys?: Readonly<Record<string, string>>;
}

/**
 * Makes the signed bundle of a tree (format: shared/update/manifest.ts), completely or not at all. The same tree and key always
 * give the same bytes.
 * @throws UpdateRefusal for what a node would refuse; Error for what is neither a file nor a link
 */
export async function makeBundle(input: BundleInput, out: string): Promise<Manifest> {
  const { tree, version, arch, key, publicKey, newKeys = {} } = input;
  const { files, bytes } = await filesOf(tree);
  const floor = Number(await readFile(join(tree, FLOOR_FILE), 'utf8'));
  const manifest: Manifest = {
    product: 'svc',
    version,
    arch,
    security_floor: floor,
    files: Object.fromEntries(files),
    ...(Object.keys(newKeys).length === 0 ? {} : { keys: newKeys }),
  };
  const text = Buffer.from(`${JSON.stringify(manifest)}\n`);
  const header = headerOf(text, files.length, bytes);
  const signature = Buffer.from(signText(header, key, `svc ${version} ${arch}`));
  const head = [
    [HEADER_ENTRY, header],
    [SIGNATURE_ENTRY, signature],
    [MANIFEST_ENTRY, text],
  ] as const;
  const temporary = `${out}.${process.pid}.tmp`;
  try {
    await writeZip(tree, files, head, temporary);
    const bundle = await openBundle(temporary, [parsePublicKey(publicKey)]);
    await bundle.close();
    await rename(temporary, out);
  } finally {
    await rm(temporary, { force: true });
  }
  return manifest;
}

/** @param bytes of all files of the tree together */
export function headerOf(manifest: Buffer, files: number, bytes: number): Buffer {
  const header: Header = {
    format: 2,
    entries: FIRST.length + files,
    unpacked_bytes: bytes,
    manifest: { bytes: manifest.length, sha256: createHash('sha256').update(manifest).digest('hex') },
  };
  return Buffer.from(`${JSON.stringify(header)}\n`);
}

type TreeFile = Manifest['files'][string];
type TreeFiles = readonly (readonly [string, TreeFile])[];

/** In the order of their code points, with their bytes together. */
async function filesOf(tree: string): Promise<{ readonly files: TreeFiles; readonly bytes: number }> {
  const found: [string, TreeFile][] = [];
  let bytes = 0;
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(tree, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path);
      else if (entry.isSymbolicLink()) found.push([path, { link: await readlink(join(tree, path)) }]);
      else if (entry.isFile()) {
        found.push([path, await described(join(tree, path))]);
        bytes += (await lstat(join(tree, path))).size;
      } else throw new Error(`${path} is neither a file nor a link.`);
    }
  };
  await walk('');
  return { files: found.sort(([a], [b]) => (a < b ? -1 : 1)), bytes };
}

async function described(file: string): Promise<TreeFile> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(createReadStream(file))) hash.update(chunk);
  const { mode } = await lstat(file);
  return { sha256: hash.digest('hex'), mode: (mode & 0o100) === 0 ? 0o644 : 0o755 };
}

async function writeZip(
  tree: string,
  files: TreeFiles,
  head: readonly (readonly [string, Buffer])[],
  out: string,
): Promise<void> {
  const zip = new ZipFile();
  const common = { mtime: MTIME, forceDosTimestamp: true };
  for (const [name, content] of head)
    zip.addBuffer(content, name, { ...common, mode: FILE_TYPE | 0o644, compress: false });
  for (const [path, file] of files) {
    if ('link' in file)
      zip.addBuffer(Buffer.from(file.link), TREE + path, { ...common, mode: LINK_TYPE | 0o777 });
    else
      zip.addReadStreamLazy(TREE + path, { ...common, mode: FILE_TYPE | file.mode }, (callback) =>
        callback(null, createReadStream(join(tree, path))),
      );
  }
  const output = zipOutput(zip);
  zip.on('error', (error: Error) => output.destroy(error));
  zip.end();
  await pipeline(output, createWriteStream(out, { flags: 'wx', mode: 0o644 }));
}
