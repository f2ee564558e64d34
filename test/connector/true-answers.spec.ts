import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { TOOL_RATE } from '../../connector/gate/rate-limit.ts';
import { rowOf } from '../../connector/rows.ts';
import { readSettings, UsageError } from '../../connector/settings.ts';
import { compileCatalogue } from '../../connector/tools/catalogue.ts';
import { isAbout } from '../../connector/tools/params.ts';
import { classOf } from '../../connector/tools/tool.ts';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { METRICS } from '../../shared/metrics.ts';
import { callTool, connectStdio, runConnector } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Json = Readonly<Record<string, unknown>>;

describe('what the connector says is so', function () {
  this.timeout(120_000);
  let home: string;
  let stub: StubNode;
  const clients: Client[] = [];
  beforeEach(async () => {
    home = await tempDir();
    stub = await StubNode.start();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await stub.leave();
    await removeDir(home);
  });
  const connect = async (...args: string[]): Promise<Client> => {
    const client = await connectStdio({ args, home, key: KEY }, () => true);
    clients.push(client);
    return client;
  };
  const agent = async (...more: string[]): Promise<Client> => connect('--target', 'agent', stub.url, ...more);
  const fleetFile = async (nodes: readonly Json[]): Promise<string> => {
    const file = join(home, 'fleet.json');
    await writeFile(file, JSON.stringify({ nodes }), { mode: 0o600 });
    return file;
  };

  it('--help names nothing of another product, and its flag is gone', async () => {
    const { code, stdout } = await runConnector({ args: ['--help'], home });
    expect(code).to.equal(0);
    expect(stdout)
      .to.include('SVC_CLOUD_URL')
      .and.not.match(/convex/i);
    const args = ['--target', 'fleet', '--convex-url', 'http://127.0.0.1:1'];
    expect((await runConnector({ args, home })).stderr).to.include("Unknown option '--convex-url'");
  });

  it('whatever is broken at the start is one sentence, without a stack or a key, and exit code 1', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as { port: number }).port);
    const broken = join(home, 'broken.json');
    await writeFile(broken, `{"nodes": [${KEY}`, { mode: 0o600 });
    const open = join(home, 'open.json');
    await writeFile(open, '{"nodes": []}', { mode: 0o644 });
    const local = ['--target', 'local-fleet', '--transport', 'stdio'];
    const cases: readonly [string, readonly string[], Record<string, string>, RegExp][] = [
      ['SVC_MCP_FLEET is no JSON', local, { SVC_MCP_FLEET: `{${KEY}` }, /SVC_MCP_FLEET is not JSON/],
      ['SVC_MCP_FLEET is no fleet', local, { SVC_MCP_FLEET: '"x"' }, /SVC_MCP_FLEET: it is \{"nodes"/],
      ['SVC_MCP_FLEET is empty', local, { SVC_MCP_FLEET: '[]' }, /there is no node in SVC_MCP_FLEET/],
      ['a broken file', [...local, broken], {}, /broken\.json is not JSON/],
      ['a file that others read', [...local, open], {}, /chmod 600/],
      ['a folder for a file', [...local, home], {}, /is not a plain file/],
      ['--fleet-file', [...local, '--fleet-file', broken], {}, /broken\.json is not JSON/],
      ['SVC_MCP_FLEET_PATH', local, { SVC_MCP_FLEET_PATH: broken }, /broken\.json is not JSON/],
      ['a host', ['--target', 'agent', 'a b'], {}, /a b is no host/],
      ['SVC_AGENT_HOST', ['--target', 'agent'], { SVC_AGENT_HOST: 'http://x/y' }, /is no host/],
      [
        'a token',
        ['--target', 'agent', stub.url, '--token', 'x'],
        {},
        /not a token of a node|no token|token/,
      ],
      [
        'a port that is taken',
        ['--target', 'agent', stub.url, '--transport', 'http', '--http-port', port, '--no-mdns'],
        {},
        /EADDRINUSE/,
      ],
      [
        'an address that is not of this machine',
        ['--target', 'agent', stub.url, '--transport', 'http', '--http-host', '192.0.2.1', '--no-mdns'],
        {},
        /EADDRNOTAVAIL/,
      ],
      ['a hub', ['--target', 'fleet', '--gcs', 'x', '--token', 'svc_mc_x'], {}, /x/],
      [
        'SVC_HUB_CA',
        ['--target', 'fleet', '--gcs', 'https://127.0.0.1:1', '--token', 'svc_mc_x'],
        { SVC_HUB_CA: join(home, 'none') },
        /ENOENT/,
      ],
    ];
    try {
      for (const [what, args, env, sentence] of cases) {
        const { code, stderr } = await runConnector({ args, home, env });
        const fatal = stderr
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Json)
          .filter(({ level }) => level === 'fatal');
        expect([what, code, fatal.length], stderr).to.deep.equal([what, 1, 1]);
        expect(fatal[0]?.['msg'], what).to.match(sentence);
        expect(fatal[0], what).to.not.have.property('stack');
        expect(stderr, what).to.not.include(KEY);
      }
    } finally {
      taken.close();
    }
  });

  it('a setting that is none names itself', () => {
    const cases: readonly [readonly string[], Record<string, string>, RegExp][] = [
      [['--http-port', '70000'], {}, /70000 is not a port/],
      [[], { SVC_MCP_HTTP_PORT: 'x' }, /x is not a port/],
      [[], { SVC_MCP_LOG_LEVEL: 'loud' }, /^SVC_MCP_LOG_LEVEL loud: it is debug, info, warn, error/],
      [
        [],
        { SVC_MCP_FLIGHT_ENFORCED: '${user_config.flight}' },
        /^SVC_MCP_FLIGHT_ENFORCED \$\{user_config.flight\}: it is true, false/,
      ],
      [['--toolset', 'x'], {}, /^--toolset x: it is mission, payload, flight-logs/],
      [['--transport', 'x'], {}, /^--transport x: it is auto, stdio, http, unix/],
    ];
    for (const [args, env, sentence] of cases)
      expect(() => readSettings(['--target', 'agent', ...args], env)).to.throw(UsageError, sentence);
  });

  it('flight tools are declared by the flag or by what an installer passes on', () => {
    const declared = (args: readonly string[], value?: string): boolean =>
      readSettings(['--target', 'agent', ...args], { SVC_MCP_FLIGHT_ENFORCED: value }).flightEnforced;
    expect(declared([], 'true')).to.equal(true);
    expect(declared(['--flight-enforced'], 'false')).to.equal(true);
    for (const value of [undefined, '', 'false']) expect(declared([], value), value).to.equal(false);
  });

  it('params that do not fit, and cursors that nobody gave, are invalid params', async () => {
    const client = await agent();
    const codeOf = async (method: string, params: Json): Promise<unknown> =>
      client
        .request({ method: method as 'resources/read', params })
        .then(() => 'answered')
        .catch((error: unknown) => (error as { code?: number }).code);
    const wrong: readonly [string, Json][] = [
      ['resources/read', { uri: 5 }],
      ['resources/read', {}],
      ['resources/subscribe', { uri: 5 }],
      ['resources/unsubscribe', { uri: null }],
      ['prompts/get', { name: 5 }],
      ['tools/call', { name: 5 }],
      ['completion/complete', { ref: 5, argument: {} }],
      ...['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].flatMap(
        (method): [string, Json][] => [
          [method, { cursor: 'unknown' }],
          [method, { cursor: 5 }],
        ],
      ),
    ];
    for (const [method, params] of wrong)
      expect([method, params, await codeOf(method, params)]).to.deep.equal([method, params, -32602]);
    for (const name of ['params_read_all', 'audit_query', 'status_get']) {
      const { isError, value } = await callTool(client, name, { cursor: 'unknown' });
      expect([name, isError, value['reason']]).to.deep.equal([name, true, 'invalid_arguments']);
    }
  });

  it('config_set asks nobody for what no scope gives', async () => {
    const client = await agent();
    const words = 'CONFIG.SET ON THIS NODE';
    const [shown] = (await callTool(client, 'tools_show', { family: 'setup' })).value['tools'] as Json[];
    expect(shown).to.have.property('name');
    const { tools } = await client.listTools();
    const description = tools.find(({ name }) => name === 'config_set')?.description;
    expect(description).to.include(`Words for \`confirm\` if destructive: ${words}.`);
    const set = async (key: string, on = client): Promise<Json> =>
      (await callTool(on, 'config_set', { key, value: 'true', confirm: words })).value;
    expect(await set('agent.name')).to.include({ ok: true });
    const flies = await agent('--token', stub.token('read', 'admin', 'destructive'));
    const before = stub.came.filter((came) => came.startsWith('PUT')).length;
    for (const on of [client, flies]) {
      const root = await set('mcp.token_accept_enabled', on);
      expect(root).to.deep.include({ reason: 'scope_missing', required: 'root', missing: ['root'] });
      expect(root['message']).to.match(/Nobody writes it from here: root does/);
      const key = await set('security.api.cors_enabled', on);
      expect(key).to.include({ reason: 'scope_missing', required: 'keyonly' });
      expect(key['message']).to.match(/A person may write it with the pairing key/);
      expect([root, key].map((each) => 'confirm_id' in each)).to.deep.equal([false, false]);
    }
    expect(await set('logging.store.max_age_days')).to.include({ required: 'destructive' });
    // Who has the scope is asked for a signature besides the words.
    expect(await set('logging.store.max_age_days', flies)).to.include({ reason: 'confirm_required' });
    expect(stub.came.filter((came) => came.startsWith('PUT'))).to.have.length(before);
  });

  it('plugins_install passes expected_sha256 on', async () => {
    const bodies: Promise<unknown>[] = [];
    stub.answers.set('POST /api/plugins/install_from_url', (req) => {
      bodies.push(json(req));
      return [200, { ok: true }];
    });
    const asked = { url: 'https://example.com/x.svcplugin', expected_sha256: 'a'.repeat(64) };
    const client = await agent();
    const { value } = await callTool(client, 'plugins_install', asked);
    expect(value, JSON.stringify(value)).to.include({ ok: true });
    expect(await Promise.all(bodies)).to.deep.equal([asked]);
  });

  it('logs_aggregate lists what can be asked for, and says it to who asks for something else', async () => {
    const client = await agent();
    const { tools } = await client.listTools();
    const { properties } = tools.find(({ name }) => name === 'logs_aggregate')?.inputSchema ?? {};
    const choices = (name: string): unknown => (properties?.[name] as Json | undefined)?.['enum'];
    expect(choices('metric')).to.deep.equal([...METRICS]);
    expect(choices('bucket')).to.deep.equal(['auto', '1s', '1m', '1h']);
    expect(choices('agg')).to.include.members(['avg', 'p95', 'last']);
    const { value } = await callTool(client, 'logs_aggregate', { metric: 'cpu.percent' });
    expect(value).to.include({ reason: 'invalid_arguments' });
    for (const metric of METRICS) expect(value['message']).to.include(metric);
    expect(stub.came).to.not.include('GET /api/observability/aggregate');
  });

  it('the radio, the network and a ground station can be read', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      config: 'agent:\n  profile: ground-station\n',
      simulated: false,
    });
    try {
      const client = await connect('--target', 'agent', node.url);
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).to.include('status_get');
      const radio = await callTool(client, 'status_get', { part: 'radio' });
      expect(radio.value, JSON.stringify(radio.value)).to.include.keys('state', 'cards', 'links');
      const ground = await callTool(client, 'status_get', { part: 'ground' });
      expect(ground.value, JSON.stringify(ground.value)).to.include({ profile: 'ground-station' });
    } finally {
      await node.stop();
    }
    const network = { interfaces: [], uplinks: [], uplink_changes: [], hotspot: null };
    stub.answers.set('GET /api/v1/network', [200, network]);
    const missing = { detail: 'ModemManager is not running.', code: 'E_NOT_IMPLEMENTED' };
    stub.answers.set('GET /api/v1/network/modem', [501, missing]);
    expect((await callTool(await agent(), 'status_get', { part: 'network' })).value).to.deep.equal(network);
    const modems = [{ id: '0', operator: 'A network' }];
    stub.answers.set('GET /api/v1/network/modem', [200, { modems }]);
    expect((await callTool(await agent(), 'status_get', { part: 'network' })).value).to.deep.equal({
      ...network,
      modems,
    });
  });

  it('a local fleet learns new names; of two with one name each refusal says both ids and names', async () => {
    await using other = await StubNode.start('stub-2');
    const called = (node: StubNode, name: string): void => {
      node.answers.set('GET /api/pairing/info', [200, { paired: true, device_id: node.deviceId, name }]);
    };
    called(stub, 'Falcon');
    called(other, 'Kestrel');
    const file = await fleetFile([
      { id: 'stub', host: stub.url, key: KEY },
      { id: 'stub-2', host: other.url, key: KEY, name: 'as it was' },
    ]);
    const client = await connect('--target', 'local-fleet', file);
    expect((await callTool(client, 'status_get', { node: 'Kestrel' })).isError).to.equal(false);
    const { value: unsaid } = await callTool(client, 'status_get');
    expect(unsaid['reason']).to.equal('node_required');
    expect(unsaid['nodes']).to.deep.equal([
      { id: 'stub', name: 'Falcon' },
      { id: 'stub-2', name: 'Kestrel' },
    ]);
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/resources/list_changed', () => resolve());
    });
    called(other, 'Falcon');
    await changed;
    const { value: both } = await callTool(client, 'status_get', { node: 'Falcon' });
    expect(both['message']).to.include('Several nodes have this name');
    const two = [
      { id: 'stub', name: 'Falcon' },
      { id: 'stub-2', name: 'Falcon' },
    ];
    expect(both['nodes']).to.deep.equal(two);
    const { value: list } = await callTool(client, 'fleet_list_nodes');
    expect((list['nodes'] as Json[]).map(({ id, name }) => ({ id, name }))).to.deep.equal(two);
    const ref = { type: 'ref/prompt' as const, name: 'preflight_brief' };
    const { completion } = await client.complete({ ref, argument: { name: 'node', value: 'fal' } });
    expect(completion.values).to.deep.equal(['stub', 'stub-2']);
    const { stdout } = await runConnector({ args: ['--target', 'local-fleet', file, '--verify'], home });
    for (const id of ['stub', 'stub-2']) expect(stdout).to.match(new RegExp(`${id} at .*, called Falcon`));
    const { tools } = await client.listTools();
    const bare = tools.filter(({ inputSchema }) => inputSchema.required?.includes('node') !== true);
    expect(bare.map(({ name }) => name)).to.deep.equal(['fleet_list_nodes', 'tools_show']);
    const events = async (node: string): Promise<unknown> =>
      (await callTool(client, 'audit_query', { node, tool: 'status_get' })).value['count'];
    expect([await events('stub'), await events('stub-2')]).to.deep.equal([0, 1]);
  });

  it('flight_disarm in the air says what to do, and not the name of a result', async () => {
    const ack = { observed: true, accepted: false, result: 4, result_name: 'FAILED' };
    const hint = 'It is in the air: land it first (land or rtl), then disarm.';
    stub.answers.set('POST /api/command', [200, { status: 'rejected', ack: { ...ack, hint } }]);
    stub.answers.set('GET /api/status', [200, { fc_connected: true, fc_simulated: true }]);
    const client = await agent('--sim', '--token', stub.token('read', 'flight'));
    const { isError, value } = await callTool(client, 'flight_disarm');
    expect([isError, value['message']]).to.deep.equal([true, `The vehicle refused disarm. ${hint}`]);
    stub.answers.set('POST /api/command', [200, { status: 'rejected', ack }]);
    expect((await callTool(client, 'flight_disarm')).value['message']).to.include('FAILED');
  });

  it('every tool that writes or flies answers, short as text and whole as structure', async () => {
    const args: Readonly<Record<string, Json>> = {
      config_set: { key: 'agent.name', value: 'x' },
      services_restart: { name: 'svc-residual' },
      plugins_install: { url: 'https://example.com/x' },
      plugins_config: { id: 'x', key: 'k', value: '1' },
      video_record: { on: true },
      admin_pairing_claim: { user_id: 'x' },
      admin_wfb_channel: { channel: 36 },
      admin_wfb_tx_power: { power_dbm: 10 },
      admin_network_wifi_join: { ssid: 'x' },
      params_set: { name: 'RTL_ALT', value: 1 },
      video_set_profile: { profile: 'hero' },
      vision_designate: { release: true },
      flight_takeoff: { altitude_m: 5 },
      flight_goto: { lat: 0, lon: 0, alt_m: 5 },
      flight_move: { north_m: 5 },
      flight_altitude: { altitude_m: 5 },
      flight_mode: { mode: 'GUIDED' },
      flight_yaw: { angle: 1 },
      flight_speed: { speed: 1 },
      flight_orbit: { radius: 5, speed: 1, lat: 0, lon: 0, alt: 5 },
      camera_roi: { lat: 0, lon: 0 },
      gimbal_point: { pitch: 0 },
      payload_servo: { output: 1, pwm: 1500 },
      payload_relay: { relay: 0, on: 1 },
      mission_set_current: { seq: 0 },
      mission_upload: { document: { items: [] } },
    };
    const asked = [...compileCatalogue().values()].filter((tool) => classOf(tool) !== 'read');
    for (const { routes } of asked)
      for (const { method, path } of routes.map(rowOf))
        if (method !== 'GET') stub.answers.set(`${method} ${path.replace(/\{\w+\}/, 'x')}`, [200, {}]);
    stub.answers.set('POST /api/params/RTL_ALT', [200, {}]);
    stub.answers.set('POST /api/services/svc-residual/restart', [200, {}]);
    stub.answers.set('GET /api/pairing/code', [200, { code: 'ABCDEF', expires_at: 1 }]);
    stub.answers.set('GET /api/status', [200, { fc_connected: true, fc_simulated: true }]);
    stub.answers.set('POST /api/command', [200, { ack: { observed: true, accepted: true } }]);
    for (const part of ['mission', 'fence', 'rally']) {
      stub.answers.set(`PUT /api/${part}`, [200, { items: [], warnings: [] }]);
      stub.answers.set(`DELETE /api/${part}`, [200, { count: 0 }]);
    }
    const position = { lat: 47, lon: 8, alt_rel: 10 };
    const flying = { mavlink_alive: true, armed: true, mode: 'GUIDED', mav_type: 2, landed_state: 'in_air' };
    stub.answers.set('GET /api/telemetry', [200, { ...flying, autopilot: 3, position }]);
    const token = ['--sim', '--token', stub.token(...SCOPES)];
    const client = await connectStdio(
      { args: ['--target', 'agent', stub.url, ...token], home, key: KEY },
      () => true,
    );
    for (const { name, input, phrase, toolset } of asked) {
      const plan =
        name === 'flight_run' ? await callTool(client, 'flight_plan', { steps: [{ do: 'photo' }] }) : null;
      const given = {
        ...(plan === null ? {} : { code: plan.value['code'] }),
        ...(input.required?.includes('id') === true ? { id: 'x' } : {}),
        ...args[name],
      };
      const waits = 'wait' in input.properties ? { wait: false } : {};
      const call = { name, arguments: { ...given, ...waits, confirm: phrase ?? true } };
      // Flight takes no confirm, and everything else must not have one where it is not asked for.
      const result = await client
        .callTool(call)
        .then(async (first) =>
          JSON.stringify(first).includes('confirm is not known here')
            ? client.callTool({ name, arguments: { ...given, ...waits } })
            : first,
        );
      const at = `${name} ${toolset ?? ''}: ${JSON.stringify(result.content)}`;
      if (at.includes('rate_limited')) throw new Error(at);
      expect(result.isError ?? false, at).to.equal(false);
      expect(Object.keys(result.structuredContent ?? {}), at).to.have.length.above(0);
      await delay(1000 / TOOL_RATE.perSecond); // as many as are let through
    }
  });

  describe('a focus', () => {
    const cases: readonly [focus: string, fits: readonly string[], not: readonly string[]][] = [
      [
        'BATTERY',
        ['BATT_CAPACITY', 'BATT2_MONITOR', 'BAT1_V_EMPTY', 'BAT_LOW_THR'],
        ['BARO_PRIMARY', 'BRD_TYPE'],
      ],
      ['BATT', ['BATT_CAPACITY'], ['BAT1_V_EMPTY']],
      ['COMPASS', ['COMPASS_USE'], ['COM_RC_LOSS_T_X']],
      ['BAROMETER', ['BARO_PRIMARY'], ['BATT_CAPACITY']],
      ['THROTTLE', ['THR_DZ'], ['ATC_RAT_RLL_P']],
      ['FAILSAFE', ['FS_THR_ENABLE', 'COM_RC_LOSS_T'], ['RTL_ALT']],
      ['FAIL-SAFE', ['FS_THR_ENABLE'], ['RTL_ALT']],
      ['', ['RTL_ALT'], []],
    ];
    for (const [focus, fits, not] of cases)
      it(`"${focus}" is about ${fits.join(', ')}`, () => {
        expect(fits.filter((name) => !isAbout(name, focus))).to.deep.equal([]);
        expect(not.filter((name) => isAbout(name, focus))).to.deep.equal([]);
      });
  });

  it('params_optimize {focus: battery} finds BATT_…', async () => {
    const changed = ['BATT_CAPACITY', 'BATT_LOW_VOLT', 'RTL_ALT'].map((name) => ({
      name,
      value: 1,
      default: 0,
    }));
    stub.answers.set('GET /api/params', [200, { params: { BATT_CAPACITY: 1, RTL_ALT: 1 }, priming: false }]);
    stub.answers.set('GET /api/params/changed', [200, { changed, count: 3, unknown: 0, priming: false }]);
    for (const { name, value } of changed)
      stub.answers.set(`GET /api/params/${name}`, [200, { name, value, metadata: null }]);
    const { value } = await callTool(await agent(), 'params_optimize', { focus: 'battery' });
    expect(value, JSON.stringify(value)).to.have.property('params');
    expect((value['params'] as Json[]).map(({ name }) => name)).to.deep.equal([
      'BATT_CAPACITY',
      'BATT_LOW_VOLT',
    ]);
    expect(value).to.include({ differs_from_default: 2 });
  });
});
