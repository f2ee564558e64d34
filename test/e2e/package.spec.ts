import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { unzipSync } from 'fflate';
import { checkPrograms } from '../../deploy/package/elf.ts';
import { debianVersion } from '../../deploy/package/svc-deb.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { listOf, memberOf } from '../../shared/member.ts';
import { newClient } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { failing } from '../support/hub.ts';
import { TestNode } from '../support/node.ts';
import { PACKAGES } from '../support/svc-package.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const ROOT = join(import.meta.dirname, '../..');
const MIB = 1024 * 1024;
/** With light compression; a package that is given away has to be below 130. */
const FAST_MIB = 170;
const ARCH = process.arch === 'arm64' ? 'arm64' : 'amd64';
const { version } = packageJson;

/** What MANIFEST.md of MCPB 0.3 asks of a server of the type node, in our words. */
const TEXT = { type: 'string', minLength: 1 } as const;
const MANIFEST = {
  type: 'object',
  required: ['manifest_version', 'name', 'version', 'description', 'author', 'server'],
  properties: {
    manifest_version: { const: '0.3' },
    author: { type: 'object', required: ['name'], properties: { name: TEXT } },
    server: {
      type: 'object',
      required: ['type', 'entry_point', 'mcp_config'],
      properties: {
        type: { const: 'node' },
        mcp_config: {
          type: 'object',
          required: ['command', 'args'],
          properties: {
            command: TEXT,
            args: { type: 'array', items: TEXT },
            env: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    user_config: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['type', 'title', 'description'],
        // Without an answer a client passes on the placeholder.
        anyOf: [
          { required: ['default'] },
          { properties: { required: { const: true } }, required: ['required'] },
        ],
        properties: { type: { enum: ['string', 'number', 'boolean', 'directory', 'file'] } },
      },
    },
  },
} as const;

interface Manifest {
  readonly server: {
    readonly entry_point: string;
    readonly mcp_config: {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };
  };
  readonly user_config: Readonly<Record<string, { readonly default?: unknown }>>;
}

/** What the registry's schema of 2025-12-11 and its rules for bundles ask, in our words. */
const SERVER_JSON = {
  type: 'object',
  required: ['$schema', 'name', 'description', 'version', 'packages'],
  properties: {
    name: { type: 'string', pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$', maxLength: 200 },
    title: { type: 'string', minLength: 1, maxLength: 100 },
    description: { type: 'string', minLength: 1, maxLength: 100 },
    version: TEXT,
    packages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['registryType', 'identifier', 'fileSha256', 'transport'],
        properties: {
          registryType: { const: 'mcpb' },
          identifier: { type: 'string', pattern: '^https://.*mcp' },
          fileSha256: { type: 'string', pattern: '^[a-f0-9]{64}$' },
          transport: { type: 'object', required: ['type'], properties: { type: { const: 'stdio' } } },
          environmentVariables: {
            type: 'array',
            items: { required: ['name'], properties: { format: { enum: ['string', 'boolean'] } } },
          },
        },
      },
    },
  },
} as const;

const exec = promisify(execFile);
const run = async (program: string, args: readonly string[], env = process.env): Promise<string> =>
  (await exec(program, args, { env, maxBuffer: 64 * MIB })).stdout;

/** Builds these into a folder, with the built code where there is one. */
async function build(
  out: string,
  umask: string,
  env: NodeJS.ProcessEnv = {},
  what: readonly string[] = ['svc', 'connector'],
  more: readonly string[] = [],
): Promise<void> {
  const dist = existsSync(join(ROOT, 'dist/oclif.manifest.json')) ? ['--dist', join(ROOT, 'dist')] : [];
  const only = what.flatMap((name) => ['--only', name]);
  const args = ['--arch', ARCH, '--fast', ...only, '--out', out, ...dist, ...more];
  const main = join(ROOT, 'deploy/package/main.ts');
  await run('sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, main, ...args], {
    ...process.env,
    SOURCE_DATE_EPOCH: '1700000000',
    ...env,
  });
}

