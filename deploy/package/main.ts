/** npm run package: the files that people install (docs/release.md). */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { memberOf, parseJson } from '../../shared/member.ts';
import { runProgram } from '../../shared/process/run-program.ts';
import { ARCHES, type Arch } from '../../shared/update/manifest.ts';
import { parseSecretKey } from '../../shared/update/minisign.ts';
import { makeBundle } from './bundle.ts';
import { commitTime } from './commit-time.ts';
import { type Published, packConnector } from './connector.ts';
import { hubDeb } from './hub.ts';
import { installModules } from './modules.ts';
import { stageTree } from './stage.ts';
import { svcDeb } from './svc-deb.ts';

const USAGE = `npm run package [-- OPTIONS]
  --arch amd64|arm64   for this machine only; may be given twice. Default: both
  --out DIR            default packages
  --dist DIR           code that is built already, instead of npm run build
  --only NAME          svc, hub or connector; may be given again. Default: all of them
  --sign KEYFILE       makes the bundles for svc update too; its public half is deploy/update-keys/<its name>.pub
  --next-key FILE      a public key that may sign the bundles after these
  --name NAME          with --url: makes server.json for a registry of MCP servers; NAME is its name there, org.example/svc-connector
  --url URL            the folder on the web that the connector's bundle will lie in
  --fast               light compression, for tests
`;
const NAMES = ['svc', 'hub', 'connector'];
const BUILD_MS = 10 * 60_000;
const MIB = 1024 * 1024;

const checkout = join(import.meta.dirname, '../..');

interface Options {
  readonly arches: readonly Arch[];
  readonly only: readonly string[];
  readonly out: string;
  readonly dist: string | null;
  readonly fast: boolean;
  readonly sign: string | null;
  readonly nextKey: string | null;
  readonly published: Published | null;
}

/** @throws Error for an unknown machine or name */
function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      arch: { type: 'string', multiple: true, default: [...ARCHES] },
      only: { type: 'string', multiple: true, default: NAMES },
      out: { type: 'string', default: join(checkout, 'packages') },
      dist: { type: 'string' },
      fast: { type: 'boolean', default: false },
      sign: { type: 'string' },
      'next-key': { type: 'string' },
      name: { type: 'string' },
      url: { type: 'string' },
    },
  });
  const arches = ARCHES.filter((arch) => values.arch.includes(arch));
  if (values.arch.some((each) => !ARCHES.some((arch) => arch === each)))
    throw new Error(`--arch is one of ${ARCHES.join(', ')}`);
  if (values.only.some((each) => !NAMES.includes(each)))
    throw new Error(`--only is one of ${NAMES.join(', ')}`);
  return {
    arches,
    only: values.only,
    out: resolve(values.out),
    dist: values.dist === undefined ? null : resolve(values.dist),
    fast: values.fast,
    sign: values.sign ?? null,
    nextKey: values['next-key'] ?? null,
    published: readPublished(values.name, values.url),
  };
}

/** @throws Error for one without the other, or a value that a registry would refuse */
function readPublished(name: string | undefined, url: string | undefined): Published | null {
  if (name === undefined && url === undefined) return null;
  if (name === undefined || url === undefined) throw new Error('--name and --url go together');
  if (!/^[a-zA-Z0-9.-]{1,100}\/[a-zA-Z0-9._-]{1,99}$/.test(name))
    throw new Error(`--name ${name}: a namespace and a name, org.example/svc-connector`);
  if (!URL.canParse(url) || !url.startsWith('https://'))
    throw new Error(`--url ${url}: it begins with https://`);
  return { name, url };
}

/** The keys of minisign that a bundle is signed with, from their files. */
async function readKeys(secret: string, next: string | null) {
  const pub = join(checkout, 'deploy/update-keys', `${basename(secret, extname(secret))}.pub`);
  if (!existsSync(pub)) throw new Error(`${pub} is missing: no node would know who has signed.`);
  return {
    key: parseSecretKey(await readFile(secret, 'utf8')),
    publicKey: await readFile(pub, 'utf8'),
    newKeys: next === null ? {} : { [basename(next)]: await readFile(next, 'utf8') },
  };
}

async function build(): Promise<string> {
  await runProgram('npm', ['run', '--silent', '--prefix', checkout, 'build'], BUILD_MS);
  return join(checkout, 'dist');
}

async function makePackages({ arches, only, out, fast, ...options }: Options): Promise<string[]> {
  const packageJson = parseJson(await readFile(join(checkout, 'package.json'), 'utf8'));
  const version = String(memberOf(packageJson, 'version'));
  const epoch = await commitTime(checkout);
  const dist = options.dist ?? (await build());
  await mkdir(join(checkout, 'node_modules/.cache/package'), { recursive: true });
  // npm takes a folder that is reached by a link for another package.
  const cache = await realpath(join(checkout, 'node_modules/.cache/package'));
  await mkdir(out, { recursive: true });
  const keys = options.sign === null ? null : await readKeys(options.sign, options.nextKey);
  const work = await mkdtemp(join(cache, 'work-'));
  const made: string[] = [];
  try {
    let modules = '';
    for (const arch of arches) {
      modules = await installModules(checkout, arch, join(cache, `modules-${arch}`));
      const input = { checkout, dist, modules, arch, version, epoch, fast };
      if (only.includes('svc')) {
        const tree = join(work, `tree-${arch}`);
        await stageTree(input, tree);
        if (keys !== null) {
          const bundle = join(out, `svc_${version}_${arch}.svcup`);
          await makeBundle({ ...keys, tree, version, arch }, bundle);
          made.push(bundle);
        }
        const deb = join(out, `svc_${version}_${arch}.deb`);
        await svcDeb({ ...input, tree }, join(work, `svc-${arch}`), deb);
        made.push(deb);
      }
      if (only.includes('hub')) {
        const deb = join(out, `svc-hub_${version}_${arch}.deb`);
        await hubDeb(input, join(work, `hub-${arch}`), deb);
        made.push(deb);
      }
    }
    if (only.includes('connector')) {
      const input = { checkout, dist, modules, version, epoch, published: options.published };
      made.push(...(await packConnector(input, join(work, 'connector'), out)));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return made;
}

if (process.argv.includes('--help')) process.stdout.write(USAGE);
else {
  if (!existsSync(join(checkout, 'NOTICE'))) throw new Error('NOTICE is missing');
  for (const path of await makePackages(readOptions(process.argv.slice(2))))
    process.stdout.write(`${((await stat(path)).size / MIB).toFixed(1)} MiB  ${path}\n`);
}
