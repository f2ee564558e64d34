import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { chunksOf } from '../../shared/async/chunks.ts';
import { zipOutput } from '../../shared/files/zip-output.ts';
import { MANIFEST_ENTRY, openBundle, SIGNATURE_ENTRY, TREE } from '../../shared/update/bundle.ts';
import type { Arch, Manifest } from '../../shared/update/manifest.ts';
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
  const files = await filesOf(tree);
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
  const temporary = `${out}.${process.pid}.tmp`;
  try {
    await writeZip(tree, files, text, signText(text, key, `svc ${version} ${arch}`), temporary);
    const bundle = await openBundle(temporary, [parsePublicKey(publicKey)]);
    bundle.close();
    await rename(temporary, out);
  } finally {
    await rm(temporary, { force: true });
  }
  return manifest;
}

type TreeFile = Manifest['files'][string];

/** In the order of their code points. */
async function filesOf(tree: string): Promise<readonly (readonly [string, TreeFile])[]> {
  const found: [string, TreeFile][] = [];
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(tree, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path);
      else if (entry.isSymbolicLink()) found.push([path, { link: await readlink(join(tree, path)) }]);
      else if (entry.isFile()) found.push([path, await described(join(tree, path))]);
      else throw new Error(`${path} is neither a file nor a link.`);
    }
  };
  await walk('');
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

async function described(file: string): Promise<TreeFile> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(createReadStream(file))) hash.update(chunk);
  const { mode } = await lstat(file);
  return { sha256: hash.digest('hex'), mode: (mode & 0o100) === 0 ? 0o644 : 0o755 };
}

async function writeZip(
  tree: string,
  files: readonly (readonly [string, TreeFile])[],
  manifest: Buffer,
  signature: string,
  out: string,
): Promise<void> {
  const zip = new ZipFile();
  const common = { mtime: MTIME, forceDosTimestamp: true };
  zip.addBuffer(manifest, MANIFEST_ENTRY, { ...common, mode: FILE_TYPE | 0o644 });
  zip.addBuffer(Buffer.from(signature), SIGNATURE_ENTRY, { ...common, mode: FILE_TYPE | 0o644 });
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