describe('packages', function () {
  this.timeout(900_000);
  let folder = '';
  let deb = '';
  let tgz = '';
  let mcpb = '';

  before(async () => {
    folder = await tempDir();
    if (PACKAGES === undefined) await build(join(folder, 'one'), '022');
    else await cp(PACKAGES, join(folder, 'one'), { recursive: true });
    deb = join(folder, 'one', `svc_${version}_${ARCH}.deb`);
    tgz = join(folder, 'one', `svc-connector_${version}.tgz`);
    mcpb = join(folder, 'one', `svc-connector_${version}.mcpb`);
  });
  after(async () => removeDir(folder));

  it('are the same bytes when they are built again, with another umask, zone and language', async () => {
    await build(join(folder, 'two'), '077', { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' });
    for (const path of [deb, tgz, mcpb]) {
      const again = await readFile(path.replace('/one/', '/two/'));
      expect(again.equals(await readFile(path)), path).to.equal(true);
    }
  });

  it('say what they are and what they need', async () => {
    const field = async (name: string): Promise<string> => (await run('dpkg-deb', ['-f', deb, name])).trim();
    expect(await field('Package')).to.equal('svc');
    expect(await field('Version')).to.equal(debianVersion(version));
    expect(await field('Architecture')).to.equal(ARCH);
    expect(await field('Depends')).to.match(
      /^libc6 \(>= 2\.\d+\), libgcc-s1, libstdc\+\+6 \(>= \d+\), systemd$/,
    );
    expect((await field('Recommends')).split(', ')).to.include.members(['network-manager', 'iw', 'wfb-ng']);
    expect((await stat(deb)).size).to.be.below(FAST_MIB * MIB);
  });

  it('hold a version that runs by itself, for this machine alone, and the licences of all that is in it', async () => {
    const root = join(folder, 'root');
    await run('dpkg-deb', ['-x', deb, root]);
    const listing = await run('dpkg-deb', ['-c', deb]);
    expect(listing.split('\n').filter((line) => line !== '' && !line.includes(' root/root '))).to.deep.equal(
      [],
    );
    expect(listing).to.match(/^-rwxr-xr-x .* \.\/opt\/svc\/svc-switch$/m);
    expect(listing).to.match(/ \.\/usr\/bin\/svc -> \/opt\/svc\/current\/bin\/svc$/m);
    const tree = join(root, 'opt/svc/package');
    const programs = await checkPrograms(tree, ARCH);
    expect(programs.some((path) => path.endsWith('/bin/node'))).to.equal(true);
    expect(listing).not.to.match(/\.musl\.node$|\.d\.ts$/m);
    const machines = [...listing.matchAll(/\/prebuilds\/([^/\n]+)\//g)].map(([, name]) => name);
    expect([...new Set(machines)]).to.deep.equal([`linux-${process.arch}`]);
    // No Node on the PATH, as on a machine where nothing else is installed.
    const bare = { PATH: '/usr/bin:/bin', HOME: folder };
    expect(await run(join(tree, 'bin/svc'), ['--version'], bare)).to.include(`svc/${version} `);
    expect(await run(join(tree, 'bin/svc-mcp'), ['--version'], bare)).to.equal(`${version}\n`);
    expect(await run(join(tree, 'bin/svc-conformance'), ['--help'], bare)).to.include('--url');
    const papers = join(root, 'usr/share/doc/svc');
    const { components } = JSON.parse(await readFile(join(papers, 'sbom.cdx.json'), 'utf8'));
    const names = components.map(({ name }: { name: string }) => name);
    expect(names).to.include.members([
      'Node.js',
      'FFmpeg',
      'libx264',
      'ONNX Runtime',
      'express',
      'node-mavlink',
    ]);
    expect(await readFile(join(papers, 'copyright'), 'utf8')).to.include('GNU General Public License');
    expect(await readFile(join(papers, 'third-party-licenses.txt'), 'utf8')).to.include('node-mavlink');
  });

  it('the hub runs by itself, with what is in its package alone', async () => {
    const out = join(folder, 'hub');
    await build(out, '022', {}, ['hub']);
    const root = join(folder, 'hub-root');
    await run('dpkg-deb', ['-x', join(out, `svc-hub_${version}_${ARCH}.deb`), root]);
    const tree = join(root, 'opt/svc-hub');
    const hub = async (...args: readonly string[]): Promise<string> =>
      run(join(tree, 'node_modules/.bin/node'), [join(tree, 'bin/svc-hub.js'), ...args], {
        PATH: '/usr/bin:/bin',
        SVC_HUB_DIR: join(folder, 'hub-files'),
      });
    expect(await hub('init')).to.match(/^first operator +svc_op_/m);
    expect(await hub('mosquitto')).to.include('listener 8883');
  });

  it('the connector is installed by npm without a network, and starts', async () => {
    const prefix = join(folder, 'prefix');
    await mkdir(prefix);
    const npm = ['install', '--global', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    const cache = join(folder, 'empty-cache');
    await run('npm', [...npm, '--prefix', prefix, '--cache', cache, tgz]);
    expect(await run(join(prefix, 'bin/svc-mcp'), ['--version'])).to.equal(`${version}\n`);
    expect(await run(join(prefix, 'bin/svc-mcp'), ['--help'])).to.include('svc-mcp --target agent');
    const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.5.0"}})';
    const args = ['--import', `data:text/javascript,${encodeURIComponent(old)}`, join(prefix, 'bin/svc-mcp')];
    const refused = await failing(run(process.execPath, args));
    expect(refused.stderr).to.match(/^svc-mcp needs Node 20\.12 or newer; this is v/);
  });

  it('the connector is run by npx from its file, without a network and without an installation', async () => {
    const env = { ...process.env, npm_config_cache: join(folder, 'npx-cache') };
    const args = ['--yes', '--offline', '--package', tgz, 'svc-mcp', '--help'];
    expect(await run('npx', args, env)).to.include('svc-mcp --target agent');
  });

  it('the bundle is what MCPB asks for, and serves a node when it is started as it says', async () => {
    const root = join(folder, 'bundle');
    const entries = Object.entries(unzipSync(await readFile(mcpb)));
    for (const [path, bytes] of entries) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), bytes);
    }
    const names = entries.map(([path]) => path);
    expect(names).to.include.members(['LICENSE', 'third-party-licenses.txt', 'sbom.cdx.json']);
    const manifest: Manifest = JSON.parse(await readFile(join(root, 'manifest.json'), 'utf8'));
    expect(new Ajv({ strict: false }).validate(MANIFEST, manifest)).to.equal(true);
    expect(manifest).to.include({ version, tools_generated: true, prompts_generated: true });
    expect(names).to.include(manifest.server.entry_point);

    const node = await TestNode.start({
      pairing: { key: KEY },
      config: 'mcp:\n  token_accept_enabled: true\n',
    });
    try {
      const { body } = await node.post(
        '/api/mcp/tokens',
        { scopes: ['read', 'flight'], label: 'bundle' },
        { 'x-svc-key': KEY },
      );
      const listed = async (flight: boolean): Promise<readonly string[]> => {
        const answers: Readonly<Record<string, unknown>> = { host: node.url, token: body['token'], flight };
        // As the specification's own code does it: what is asked has a default, or an answer; all are texts.
        const fill = (text: string): string =>
          text
            .replaceAll('${__dirname}', root)
            .replaceAll(/\$\{user_config\.(\w+)\}/g, (_whole, key: string) =>
              String(answers[key] ?? manifest.user_config[key]?.default),
            );
        const { command, args, env } = manifest.server.mcp_config;
        const transport = new StdioClientTransport({
          command: command === 'node' ? process.execPath : command,
          args: args.map(fill),
          env: {
            HOME: folder,
            ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
          },
          stderr: 'ignore',
        });
        const client = newClient();
        await client.connect(transport);
        const { tools } = await client.listTools();
        const checked = await client.callTool({ name: 'flight_check', arguments: {} });
        expect(checked.isError ?? false, JSON.stringify(checked)).to.equal(false);
        await client.close();
        return tools.map(({ name }) => name);
      };
      expect(await listed(false))
        .to.include('flight_check')
        .and.not.include('flight_takeoff');
      expect(await listed(true)).to.include('flight_takeoff');
    } finally {
      await node.stop();
    }
  });

  it('server.json names the bundle by place and hash, and is made only for who says both', async () => {
    const out = join(folder, 'published');
    const name = 'org.example/svc-connector';
    await build(out, '022', {}, ['connector'], ['--name', name, '--url', 'https://files.example.org/svc/']);
    const entry: unknown = JSON.parse(await readFile(join(out, 'server.json'), 'utf8'));
    expect(new Ajv({ strict: false }).validate(SERVER_JSON, entry)).to.equal(true);
    const bundle = await readFile(join(out, `svc-connector_${version}.mcpb`));
    const [packed] = listOf(memberOf(entry, 'packages'));
    expect(packed).to.include({
      identifier: `https://files.example.org/svc/svc-connector_${version}.mcpb`,
      fileSha256: createHash('sha256').update(bundle).digest('hex'),
    });
    expect(existsSync(join(folder, 'one/server.json'))).to.equal(false);
    const half = await failing(build(out, '022', {}, ['connector'], ['--name', name]));
    expect(half.stderr).to.include('--name and --url go together');
  });
});
