import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { licenseTexts } from './licenses.ts';
import type { Package } from './package-list.ts';
import { sbom } from './sbom.ts';

/** What the project itself is under. */
export const OWN_LICENSE = 'Apache-2.0';
/** A package with FFmpeg inside, as a whole (NOTICE). */
export const WHOLE_LICENSE = 'GPL-3.0-or-later';

interface PapersInput {
  readonly checkout: string;
  readonly name: string;
  readonly version: string;
  /** Of the package as a whole. */
  readonly license: string;
  readonly packages: readonly Package[];
  readonly epoch: number;
}

/** Licences and the list of contents, into a folder: `copyright`, `third-party-licenses.txt`, `sbom.cdx.json`, the changelog. */
export async function writePapers(input: PapersInput, folder: string): Promise<void> {
  const { checkout, name, packages } = input;
  const read = async (file: string): Promise<string> => readFile(join(checkout, file), 'utf8');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'copyright'),
    `${name}\n\n${await read('NOTICE')}\n${'-'.repeat(78)}\n\n${await read('LICENSE')}`,
  );
  await writeFile(join(folder, 'third-party-licenses.txt'), await licenseTexts(packages));
  await writeFile(join(folder, 'sbom.cdx.json'), await sbom(input));
  await writeFile(join(folder, 'changelog.gz'), gzipSync(await read('CHANGELOG.md'), { level: 9 }));
}
