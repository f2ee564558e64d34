import { expect } from 'chai';
import { PLUGIN_EXIT } from '../../bin/commands/plugin/plugin-exit.ts';
import { IDLE, makeExtension, signer } from '../support/extensions.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { svc } from '../support/svc.ts';

type Json = Readonly<Record<string, unknown>>;

const ID = 'org.example.watch';

describe('svc plugin, for operators', function () {
  this.timeout(120_000); // each call is a process of its own
  let plugins: PluginNode;
  let archive: string;
  before(async () => {
    plugins = await PluginNode.start();
    archive = await makeExtension({
      id: ID,
      signer: plugins.signer,
      agent: [
        'entrypoint: agent/main.mjs',
        'runtime: node',
        'permissions: [telemetry.read, {id: mavlink.write, required: false}]',
      ],
      files: { 'agent/main.mjs': `console.log('it runs');\n${IDLE}` },
    });
  });
  after(async () => plugins.node.stop());

  const run = async (...args: string[]) => svc(plugins.node.paths, 'plugin', ...args);
  const json = async (...args: string[]): Promise<Json> =>
    JSON.parse((await run(...args, '--json')).stdout) as Json;

  it('install shows who signed it and what it wants, and asks; --yes does not stand for what is grave', async () => {
    const asked = await run('install', archive);
    expect(asked.code, asked.stderr).to.equal(PLUGIN_EXIT.permission_denied);
    expect(asked.stdout)
      .to.include('signed by tester')
      .and.to.match(/telemetry\.read +low +reads position/);
    expect(asked.stdout).to.match(/mavlink\.write +high .*flight.*\(optional\)/);
    expect(await json('list')).to.deep.equal({ ok: true, code: 0, kind: 'ok', data: [] });

    const grave = await makeExtension({
      id: 'org.example.grave',
      signer: plugins.signer,
      agent: ['entrypoint: agent/main.mjs', 'runtime: node', 'permissions: [mavlink.write]'],
    });
    const refused = await run('install', grave, '--yes');
    expect([refused.code, refused.stderr.includes('mavlink.write')]).to.deep.equal([
      PLUGIN_EXIT.permission_denied,
      true,
    ]);

    const done = await run('install', archive, '--yes');
    expect(done.code, done.stderr).to.equal(0);
    expect(done.stdout).to.include('is installed').and.to.include('Not granted: mavlink.write');
  });

  it('perms grants and revokes; a grave one needs --yes', async () => {
    const shown = await run('perms', ID);
    expect(shown.stdout)
      .to.match(/granted +telemetry\.read/)
      .and.to.match(/- +mavlink\.write/);
    expect((await run('perms', ID, '--grant', 'mavlink.write')).code).to.equal(PLUGIN_EXIT.permission_denied);
    const granted = await json('perms', ID, '--grant', 'mavlink.write', '--yes');
    expect(granted['data']).to.deep.equal({ granted_capabilities: ['mavlink.write', 'telemetry.read'] });
    const revoked = await json('perms', ID, '--revoke', 'mavlink.write');
    expect(revoked['data']).to.deep.equal({ granted_capabilities: ['telemetry.read'] });
    const foreign = await json('perms', ID, '--grant', 'mission.read');
    expect(foreign).to.include({ ok: false, code: PLUGIN_EXIT.permission_denied, kind: 'permission_deny' });
  });

  it('enable, info, list, logs, disable and remove', async () => {
    expect((await run('enable', ID)).code).to.equal(0);
    const { stdout: info } = await run('info', ID);
    expect(info).to.include(`${ID} 1.0.0: running`).and.to.include('sandbox');
    expect((await run('list')).stdout).to.include('running');
    const logs = await plugins.until(
      'its line is stored',
      async () => run('logs', ID, '--lines', '5'),
      ({ stdout }) => stdout.includes('it runs'),
    );
    expect(logs.code).to.equal(0);
    expect((await run('disable', ID)).stdout).to.include('stopped');
    expect((await json('info', ID))['data']).to.have.nested.property('install.status', 'disabled');
    expect((await run('remove', ID)).code).to.equal(0);
    expect(await json('info', ID)).to.include({
      ok: false,
      code: PLUGIN_EXIT.plugin_not_found,
      kind: 'not_found',
    });
  });

  it('each refusal has its exit code', async () => {
    const unsigned = await makeExtension({ id: ID, signer: signer('stranger') });
    expect((await run('install', unsigned, '--yes')).code).to.equal(PLUGIN_EXIT.signature_invalid);
    const later = await makeExtension({
      id: ID,
      signer: plugins.signer,
      compatibility: ['svc_version: ">=99"'],
    });
    expect((await run('install', later, '--yes')).code).to.equal(PLUGIN_EXIT.compatibility_failed);
    expect((await run('install', '/nonexistent.svcplug', '--yes')).code).to.equal(
      PLUGIN_EXIT.generic_failure,
    );
    expect((await run('enable', 'org.example.none')).code).to.equal(PLUGIN_EXIT.plugin_not_found);
  });
});
