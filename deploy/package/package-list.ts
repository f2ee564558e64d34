import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packagesIn } from './modules.ts';

/** A package that npm has installed. */
export interface Package {
  /** Below node_modules: `name`, or `other/node_modules/name`. */
  readonly path: string;
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** What its package.json says, empty if nothing: not always an id of SPDX. */
  readonly license: string;
  readonly homepage: string | null;
  /** What it needs, and what it takes if it is there. */
  readonly needs: readonly string[];
}

interface PackageJson {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
  readonly homepage?: string;
  readonly repository?: string | { readonly url?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** All packages below a node_modules, also those inside of others, sorted by path. */
export async function listPackages(modules: string, below = ''): Promise<Package[]> {
  const folder = join(modules, below);
  const all: Package[] = [];
  for (const name of await packagesIn(folder)) {
    const path = join(below, name);
    const own: PackageJson = JSON.parse(await readFile(join(modules, path, 'package.json'), 'utf8'));
    all.push({
      path,
      folder: join(modules, path),
      name: own.name ?? name,
      version: own.version ?? '',
      license: licenseOf(own),
      homepage: homepageOf(own),
      needs: [own.dependencies, own.optionalDependencies, own.peerDependencies].flatMap((each) =>
        Object.keys(each ?? {}),
      ),
    });
    if (existsSync(join(modules, path, 'node_modules')))
      all.push(...(await listPackages(modules, join(path, 'node_modules'))));
  }
  return all;
}

function licenseOf({ license, licenses }: PackageJson): string {
  if (typeof license === 'string') return license;
  return license?.type ?? licenses?.map(({ type }) => type ?? '').join(' OR ') ?? '';
}

function homepageOf({ homepage, repository }: PackageJson): string | null {
  const url = typeof repository === 'string' ? repository : repository?.url;
  if (url === undefined) return homepage ?? null;
  const plain = url.replace(/^git\+/, '').replace(/^git:\/\//, 'https://');
  return /^[a-z]+:/.test(plain) ? plain : `https://github.com/${plain}`;
}

/** Those of the packages that these need, by way of others too, as Node finds them: from the inside to the outside. */
export function closure(all: readonly Package[], roots: readonly string[]): Package[] {
  const byPath = new Map(all.map((each) => [each.path, each]));
  const found = new Set<Package>();
  const visit = (name: string, from: string): void => {
    const target = byPath.get(join(from, name));
    if (target === undefined) {
      // An optional one that is not there, or one that lies further outside.
      if (from !== '') visit(name, outside(from));
    } else if (!found.has(target)) {
      found.add(target);
      for (const need of target.needs) visit(need, join(target.path, 'node_modules'));
    }
  };
  for (const root of roots) visit(root, '');
  return all.filter((each) => found.has(each));
}

/** The node_modules around one: `a/node_modules/b/node_modules` -> `a/node_modules` -> '' */
function outside(modules: string): string {
  const above = dirname(modules);
  const end = above.lastIndexOf('/node_modules/');
  return end < 0 ? '' : above.slice(0, end + '/node_modules'.length);
}
