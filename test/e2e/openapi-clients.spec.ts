import { execFile } from 'node:child_process';
import { copyFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** A folder with `node_modules` and `openapi-generator-cli.jar`, as .ci/run makes it; the Python tools are on PATH. */
const TOOLS = process.env['SVC_OPENAPI_TOOLS'] ?? '';
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const NODE = process.execPath;
const run = promisify(execFile);

const COMPILE = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--lib', 'es2024,dom'];
const MODULES = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--allowImportingTsExtensions'];
const TYPES = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];

/** What each client has to say after its calls; only the name that it gave the node is its own. */
function wanted(name: string): readonly unknown[] {
  const vehicle = ['number', true, 'accepted', 'RTL_ALT'];
  return ['ok', true, true, ...vehicle, name, 5, ['read'], 'not_found'];
}

async function hasTools(): Promise<boolean> {
  const found = [
    run('openapi-spec-validator', ['--help']),
    run('openapi-python-client', ['--version']),
    run('java', ['-version']),
    run(NODE, [join(TOOLS, 'node_modules/.bin/openapi-typescript'), '--version']),
  ];
  return Promise.all(found).then(
    () => true,
    () => false,
  );
}

describe('programs that read /openapi.json', function () {
  this.timeout(120_000);
  let node: TestNode;
  let dir: string;
  let file: string;

  before(async function () {
    if (!(await hasTools())) {
      process.stderr.write(
        '    .ci/run says how to install the makers of clients, and sets SVC_OPENAPI_TOOLS\n',
      );
      this.skip();
    }
    dir = await tempDir();
    node = await TestNode.start({ pairing: { key: KEY } });
    await node.knowsArmed();
    const headers = { 'x-svc-key': KEY };
    const answer = await node.fetch('/openapi.json', { headers });
    file = join(dir, 'openapi.json');
    await writeFile(file, await answer.text());
    await symlink(join(TOOLS, 'node_modules'), join(dir, 'node_modules'));
    await writeFile(join(dir, 'package.json'), '{"type": "module"}');
    await askAgain(
      'the parameters of the vehicle',
      async () => (await node.fetch('/api/params/RTL_ALT', { headers })).status,
      (status) => status === 200,
    );
  });
  after(async () => {
    if (node === undefined) return;
    await node.stop();
    await removeDir(dir);
  });

  /** @throws Error with all that the program said, if it fails */
  async function said(program: string, args: readonly string[], cwd = dir): Promise<string> {
    const limits = { cwd, maxBuffer: 64e6, timeout: 100_000 } as const;
    return run(program, [...args], limits).then(
      ({ stdout, stderr }) => `${stdout}${stderr}`,
      (error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(
          `${program}: ${error.message}\n${(error.stdout ?? '').slice(-4000)}${(error.stderr ?? '').slice(-4000)}`,
        );
      },
    );
  }

  async function calls(program: string, args: readonly string[], name: string): Promise<void> {
    const answers = await said(program, [...args, node.url, KEY]);
    expect(JSON.parse(answers)).to.deep.equal(wanted(name));
  }

  it('redocly finds nothing, but that a WebSocket answers 101', async () => {
    const redocly = join(dir, 'node_modules/.bin/redocly');
    const words = await said(NODE, [redocly, 'lint', file, '--skip-rule=operation-2xx-response']);
    expect(words)
      .to.include('Your API description is valid')
      .and.not.match(/warning/i);
  });

  it('openapi-spec-validator finds nothing', async () => {
    expect(await said('openapi-spec-validator', [file])).to.match(/: OK\s*$/);
  });

  it('openapi-typescript and openapi-fetch: types that compile, and ten calls', async () => {
    await said(NODE, [join(dir, 'node_modules/.bin/openapi-typescript'), file, '-o', join(dir, 'api.d.ts')]);
    await copyFile(join(import.meta.dirname, 'openapi/client-openapi-fetch.txt'), join(dir, 'fetch.ts'));
    await said(TSC, [...COMPILE, ...MODULES, ...TYPES, 'fetch.ts']);
    await calls(NODE, ['fetch.ts'], 'made-by-fetch');
  });

  it('openapi-python-client: every schema and every route but /whep, and ten calls', async () => {
    const made = ['generate', '--path', file, '--output-path', join(dir, 'made'), '--meta', 'none'];
    const words = await said('openapi-python-client', made);
    expect(words).to.not.match(/Unable to process/);
    // It can send no SDP, and leaves out answers of types that it does not know: pictures, archives.
    const left = words.match(/^.*Endpoint will not be generated/gm) ?? [];
    expect(left.filter((line) => !line.includes(' /whep'))).to.deep.equal([]);
    await copyFile(join(import.meta.dirname, 'openapi/client-python.txt'), join(dir, 'client.py'));
    const tools = (await said('sh', ['-c', 'command -v openapi-python-client'])).trim();
    await calls(join(tools, '../python3'), ['client.py'], 'made-by-python');
  });

  it('openapi-generator, typescript-fetch: compiles, and ten calls', async () => {
    const to = join(dir, 'generated');
    const jar = join(TOOLS, 'openapi-generator-cli.jar');
    const options = ['--additional-properties', 'importFileExtension=.ts'];
    await said('java', ['-jar', jar, 'generate', '-i', file, '-g', 'typescript-fetch', '-o', to, ...options]);
    await copyFile(join(import.meta.dirname, 'openapi/client-generator.txt'), join(to, 'client.ts'));
    await writeFile(join(to, 'package.json'), '{"type": "module"}');
    await said(TSC, [...COMPILE, ...MODULES, ...TYPES, 'client.ts'], to);
    await calls(
      NODE,
      ['--experimental-transform-types', '--no-warnings', 'generated/client.ts'],
      'made-by-generator',
    );
  });
});
