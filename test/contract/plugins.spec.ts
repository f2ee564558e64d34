import { appendFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { formWith, type Made, makeExtension, signer, withSdk } from '../support/extensions.ts';
import { describeWith } from '../support/needs.ts';
import { PluginNode } from '../support/plugin-node.ts';

const AGENT = ['entrypoint: agent/main.mjs', 'runtime: node'];

describeWith('bwrap')('extensions', () => {
  let plugins: PluginNode;
  before(async () => {
    plugins = await PluginNode.start();
  });
  after(async () => plugins.node.stop());

  const folderOf = async (id: string): Promise<string> => {
    const { installed_at: at } = await plugins.record(id);
    return join(plugins.node.paths.plugins, id, String(at));
  };
  const untilStatus = async (id: string, status: string) =>
    plugins.until(
      `${id} is ${status}`,
      async () => plugins.record(id),
      (record) => record.status === status,
    );

  it('an install writes the record and the files, grants nothing and starts nothing', async () => {
    const id = 'org.example.quiet';
    const { status, body } = await plugins.install({
      id,
      agent: [...AGENT, 'permissions: [telemetry.read, {id: mission.read, required: false}]'],
    });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.include({
      ok: true,
      plugin_id: id,
      version: '1.0.0',
      signer_id: 'tester',
      risk: 'medium',
      permissions_requested: ['telemetry.read', 'mission.read'],
      granted: [],
      job_id: null,
    });
    const record = await plugins.record(id);
    expect(record).to.include({
      plugin_id: id,
      source: 'local_file',
      source_uri: null,
      status: 'installed',
      enabled_at: null,
      failure_reason: null,
      sandbox: null,
    });
    expect(record).to.not.have.any.keys('auto_update', 'pinned_version', 'service_status');
    expect(record.manifest_hash).to.match(/^[0-9a-f]{64}$/);
    const files = await readdir(await folderOf(id));
    expect(files.toSorted()).to.deep.equal(['.attestation.json', 'agent', 'manifest.yaml']);
    expect(await readdir(join(plugins.node.paths.plugins, '.incoming'))).to.deep.equal([]);
    const { installs } = await plugins.done('GET', '/api/plugins');
    expect(installs).to.deep.include(record);
  });

  describe('an archive is refused, and nothing is changed:', () => {
    const id = 'org.example.refused';
    const REFUSED: readonly [string, Made, number, number, string][] = [
      ['without a signature', { signer: null }, 400, 10, 'signature_missing'],
      ['of an unknown signer', { signer: signer('stranger') }, 400, 10, 'signature_unknown_signer'],
      ['signed in the name of another', { signer: signer('tester') }, 400, 10, 'signature_invalid'],
      [
        'for a later version of the node',
        { compatibility: ['svc_version: ">=99"'] },
        409,
        17,
        'svc_version_skew',
      ],
      [
        'for another board',
        { compatibility: ['svc_version: ">=0.1"', 'supported_boards: [commodore-64]'] },
        500,
        20,
        'host_io_error',
      ],
      [
        'for another profile',
        { agent: [...AGENT, 'target_profiles: [ground-station]'] },
        409,
        18,
        'incompatible',
      ],
    ];
    for (const [what, made, status, code, kind] of REFUSED) {
      it(what, async () => {
        const before = await plugins.done('GET', '/api/plugins');
        const answer = await plugins.install({ id, ...made });
        expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
        expect(answer.body).to.include({ ok: false, code, kind });
        expect(answer.body['detail']).to.be.a('string').and.not.equal('');
        expect(await plugins.done('GET', '/api/plugins')).to.deep.equal(before);
        expect(await readdir(join(plugins.node.paths.plugins))).to.not.include(id);
      });
    }

    it('that is no archive, and a body that is no form', async () => {
      const noise = await plugins.install(Buffer.from('no archive'));
      expect([noise.status, noise.body['kind']]).to.deep.equal([400, 'archive_invalid']);
      const bare = await plugins.call('POST', '/api/plugins/install', { file: 'no' });
      expect([bare.status, bare.body['kind'], bare.body['code']]).to.deep.equal([400, 'usage_error', 2]);
      expect(await readdir(join(plugins.node.paths.plugins, '.incoming'))).to.deep.equal([]);
    });

    it('that is larger than 50 MiB, at whatever size it is cut off', async () => {
      const { status, body } = await plugins.install(Buffer.alloc(51 * 1024 * 1024));
      expect([status, body['kind'], body['code']]).to.deep.equal([413, 'archive_too_large', 13]);
    });

    it('with permissions that it does not ask for', async () => {
      const { status, body } = await plugins.install({ id }, '?requested_permissions=mavlink.write');
      expect([status, body['kind']]).to.deep.equal([400, 'permission_deny']);
    });

    it('and parse says the same about it, without installing', async () => {
      const archive = await makeExtension({ id, signer: signer('stranger') });
      const parsed = await plugins.done('POST', '/api/plugins/parse', await formWith(archive));
      expect(parsed).to.include({ ok: true, plugin_id: id, signed: false, signer_id: null });
      expect(parsed['signature_problem']).to.include('stranger is not trusted');
    });
  });

  it('an older version and another signer do not replace what is installed; a newer version does, without its grants', async () => {
    const id = 'org.example.update';
    const agent = [...AGENT, 'permissions: [{id: telemetry.read, required: false}]'];
    await plugins.run({ id, version: '1.1.0', agent, grants: ['telemetry.read'] });
    const older = await plugins.install({ id, version: '1.0.9', agent });
    expect([older.status, older.body['code']]).to.deep.equal([500, 20]);
    const other = signer('second');
    await writeFile(join(plugins.node.paths.pluginKeys, 'second.pem'), other.publicPem);
    const foreign = await plugins.install({ id, version: '1.2.0', agent, signer: other });
    expect([foreign.status, foreign.body['code'], foreign.body['kind']]).to.deep.equal([403, 19, 'refused']);
    expect(foreign.body['detail']).to.include('signer_change');
    expect(await plugins.record(id)).to.include({ version: '1.1.0', status: 'running' });
    const old = await folderOf(id);
    const newer = await plugins.install({ id, version: '1.2.0', agent });
    expect(newer.status).to.equal(200);
    expect(await plugins.record(id)).to.deep.include({
      version: '1.2.0',
      status: 'installed',
      permissions: {},
    });
    expect(await readdir(join(old, '..'))).to.have.length(1);
  });

  it('runs with what it was granted and no more, and each change of a grant counts at once', async () => {
    const id = 'org.example.grants';
    await plugins.install({
      id,
      agent: [...AGENT, 'permissions: [telemetry.read, {id: mission.read, required: false}]'],
      files: await withSdk(`
        svc.on('grants', async ({ grants }) => {
          const mission = await svc.call('mission.read', { part: 'mission' }).then(() => 'allowed', (e) => e.message);
          await svc.publishState('seen', { grants, mission });
        });
        setInterval(() => undefined, 60_000);
      `),
    });
    const early = await plugins.call('POST', `/api/plugins/${id}/enable`, {});
    expect([early.status, early.body['kind']]).to.deep.equal([400, 'permission_deny']);
    expect(early.body['detail']).to.include('telemetry.read');
    const foreign = await plugins.call('POST', `/api/plugins/${id}/grant`, {
      permission_id: 'mavlink.write',
    });
    expect([foreign.status, foreign.body['code']]).to.deep.equal([400, 11]);
    await plugins.done('POST', `/api/plugins/${id}/grant`, { permission_id: 'telemetry.read' });
    await plugins.done('POST', `/api/plugins/${id}/enable`, {});
    expect(await plugins.record(id)).to.include({ status: 'running', failure_reason: null });
    await plugins.until(
      'it has said hello',
      async () => plugins.done('GET', `/api/plugins/${id}/readiness`),
      ({ services }) => (services as { ready: boolean }[])[0]?.ready === true,
    );
    const seen = async (): Promise<Record<string, unknown>> => {
      const { status, body } = await plugins.call('GET', `/api/plugins/${id}/state`);
      const topics = body as Record<string, { payload: Record<string, unknown> }>;
      return status === 200 ? (topics[`plugin.${id}.seen`]?.payload ?? {}) : {};
    };
    await plugins.done('POST', `/api/plugins/${id}/grant`, { permission_id: 'mission.read' });
    await plugins.until('allowed', seen, ({ mission }) => mission === 'allowed');
    const left = await plugins.done('DELETE', `/api/plugins/${id}/perms/mission.read`);
    expect(left).to.deep.equal({
      ok: true,
      plugin_id: id,
      granted: ['telemetry.read'],
      requires_restart: false,
    });
    await plugins.until('denied', seen, ({ mission }) => mission === 'capability_denied: mission.read');
    const { permissions } = await plugins.record(id);
    expect(permissions['mission.read']?.revoked_at).to.be.a('number');
  });

  it('a grant that this machine cannot give stops it and says why; without it, it runs again', async () => {
    const id = 'org.example.listener';
    const listen = 'network.listen';
    await plugins.run({
      id,
      agent: [
        ...AGENT,
        `permissions: [{id: ${listen}, required: false}, {id: network.outbound, required: false}]`,
        'listen_ports: [8000]',
      ],
    });
    await plugins.done('POST', `/api/plugins/${id}/grant`, { permission_id: listen });
    const stopped = await plugins.record(id);
    expect(stopped.status).to.equal('enabled');
    expect(stopped.failure_reason).to.include(listen);
    await plugins.done('DELETE', `/api/plugins/${id}/perms/${listen}`);
    expect(await plugins.record(id)).to.include({ status: 'running', failure_reason: null });
  });

  it('a ground half: its files and texts, for a sandboxed frame, and nothing beside them', async () => {
    const id = 'org.example.page';
    await plugins.run({
      id,
      agent: null,
      lines: ['gcs:', '  entrypoint: gcs/plugin.bundle.js', '  locales: [en]'],
      files: {
        'gcs/plugin.bundle.js': 'export default 1;\n',
        'gcs/style.css': 'p { color: red }\n',
        'locales/en.json': '{"title":"Page"}',
      },
    });
    expect(await plugins.record(id)).to.include({ status: 'enabled', sandbox: null });
    const script = await plugins.call('GET', `/api/plugins/${id}/gcs/plugin.bundle.js`);
    expect([script.status, script.body['text']]).to.deep.equal([200, 'export default 1;\n']);
    expect(script.headers.get('content-type')).to.include('text/javascript');
    expect(script.headers.get('content-security-policy')).to.include(
      "sandbox allow-scripts; default-src 'none'",
    );
    expect((await plugins.call('GET', `/api/plugins/${id}/gcs/style.css`)).status).to.equal(200);
    expect(await plugins.done('GET', `/api/plugins/${id}/locales/en`)).to.deep.equal({ title: 'Page' });
    for (const path of ['gcs/none.js', 'gcs/manifest.yaml', 'locales/de', 'gcs/locales/en.json']) {
      const { status, body } = await plugins.call('GET', `/api/plugins/${id}/${path}`);
      expect([status, body['kind']], path).to.deep.equal([404, 'not_found']);
    }
    for (const path of ['gcs/../manifest.yaml', 'gcs/%2e%2e/manifest.yaml', 'gcs//plugin.bundle.js']) {
      const { status } = await plugins.call('GET', `/api/plugins/${id}/${path}`);
      expect(status, path).to.be.oneOf([400, 404]);
    }
  });

  it('what runs only in another host is not started, and says so; its page is there, with the settings of older packers', async () => {
    const id = 'org.example.elsewhere';
    const made: Made = {
      id,
      agent: ['entrypoint: "thing.plugin:Thing"'],
      compatibility: [
        'ados_version: ">=0.10.0"',
        `supported_boards: [cm4, ${arch() === 'x64' ? 'x86' : '"*"'}]`,
      ],
      lines: ['gcs:', '  entrypoint: gcs/plugin.bundle.js', '  permissions: [ui.slot.notification]'],
      files: {
        'gcs/plugin.bundle.js': '',
        'config-schema.json': '{"type":"object","properties":{"low":{"type":"number"}}}',
      },
    };
    const { status, body } = await plugins.install(
      made,
      '?requested_permissions=ui.slot.notification-channel',
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    await plugins.done('POST', `/api/plugins/${id}/enable`, {});
    const {
      install,
      manifest,
      granted_capabilities: grants,
    } = await plugins.done('GET', `/api/plugins/${id}`);
    expect(install).to.include({ status: 'enabled' });
    expect((install as { failure_reason: string }).failure_reason).to.match(
      /^Only its page is shown here\. Its entry point thing\.plugin:Thing/,
    );
    expect(grants).to.deep.equal(['ui.slot.notification-channel']);
    expect((manifest as { settings: unknown }).settings).to.deep.equal({
      type: 'object',
      properties: { low: { type: 'number' } },
    });
    const alone = 'org.example.elsewhere-alone';
    await plugins.install({ ...made, id: alone, lines: [], files: { 'agent/x': '' } });
    const refused = await plugins.call('POST', `/api/plugins/${alone}/enable`, {});
    expect([refused.status, refused.body['kind']]).to.deep.equal([409, 'incompatible']);
  });

  it('MAVLink: it hears the messages that it asked for, and what it sends is refused without the grant', async () => {
    const id = 'org.example.frames';
    await plugins.run({
      id,
      agent: [...AGENT, 'permissions: [mavlink.read, {id: mavlink.write, required: false}]'],
      grants: ['mavlink.read'],
      files: await withSdk(`
        const heartbeat = { frame: null, sent: null };
        await svc.mavlink({ messages: [0] }, async (frame) => {
          heartbeat.frame = [...frame.subarray(0, 1), frame[7]];
          heartbeat.sent = await svc.sendMavlink(frame).then(() => 'sent', (error) => error.message);
          await svc.publishState('heartbeat', heartbeat);
        });`),
    });
    const seen = async () => JSON.stringify((await plugins.call('GET', `/api/plugins/${id}/state`)).body);
    const text = await plugins.until('a heartbeat', seen, (value) => value.includes('"frame"'));
    expect(text).to.include('"frame":[253,0]').and.to.include('capability_denied: mavlink.write');
    await plugins.done('POST', `/api/plugins/${id}/grant`, { permission_id: 'mavlink.write' });
    await plugins.until('sent', seen, (value) => value.includes('"sent":"sent"'));
  });

  it('one that keeps ending is given up, with its last words', async () => {
    const id = 'org.example.crash';
    await plugins.run({ id, files: { 'agent/main.mjs': "console.error('no sensor');\nprocess.exit(3);\n" } });
    const record = await untilStatus(id, 'failed');
    expect(record.failure_reason).to.include('code 3');
    expect(record.last_words).to.deep.equal(['no sensor']);
    const { entries } = await plugins.done('GET', `/api/plugins/${id}/logs?text=sensor`);
    const lines = entries as { logger: string; message: string }[];
    expect(lines.map(({ logger, message }) => [logger, message])).to.deep.include([id, 'no sensor']);
  });

  it('changed, missing and additional files stop it, at its start at the latest', async () => {
    const id = 'org.example.tampered';
    await plugins.install({ id });
    const folder = await folderOf(id);
    const main = join(folder, 'agent/main.mjs');
    const content = await readFile(main);
    const changes: readonly [string, string, () => Promise<void>, () => Promise<void>][] = [
      [
        'a changed file',
        'agent/main.mjs',
        async () => appendFile(main, '\n//'),
        async () => writeFile(main, content),
      ],
      [
        'a new file',
        'agent/more.mjs',
        async () => writeFile(join(folder, 'agent/more.mjs'), ''),
        async () => rm(join(folder, 'agent/more.mjs')),
      ],
      ['a missing file', 'agent/main.mjs', async () => rm(main), async () => writeFile(main, content)],
      [
        'another attestation',
        '.attestation.json',
        async () => writeFile(join(folder, '.attestation.json'), '{"signature":null,"files":[]}'),
        async () => undefined,
      ],
    ];
    for (const [what, path, change, restore] of changes) {
      await change();
      const { status, body } = await plugins.call('POST', `/api/plugins/${id}/enable`, {});
      expect([status, body['kind']], what).to.deep.equal([403, 'refused']);
      expect(await plugins.record(id), what).to.include({
        status: 'failed',
        failure_reason: `tampered: ${path}`,
      });
      await restore();
    }
  });

  it('a revoked signer’s extensions stop, and cannot be installed or started again', async () => {
    const id = 'org.example.revoked';
    const bad = signer('careless');
    await writeFile(join(plugins.node.paths.pluginKeys, 'careless.pem'), bad.publicPem);
    await plugins.run({ id, signer: bad });
    const list = plugins.node.paths.pluginRevocations;
    await writeFile(`${list}.new`, JSON.stringify(['careless']));
    await rename(`${list}.new`, list);
    const record = await untilStatus(id, 'disabled');
    expect(record.failure_reason).to.equal('signer_revoked');
    const enable = await plugins.call('POST', `/api/plugins/${id}/enable`, {});
    expect([enable.status, enable.body['code']]).to.deep.equal([403, 19]);
    const again = await plugins.install({ id, version: '1.0.1', signer: bad });
    expect([again.status, again.body['kind']]).to.deep.equal([400, 'signature_revoked']);
    await writeFile(list, 'not JSON');
    const any = await plugins.install({ id: 'org.example.any' });
    expect([any.status, any.body['kind']]).to.deep.equal([500, 'host_io_error']);
    await rm(list);
  });

  it('keeps what it has stored only if that is asked for, and leaves nothing else', async () => {
    const id = 'org.example.stored';
    const traces = async (): Promise<readonly string[]> => {
      const { paths } = plugins.node;
      const found: string[] = [];
      for (const folder of [paths.plugins, paths.pluginData, paths.pluginConfig, paths.pluginSockets])
        for (const name of await readdir(folder)) if (name.startsWith(id)) found.push(join(folder, name));
      return found;
    };
    const made = {
      id,
      files: await withSdk(`
        import { writeFileSync } from 'node:fs';
        writeFileSync(process.env.SVC_PLUGIN_DATA + '/kept', 'x');
        await svc.publishState('ready', true);
        setInterval(() => undefined, 60_000);`),
    };
    const stored = async (): Promise<void> => {
      await plugins.run(made);
      await plugins.until(
        'stored',
        async () => plugins.call('GET', `/api/plugins/${id}/state`),
        ({ status }) => status === 200,
      );
      await plugins.done('PUT', `/api/plugins/${id}/config`, { key: 'a', value: { b: [1] } });
    };
    await stored();
    await plugins.done('DELETE', `/api/plugins/${id}?keep_data=1`);
    expect(await readFile(join(plugins.node.paths.pluginData, id, 'kept'), 'utf8')).to.equal('x');
    await stored();
    await plugins.done('DELETE', `/api/plugins/${id}`);
    expect(await traces()).to.deep.equal([]);
    const gone = await plugins.call('GET', `/api/plugins/${id}`);
    expect([gone.status, gone.body['code'], gone.body['kind']]).to.deep.equal([404, 14, 'not_found']);
  });

  it('settings reach a running extension, and a null removes one', async () => {
    const id = 'org.example.settings';
    await plugins.run({
      id,
      files: await withSdk(`
        svc.on('config', ({ values }) => svc.publishState('config', values));
        await svc.publishState('config', svc.config);
        setInterval(() => undefined, 60_000);`),
    });
    const shown = async () => {
      const { body } = await plugins.call('GET', `/api/plugins/${id}/state`);
      return (body as Record<string, { payload?: unknown }>)[`plugin.${id}.config`]?.payload;
    };
    const put = async (body: object) => plugins.done('PUT', `/api/plugins/${id}/config`, body);
    await plugins.until('empty', shown, (value) => JSON.stringify(value) === '{}');
    await put({ key: 'limit', value: 5, scope: 'global' });
    await plugins.until('global', shown, (value) => JSON.stringify(value) === '{"limit":5}');
    expect(await put({ key: 'limit', value: { m: 3 } })).to.deep.equal({
      set: true,
      plugin_id: id,
      key: 'limit',
      scope: 'drone',
    });
    await plugins.until('drone', shown, (value) => JSON.stringify(value) === '{"limit":{"m":3}}');
    await put({ key: 'limit', value: null });
    await plugins.until('global again', shown, (value) => JSON.stringify(value) === '{"limit":5}');
  });

  it('twenty installs and enables at once: all of them are there, and run', async function () {
    this.timeout(60_000);
    const ids = Array.from({ length: 20 }, (_, index) => `org.example.many${index}`);
    await Promise.all(
      ids.map(async (id) =>
        plugins.run({
          id,
          files: { 'agent/main.sh': '#!/bin/sh\nexec sleep 1000\n' },
          agent: ['entrypoint: agent/main.sh', 'runtime: binary'],
        }),
      ),
    );
    const { installs } = await plugins.done('GET', '/api/plugins');
    const states = new Map(
      (installs as { plugin_id: string; status: string }[]).map(({ plugin_id: id, status }) => [id, status]),
    );
    for (const id of ids) expect(states.get(id), id).to.equal('running');
    await Promise.all(ids.map(async (id) => plugins.done('DELETE', `/api/plugins/${id}`)));
  });

  it('what ran runs again after svc-residual was killed; what is left over of a killed install is removed', async () => {
    const id = 'org.example.again';
    await plugins.run({ id });
    const { paths } = plugins.node;
    await writeFile(join(paths.plugins, '.incoming', 'half.svcplug'), 'PK');
    await plugins.node.killAndAwaitSuccessor('svc-residual');
    await plugins.until(
      'runs',
      async () => plugins.call('GET', `/api/plugins/${id}/readiness`),
      ({ status, body }) => status === 200 && JSON.stringify(body).includes('has not said hello'),
    );
    expect(await plugins.record(id)).to.include({ status: 'running' });
    expect(await readdir(paths.plugins)).to.not.include('.incoming');
  });

  it('a record file that cannot be read is an error on every route, and is not overwritten', async () => {
    const { pluginState } = plugins.node.paths;
    // So that it writes nothing of its own after us.
    process.kill(plugins.node.pid('svc-residual'), 'SIGSTOP');
    const text = await readFile(pluginState);
    await writeFile(pluginState, '{"schema":1,"installs":[{"plugin_id":1}]}');
    await plugins.node.killAndAwaitSuccessor('svc-residual');
    for (const [method, path] of [
      ['GET', '/api/plugins'],
      ['GET', '/api/plugins/org.example.again'],
      ['POST', '/api/plugins/org.example.again/enable'],
    ] as const) {
      const { status, body } = await plugins.call(method, path, method === 'POST' ? {} : undefined);
      expect([status, body['kind']], path).to.deep.equal([500, 'host_io_error']);
      expect(body['detail']).to.include('installs[0]');
    }
    const { status } = await plugins.install({ id: 'org.example.more' });
    expect(status).to.equal(500);
    expect(await readFile(pluginState, 'utf8')).to.include('"plugin_id":1');
    await writeFile(pluginState, text);
    expect((await plugins.done('GET', '/api/plugins'))['installs']).to.not.deep.equal([]);
  });
});
