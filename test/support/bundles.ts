import { randomBytes } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeBundle } from '../../deploy/package/bundle.ts';
import type { Arch, Manifest } from '../../shared/update/manifest.ts';
import { makeKeys, parsePublicKey, parseSecretKey } from '../../shared/update/minisign.ts';

export interface KeyPair {
  readonly publicText: string;
  readonly secretText: string;
}

export function newKeys(): KeyPair {
  return makeKeys(randomBytes(8));
}

/** This machine, as Debian calls it. */
export const HERE: Arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
export const OTHER: Arch = HERE === 'arm64' ? 'amd64' : 'arm64';

export interface TreeOptions {
  readonly version: string;
  readonly floor?: number;
  /** Content of further files; one that begins with `->` is a link. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The folder of a small version. */
export async function writeVersion(
  folder: string,
  { version, floor = 0, files = {} }: TreeOptions,
): Promise<void> {
  const all = {
    'bin/svc': '#!/bin/sh\n',
    'package.json': JSON.stringify({ name: 'svc', version, type: 'module' }),
    'deploy/security-floor': `${floor}\n`,
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    if (content.startsWith('->')) await symlink(content.slice(2), file);
    else await writeFile(file, content, { mode: content.startsWith('#!') ? 0o755 : 0o644 });
  }
}

/** A signed bundle of a small version. */
export async function bundleOf(
  folder: string,
  out: string,
  keys: KeyPair,
  options: TreeOptions & { readonly arch?: Arch; readonly newKeys?: Readonly<Record<string, string>> },
): Promise<Manifest> {
  await writeVersion(folder, options);
  return makeBundle(
    {
      tree: folder,
      version: options.version,
      arch: options.arch ?? HERE,
      key: parseSecretKey(keys.secretText),
      publicKey: keys.publicText,
      ...(options.newKeys === undefined ? {} : { newKeys: options.newKeys }),
    },
    out,
  );
}

export function publicKeysOf(...pairs: readonly KeyPair[]) {
  return pairs.map(({ publicText }) => parsePublicKey(publicText));
}
