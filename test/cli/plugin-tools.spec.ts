import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PLUGIN_EXIT } from '../../bin/commands/plugin/plugin-exit.ts';
import { ROOT } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Json = Readonly<Record<string, unknown>>;

/** None of these commands needs a node. */
const nowhere = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' } as Parameters<
  typeof svc
>[0];

describe('svc plugin, for authors', function () {
  this.timeout(120_000); // each call is a process of its own
  let folder: string;
  let home: string;
  before(async () => {
    home = process.cwd();
    folder = await tempDir();
    process.chdir(folder); // what is named without a folder goes into the current one
  });
  after(async () => {
    process.chdir(home);
    await removeDir(folder);
  });

  const run = async (...args: string[]) => svc(nowhere, 'plugin', ...args);
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    expect(code, stderr + stdout).to.equal(PLUGIN_EXIT.ok);
    return stdout;
  };
  const json = async (...args: string[]): Promise<Json> =>
    JSON.parse((await run(...args, '--json')).stdout) as Json;

  it('keygen makes a key that its owner alone can read, and replaces none unasked', async () => {
    await done('keygen', 'acme', '--output-dir', 'keys');
    expect((await stat('keys/acme.key.pem')).mode & 0o777).to.equal(0o600);
    expect(await readFile('keys/acme.pem', 'utf8')).to.include('BEGIN PUBLIC KEY');
    const before = await readFile('keys/acme.key.pem', 'utf8');
    const again = await run('keygen', 'acme', '--output-dir', 'keys');
    expect([again.code, await readFile('keys/acme.key.pem', 'utf8')]).to.deep.equal([
      PLUGIN_EXIT.generic_failure,
      before,
    ]);
    expect(again.stderr).to.include('--force');
    await done('keygen', 'acme', '--output-dir', 'keys', '--force');
    expect(await readFile('keys/acme.key.pem', 'utf8')).to.not.equal(before);
    expect((await run('keygen', '../evil')).code).to.equal(PLUGIN_EXIT.generic_failure);
  });

  for (const kind of ['node', 'python', 'binary', 'gcs'] as const)
    it(`init writes a project of the kind ${kind} that passes lint and test`, async function () {
      const name = `demo-${kind}`;
      await done('init', name, '--kind', kind);
      if (kind === 'binary') {
        try {
          execFileSync(join(folder, name, 'build.sh'), { stdio: 'pipe' });
        } catch (error) {
          if ((error as { readonly stderr?: Buffer }).stderr?.includes('not found') !== true) throw error;
          this.skip(); // no C compiler
        }
      }
      const tested = await json('test', name);
      expect(tested).to.include({ ok: true, code: 0, kind: 'ok' });
      const { linted, steps } = tested['data'] as { readonly linted: Json; readonly steps: readonly Json[] };
      expect(linted).to.deep.include({ id: `org.example.${name}`, warnings: [] });
      expect(steps.filter(({ ok }) => ok !== true)).to.deep.equal([]);
      const expected = { node: 4, python: 3, binary: 2, gcs: 0 };
      expect(steps).to.have.length(expected[kind]);
    });

  it('init refuses a folder with something in it, and names that are none', async () => {
    expect((await run('init', 'demo-node')).code).to.equal(PLUGIN_EXIT.generic_failure);
    expect((await run('init', '../x')).code).to.equal(2);
    expect((await run('init', 'x', '--id', 'X')).code).to.equal(2);
  });

  it('the project for Node fits the types of its client', async () => {
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const options = [
      '--noEmit',
      '--allowJs',
      '--checkJs',
      '--strict',
      '--target',
      'es2024',
      '--module',
      'nodenext',
    ];
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node', '--skipLibCheck'];
    execFileSync(tsc, [...options, ...types, 'demo-node/agent/main.mjs'], { stdio: 'pipe' });
  });

  it('pack gives the same archive each time, and leaves tests and keys out', async () => {
    expect(await done('pack', 'demo-node'))
      .to.include('org.example.demo-node-0.1.0.svcplug')
      .and.to.include('not signed');
    await done('pack', 'demo-node', '--output', 'again.svcplug');
    expect(await readFile('again.svcplug')).to.deep.equal(
      await readFile('org.example.demo-node-0.1.0.svcplug'),
    );
    const { data } = await json('pack', 'demo-node', '-o', 'again.svcplug');
    expect((data as { readonly files: readonly string[] }).files.join(' ')).to.not.match(/test|gitignore/);
    await writeFile('demo-node/agent/leaked.pem', await readFile('keys/acme.key.pem'));
    const leaked = await run('pack', 'demo-node', '-o', 'leaked.svcplug');
    expect([leaked.code, leaked.stderr]).to.deep.include(PLUGIN_EXIT.manifest_invalid);
    expect(leaked.stderr).to.include('private key');
    await rm('demo-node/agent/leaked.pem');
  });

  it('sign signs an archive and a folder alike, and lint names who says to have signed it', async () => {
    await done('sign', 'again.svcplug', '--key', 'keys/acme.key.pem');
    await done('sign', 'demo-node', '--key', 'keys/acme.key.pem', '--output', 'signed.svcplug');
    expect(await readFile('again.svcplug')).to.deep.equal(await readFile('signed.svcplug'));
    await done('pack', 'demo-node', '--key', 'keys/acme.key.pem', '--output', 'packed.svcplug');
    expect(await readFile('packed.svcplug')).to.deep.equal(await readFile('signed.svcplug'));
    const { data } = await json('lint', 'signed.svcplug');
    expect(data).to.include({ declared_signer: 'acme', id: 'org.example.demo-node' });
    expect((await run('sign', 'again.svcplug')).code).to.equal(2);
    expect((await run('sign', 'again.svcplug', '--key', 'keys/acme.pem')).code).to.equal(
      PLUGIN_EXIT.generic_failure,
    );
  });

  it('lint says what an extension asks for, with its risk in words', async () => {
    expect(await done('lint', 'demo-node')).to.match(/telemetry\.read +low +reads position.*It only reads/);
  });

  it('lint ends with 2 for a manifest that is wrong, and names everything at once', async () => {
    await done('init', 'wrong');
    const manifest = await readFile('wrong/manifest.yaml', 'utf8');
    await writeFile(
      'wrong/manifest.yaml',
      manifest
        .replace('0.1.0', 'one')
        .replace('telemetry.read', 'telemetry.rule')
        .replace('main.mjs', 'main.ts'),
    );
    const { code, stderr } = await run('lint', 'wrong');
    expect(code).to.equal(PLUGIN_EXIT.manifest_invalid);
    for (const path of ['version', 'agent.permissions[0]', 'agent.entrypoint'])
      expect(stderr).to.include(path);
    const failure = await json('lint', 'wrong');
    expect(failure).to.include({ ok: false, code: PLUGIN_EXIT.manifest_invalid, kind: 'manifest_invalid' });
    expect(failure['violations']).to.have.length(3);
    expect(await json('lint', 'nothing-there')).to.include({ ok: false, code: PLUGIN_EXIT.generic_failure });
  });

  it('test ends with 1 and the last lines of an extension that fails', async () => {
    await done('init', 'failing');
    await writeFile('failing/agent/main.mjs', "console.error('no sensor'); process.exit(3);\n");
    const { code, stdout } = await run('test', 'failing');
    expect(code).to.equal(PLUGIN_EXIT.generic_failure);
    expect(stdout)
      .to.match(/FAIL +it says hello: ended with code 3/)
      .and.to.include('no sensor');
  });

  for (const name of ['geofence-watch', 'telemetry-forwarder'])
    it(`the extension ${name} passes its tests and is packed`, async () => {
      execFileSync('cp', ['-r', join(ROOT, 'deploy/extensions', name), folder]);
      await done('sdk', name);
      await done('test', name);
      expect(await done('pack', name)).to.include(`org.svc.${name}-1.0.0.svcplug`);
    });

  it('dev runs it with a simulated vehicle, again after a change, and leaves nothing behind', async () => {
    const before = new Set(await readdir(tmpdir()));
    const child = spawn(process.execPath, [join(ROOT, 'bin/svc.js'), 'plugin', 'dev', 'demo-node'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    const until = async (wanted: RegExp): Promise<void> => {
      while (!wanted.test(output)) {
        const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
        output += chunk.toString();
      }
    };
    await until(/state plugin\.org\.example\.demo-node\.battery \{"remaining":\d/);
    await appendFile('demo-node/agent/main.mjs', "console.log('changed it');\n");
    await until(/--- changed[^]*changed it[^]*battery/);
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).to.equal(0);
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith('svc-dev-') && !before.has(name));
    expect(left).to.deep.equal([]);
  });
});
