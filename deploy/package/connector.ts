import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runProgram } from '../../shared/process/run-program.ts';
import { bundleManifest, json, pluginFiles, serverJson } from './client-files.ts';
import { setTimes } from './deb.ts';
import { packBundle } from './mcpb.ts';
import { OWN_LICENSE, writePapers } from './papers.ts';
import { copyPart } from './part.ts';
import { copy, normaliseModes } from './stage.ts';

const ENTRIES = ['connector/main', 'shared/mdns/mdns-thread'];
const PACK_MS = 5 * 60_000;
const TAR_BYTES = 512 * 1024 * 1024;

interface ConnectorInput {
  readonly checkout: string;
  readonly dist: string;
  readonly modules: string;
  readonly version: string;
  readonly epoch: number;
  /** Where the bundle will be given away; null: not known. */
  readonly published: Published | null;
}

/** For an entry in a registry of MCP servers. */
export interface Published {
  /** `org.example/svc-connector`; the publisher has to own the namespace. */
  readonly name: string;
  /** The folder of the bundle, by HTTPS. */
  readonly url: string;
}

/**
 * Makes `svc-connector_<version>.tgz`, which `npm install -g` and `npx` take without a network: its packages are inside, none has a
 * program for one kind of machine, and no script runs. The same tree is a plugin of Claude Code, and with a manifest the bundle
 * `svc-connector_<version>.mcpb`; `server.json` names the bundle to a registry.
 * @param work a folder for the tree, not there yet
 * @returns the paths of the files in `out`
 */
export async function packConnector(
  input: ConnectorInput,
  work: string,
  out: string,
): Promise<readonly string[]> {
  const { checkout, dist, modules, version, epoch, published } = input;
  const folder = join(work, 'package');
  await mkdir(join(folder, 'bin'), { recursive: true });
  const packages = await copyPart(dist, modules, ENTRIES, [], folder);
  await copy(join(checkout, 'bin/svc-mcp.js'), join(folder, 'bin/svc-mcp.js'));
  await copy(join(checkout, 'LICENSE'), join(folder, 'LICENSE'));
  const own = { name: 'svc-connector', version, license: OWN_LICENSE };
  await writePapers({ ...own, checkout, packages, epoch }, folder);
  const top = packages.filter(({ path }) => !path.includes('/node_modules/'));
  const packageJson = {
    ...own,
    description: 'svc-mcp: nodes of svc for AI clients, through the Model Context Protocol.',
    type: 'module',
    engines: { node: '>=20.12' }, // as bin/svc-mcp.js says
    bin: { 'svc-mcp': 'bin/svc-mcp.js' },
    dependencies: Object.fromEntries(top.map((each) => [each.path, each.version])),
    bundleDependencies: top.map(({ path }) => path),
  };
  await writeFile(join(folder, 'package.json'), json(packageJson));
  for (const [path, text] of pluginFiles(version)) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await normaliseModes(work);
  await setTimes(work, epoch);
  const tgz = join(out, `svc-connector_${version}.tgz`);
  await packTar(work, tgz);
  await writeFile(join(folder, 'manifest.json'), json(bundleManifest(version)));
  const mcpb = join(out, `svc-connector_${version}.mcpb`);
  await packBundle(folder, mcpb);
  if (published === null) return [tgz, mcpb];
  const entry = join(out, 'server.json');
  const sha256 = createHash('sha256')
    .update(await readFile(mcpb))
    .digest('hex');
  const url = `${published.url.replace(/\/$/, '')}/${basename(mcpb)}`;
  await writeFile(entry, serverJson({ name: published.name, url, sha256, version }));
  return [tgz, mcpb, entry];
}

/** The folder `package` in `work`, as npm packs it. */
async function packTar(work: string, out: string): Promise<void> {
  const tar = join(work, 'package.tar');
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  await runProgram(
    'tar',
    ['--create', '--sort=name', '--format=ustar', ...owner, '--directory', work, '--file', tar, 'package'],
    PACK_MS,
    { env: { PATH: process.env['PATH'], LC_ALL: 'C' } },
  );
  const bytes = await readFile(tar);
  if (bytes.length > TAR_BYTES) throw new Error(`The connector has ${bytes.length} bytes.`);
  await writeFile(`${out}.new`, gzipSync(bytes, { level: 9 }));
  await rename(`${out}.new`, out);
}
