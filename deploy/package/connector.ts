import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runProgram } from '../../shared/process/run-program.ts';
import { setTimes } from './deb.ts';
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
}

/**
 * Makes `svc-connector_<version>.tgz`, which `npm install -g` takes without a network: its packages are inside, none has a program
 * for one kind of machine, and no script runs.
 * @param work a folder for the tree, not there yet
 */
export async function packConnector(input: ConnectorInput, work: string, out: string): Promise<void> {
  const { checkout, dist, modules, version, epoch } = input;
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
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(packageJson, null, 2)}\n`);
  await normaliseModes(work);
  await setTimes(work, epoch);
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
