import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { licenseId } from './licenses.ts';
import type { Package } from './package-list.ts';

/** Of the libraries that an FFmpeg can be built with: those whose licence counts for the whole. */
const LICENSE_OF: Readonly<Record<string, string>> = {
  'libfdk-aac': 'FDK-AAC',
  libx264: 'GPL-2.0-or-later',
  libx265: 'GPL-2.0-or-later',
};
const ADDRESS_OF: Readonly<Record<string, string>> = {
  libx264: 'https://www.videolan.org/developers/x264.html',
  libx265: 'https://www.x265.org',
};

/** A program that is inside of a package of npm. */
interface Inside {
  readonly name: string;
  readonly version?: string;
  readonly license?: string;
  readonly url?: string;
}

/** What the packages bring inside of their programs, as far as these tell it. */
async function insideOf({ name, version, folder }: Package): Promise<readonly Inside[]> {
  if (name.startsWith('node-linux-'))
    return [{ name: 'Node.js', version, license: 'MIT', url: 'https://nodejs.org' }];
  if (name === 'onnxruntime-node')
    return [{ name: 'ONNX Runtime', version, license: 'MIT', url: 'https://onnxruntime.ai' }];
  if (name.startsWith('@seydx/node-av-linux-'))
    return ffmpegIn(await readFile(join(folder, 'node-av.node'), 'latin1'));
  return [];
}

/** @param program the bytes of a program with FFmpeg in it, which holds its version and what it was configured with */
export function ffmpegIn(program: string): readonly Inside[] {
  const version = /(?<![\d.])\d+\.\d+(?:\.\d+)?-Jellyfin/.exec(program)?.[0];
  const configured = /--prefix=\S+ (?:--[\w./=+-]* ?)*--enable-gpl(?: --[\w./=+-]*)*/.exec(program)?.[0];
  if (configured === undefined) throw new Error('FFmpeg does not tell what it was configured with.');
  const gpl = configured.includes(' --enable-version3') ? 'GPL-3.0-or-later' : 'GPL-2.0-or-later';
  const libraries = [...configured.matchAll(/ --enable-(lib[\w-]+|openssl|gmp|chromaprint|whisper)/g)];
  return [
    {
      name: 'FFmpeg',
      ...(version === undefined ? {} : { version }),
      license: gpl,
      url: 'https://github.com/seydx/jellyfin-ffmpeg',
    },
    ...libraries.map(([, name = '']) => {
      const [license, url] = [LICENSE_OF[name], ADDRESS_OF[name]];
      return { name, ...(license === undefined ? {} : { license }), ...(url === undefined ? {} : { url }) };
    }),
  ];
}

interface SbomInput {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly packages: readonly Package[];
  /** Seconds. */
  readonly epoch: number;
}

/**
 * The list of what is in a package: CycloneDX 1.6, JSON. Made from the installed packages rather than by `npm sbom`, which wants
 * the development packages too and writes the time, a random number and its own version.
 */
export async function sbom({ name, version, license, packages, epoch }: SbomInput): Promise<string> {
  const components: Component[] = [];
  for (const each of packages) {
    components.push(npmComponent(each));
    for (const inside of await insideOf(each)) components.push(insideComponent(each, inside));
  }
  return documentOf(
    { name, version, epoch, type: 'application', licenses: [{ license: { id: license } }] },
    components,
  );
}

interface Head {
  readonly name: string;
  readonly version: string;
  /** Seconds. */
  readonly epoch: number;
  readonly type: 'application' | 'operating-system';
  readonly licenses: readonly unknown[];
}

/** The text of a list, in an order and with a number that depend on nothing but the content. */
export function documentOf(
  { name, version, epoch, type, licenses }: Head,
  components: readonly Component[],
): string {
  const unique = [...new Map(components.map((each) => [each['bom-ref'], each])).values()];
  const body = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { type, 'bom-ref': `${name}@${version}`, name, version, licenses },
    },
    components: unique.toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
  };
  // In the form of a UUID of version 8.
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  const serial = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
  return `${JSON.stringify({ ...body, serialNumber: `urn:uuid:${serial}` }, null, 1)}\n`;
}

export interface Component extends Readonly<Record<string, unknown>> {
  readonly 'bom-ref': string;
}

function npmComponent(each: Package): Component {
  const { name, version, homepage } = each;
  const id = licenseId(each);
  return {
    type: 'library',
    'bom-ref': `${name}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [id.startsWith('(') ? { expression: id } : { license: { id } }],
    ...websiteOf(homepage),
  };
}

function insideComponent(holder: Package, { name, version, license, url }: Inside): Component {
  return {
    type: 'library',
    'bom-ref': `${holder.name}@${holder.version}/${name}`,
    name,
    ...(version === undefined ? {} : { version }),
    ...(license === undefined ? {} : { licenses: [{ license: { id: license } }] }),
    ...websiteOf(url ?? null),
  };
}

function websiteOf(url: string | null) {
  return url === null ? {} : { externalReferences: [{ type: 'website', url }] };
}
