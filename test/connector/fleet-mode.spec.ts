import type { ChildProcess } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { operatorIdentity } from '../../bin/commands/operator/operator-signer.ts';
import { Denial } from '../../connector/denial.ts';
import { openCallerKeys } from '../../connector/planes/caller-keys.ts';
import { FleetPlane } from '../../connector/planes/fleet-plane.ts';
import { hubUrl } from '../../connector/planes/hub.ts';
import { HubSession } from '../../connector/planes/hub-session.ts';
import type { NodeRequest } from '../../connector/planes/node-client.ts';
import { askOperator } from '../../connector/planes/operator-signer.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { topics } from '../../shared/fleet/topics.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { createLogger } from '../../shared/process/logger.ts';
import type { CallStatement } from '../../shared/schemas/fleet-statements.ts';
import { Proxy } from '../fleet/rig.ts';
import { callTool, connectStdio, HttpConnector, runConnector } from '../support/connector.ts';
import { FleetHub, type FleetTestNode } from '../support/fleet-hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

const ALL: readonly Scope[] = ['read', 'safe_write', 'admin', 'flight', 'destructive'];
const STATUS: NodeRequest = { method: 'GET', path: '/api/status' };
const RENAME: NodeRequest = { method: 'PUT', path: '/api/config', body: { key: 'agent.name', value: 'x' } };
const ARM: NodeRequest = { method: 'POST', path: '/api/command', body: { cmd: 'arm', args: [] } };
const log = createLogger('test', 'error');

describe('the connector in a fleet', function () {
  this.timeout(120_000);
  let home: string;
  let hub: FleetHub;
  let node: FleetTestNode;
  let plane: FleetPlane;
  let credential: string;
  /** Added to both clocks, ms. */
  let later: number;

  before(function () {
    const reason = noMosquitto();
    if (reason === null) return;
    console.warn(`skipped: ${reason}`);
    this.skip();
  });
  beforeEach(async () => {
    home = await tempDir();
    later = 0;
    hub = await FleetHub.start(home);
    node = await hub.node('drone-1', 'Falcon');
    node.answers.set('PUT /api/config', [200, { persisted: true }]);
    node.answers.set('POST /api/command', [200, { ack: { observed: true, accepted: true } }]);
    credential = hub.credential(ALL);
    plane = await open(credential);
  });
  afterEach(async () => {
    plane.stop();
    await hub[Symbol.asyncDispose]();
    await removeDir(home);
  });

  async function open(token: string, brokerUrl: string | null = null): Promise<FleetPlane> {
    const place = { url: hub.url, ca: undefined, credential: token };
    const keys = await openCallerKeys(join(home, 'keys'), hub.url, token);
    const now = (): number => performance.now() + later;
    const wall = (): number => Date.now() + later;
    const session = await HubSession.open({ hub: place, keys, now, wall, log });
    const operator = operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
    const opened = new FleetPlane({ hub: place, session, brokerUrl, operator, now, wall, log });
    opened.start();
    await opened.listed;
    await opened.caller.whenConnected(10_000);
    return opened;
  }

  /** The answer, or the refusal. */
  async function ask(request: NodeRequest, wanted: string = node.id, on = plane): Promise<unknown> {
    const { principal } = on.session;
    return on
      .resolve(wanted, principal)
      .json(request, principal)
      .catch((error: unknown) => error);
  }
  async function refused(request: NodeRequest, wanted: string = node.id, on = plane): Promise<Denial> {
    const answer = await ask(request, wanted, on);
    if (answer instanceof Denial) return answer;
    throw new Error(`it was answered: ${JSON.stringify(answer)}`);
  }
  /** Resolves when the connector has taken in what the hub told. */
  async function changed(): Promise<void> {
    await new Promise<void>((resolve) => {
      plane.onChange = resolve;
    });
  }

  it('reaches two nodes by id and by name, and a name that two have by neither', async () => {
    const second = await hub.node('drone-2', 'Kestrel');
    await changed();
    second.answers.set('GET /api/status', [200, { name: 'second' }]);
    expect(await ask(STATUS, 'Falcon')).to.include({ name: 'Falcon' });
    expect(await ask(STATUS, 'drone-2')).to.deep.equal({ name: 'second' });
    expect(await ask(STATUS, 'Kestrel')).to.deep.equal({ name: 'second' });
    await hub.node('drone-3', 'Kestrel');
    await changed();
    const { principal } = plane.session;
    expect(() => plane.resolve('Kestrel', principal)).to.throw(/Several nodes/);
    expect(() => plane.resolve('nobody', principal)).to.throw(/no such node/);
  });

  it('nodes come and go', async () => {
    const second = await hub.node('drone-2');
    await changed();
    expect(plane.nodes.map(({ target }) => target.id)).to.deep.equal(['drone-1', 'drone-2']);
    const client = plane.resolve('drone-2', plane.session.principal);
    const gone = changed();
    await hub.remove(second);
    await gone;
    expect(plane.nodes.map(({ target }) => target.id)).to.deep.equal(['drone-1']);
    const after = await client.json(STATUS, plane.session.principal).catch((error: unknown) => error);
    expect(after).to.have.property('reason', 'node_not_allowed');
  });

  it('an offline node is said to be offline at once, and nothing was sent', async () => {
    await node.leave();
    const began = performance.now();
    for (const request of [STATUS, RENAME]) {
      const denial = await refused(request);
      expect(denial.detail).to.include({ cause: 'offline' });
      expect(denial.message).to.match(/is offline.*last heard of it \d+ s ago/);
      expect(denial.maybeDone).to.equal(false);
    }
    expect(performance.now() - began).to.be.below(10_000); // silence would be waited for far longer
  });

  it('a node that takes a call and says nothing is silent; a write may have been done', async () => {
    for (const path of ['GET /api/status', 'PUT /api/config']) node.answers.set(path, 'silent');
    const read = await refused({ ...STATUS, timeoutMs: 1 });
    expect(read.detail).to.include({ cause: 'silent' });
    expect(read.maybeDone).to.equal(false);
    const write = await refused({ ...RENAME, timeoutMs: 1 });
    expect(write.message).to.match(/is silent.*may have carried it out/);
    expect(write.maybeDone).to.equal(true);
  });

  it('a busy node is said to be busy', async () => {
    node.answers.set('GET /api/status', [429, { code: 'E_RATE_LIMITED', detail: 'Wait.' }]);
    const busy = await refused(STATUS);
    expect([busy.reason, busy.detail['said']]).to.deep.equal(['rate_limited', 'Wait.']);
    node.answers.set('GET /api/status', [503, { code: 'E_UPSTREAM_DOWN', detail: 'Down.' }]);
    const denial = await refused(STATUS);
    expect([denial.reason, denial.detail['said'], denial.detail['cause']]).to.deep.equal([
      'rest_down',
      'Down.',
      'busy',
    ]);
  });

  it('a stale nonce means that nothing ran: the call is made once more, and runs once', async () => {
    node.nonce = 7;
    expect(await ask(RENAME)).to.deep.equal({ persisted: true });
    expect(node.ran).to.deep.equal(['PUT /api/config']);
  });

  it('after a reboot of the node a read is repeated; a write is told as maybe done, and the next one runs', async () => {
    node.reboot();
    expect(await ask(STATUS)).to.include({ name: 'Falcon' });
    node.reboot();
    const denial = await refused(RENAME);
    expect(denial.maybeDone).to.equal(true);
    expect(denial.message).to.match(/restarted.*may have carried it out/);
    expect(node.ran).to.deep.equal(['GET /api/status']);
    expect(await ask(RENAME)).to.deep.equal({ persisted: true });
  });

  it('a node whose status was never seen is asked for a nonce before it is written to', async () => {
    node.told = '';
    const second = await hub.node('drone-2');
    second.answers.set('PUT /api/config', [200, { persisted: true }]);
    second.told = 'no nonce';
    plane.stop();
    plane = await open(credential);
    plane.caller.forget('drone-2');
    expect(await ask(RENAME, 'drone-2')).to.deep.equal({ persisted: true });
    expect(second.ran).to.deep.equal(['PUT /api/config']);
  });

  describe('is no answer:', () => {
    const replies: readonly [
      string,
      (reply: string, call: CallStatement, other: FleetTestNode) => string | Promise<string>,
    ][] = [
      [
        'a reply signed by another node',
        async (_reply, call, other) => other.sign(call, 200, { name: 'evil' }, node.id),
      ],
      [
        'a reply that names another node',
        async (_reply, call) => node.sign(call, 200, { name: 'evil' }, 'drone-2'),
      ],
      [
        'a reply with another body',
        (reply) => {
          const [head, , signature] = reply.split('.');
          const body = { node: node.id, jti: 'x'.repeat(24), status: 200, body: { name: 'evil' } };
          return [head, Buffer.from(JSON.stringify(body)).toString('base64url'), signature].join('.');
        },
      ],
      [
        'a reply to another call',
        async (_reply, call) => node.sign({ ...call, jti: 'A'.repeat(24) }, 200, { name: 'evil' }),
      ],
      [
        'one that is not signed',
        (_reply, call) => JSON.stringify({ node: node.id, jti: call.jti, status: 200, body: {} }),
      ],
      ['one of another type', (_reply) => 'e30.e30.e30'],
      ['an empty one', () => ''],
    ];
    for (const [what, forge] of replies)
      it(what, async () => {
        const other = await hub.node('drone-2');
        node.deliver = async (reply, deliver, call) => deliver(await forge(reply, call, other));
        expect((await refused({ ...STATUS, timeoutMs: 1 })).detail).to.include({ cause: 'silent' });
        // And the true one counts, whatever came before it.
        node.deliver = async (reply, deliver, call) => {
          deliver(await forge(reply, call, other));
          deliver(reply);
          deliver(reply);
        };
        expect(await ask(STATUS)).to.include({ name: 'Falcon' });
      });

    it('the answer of another node to its own call', async () => {
      const second = await hub.node('drone-2');
      await changed();
      // Each node's answer is published by the other one, as a broker might swap them.
      const { id: caller } = plane.session.granted;
      const { fleet } = hub.broker;
      node.deliver = (reply) => second.publish(topics.reply(fleet, caller, 'drone-2'), reply);
      second.deliver = (reply) => node.publish(topics.reply(fleet, caller, 'drone-1'), reply);
      const [first, other] = await Promise.all([
        refused({ ...STATUS, timeoutMs: 1 }),
        refused({ ...STATUS, timeoutMs: 1 }, 'drone-2'),
      ]);
      expect([first.detail['cause'], other.detail['cause']]).to.deep.equal(['silent', 'silent']);
    });
  });

  it('a revoked credential ends every call within 60 s', async () => {
    expect(await ask(STATUS)).to.include({ name: 'Falcon' });
    hub.revoke(credential);
    later += 59_000;
    await plane.session.confirm();
    later += 1000;
    const refusal = await plane.session.confirm().catch((error: unknown) => error);
    expect(refusal).to.have.property('reason', 'token_revoked');
    expect(await refused(STATUS)).to.have.property('reason', 'token_revoked');
  });

  it('and at once where the broker has cut it off', async () => {
    hub.revoke(credential);
    later += 11_000; // the hub was asked a moment ago, and is not asked at every call
    await hub.broker.deny([plane.session.granted.id]);
    await hub.broker.kill();
    await hub.broker.run();
    const began = Date.now();
    let refusal: unknown = null;
    while (refusal === null && Date.now() - began < 5000) {
      await new Promise((resolve) => setImmediate(resolve));
      refusal = await plane.session.confirm().then(
        () => null,
        (error: unknown) => error,
      );
    }
    expect(refusal).to.have.property('reason', 'token_revoked');
  });

  it('a hub that is away stops nothing until the token expires', async () => {
    await hub.away();
    later += 60_000;
    await plane.session.confirm();
    expect(await ask(STATUS)).to.include({ name: 'Falcon' });
    later += 3_600_000;
    expect(await plane.session.confirm().catch((error: unknown) => error)).to.have.property(
      'reason',
      'token_expired',
    );
  });

  it('the token is renewed at half of its life', async () => {
    const { token } = plane.session.granted;
    later += 61_000;
    await plane.session.confirm();
    expect(plane.session.granted.token).to.equal(token);
    later += 1_800_000;
    await plane.session.confirm();
    expect(hub.came.filter((came) => came.endsWith('/api/mcp/session'))).to.have.length(2);
  });

  it('a credential is bound to the key on disk, which nobody else may read, and serves one connector', async () => {
    const files = (await readdir(join(home, 'keys'))).filter((name) => name.endsWith('.json'));
    expect(files).to.have.length(1);
    for (const file of files) expect((await stat(join(home, 'keys', file))).mode & 0o777).to.equal(0o600);
    expect(await open(credential).catch((error: unknown) => error)).to.match(/Another connector/);
    const stolen = await openCallerKeys(join(home, 'elsewhere'), hub.url, credential);
    const place = { url: hub.url, ca: undefined, credential };
    const [now, wall] = [(): number => performance.now(), Date.now];
    const error = await HubSession.open({ hub: place, keys: stolen, now, wall, log }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.match(/belongs to another key/);
    stolen.release();
  });

  it('the nodes of the credential are all that it sees and reaches', async () => {
    const second = await hub.node('drone-2');
    const some = await open(hub.credential(['read'], ['drone-2']));
    expect(some.nodes.map(({ target }) => target.id)).to.deep.equal(['drone-2']);
    expect(() => some.resolve('drone-1', some.session.principal)).to.throw(/no such node/);
    const asked = {
      ...STATUS,
      method: 'GET',
      body: undefined,
      confirm: null,
      signal: undefined,
      timeoutMs: 500,
    } as const;
    const answer = await some.caller.call({ ...asked, node: 'drone-1' }).catch((error: unknown) => error);
    expect(answer).to.have.property('why', 'silent');
    expect(node.refused).to.deep.equal(['the token is not for this']);
    expect(await ask(STATUS, 'drone-2', some)).to.include({ name: 'drone-2' });
    expect(second.ran).to.deep.equal(['GET /api/status']);
    some.stop();
  });

  it('a broker that was away comes back without a call that is sent twice', async () => {
    await hub.broker.kill();
    const denial = await refused(RENAME);
    expect(denial.detail).to.include({ cause: 'broker' });
    expect(denial.maybeDone).to.equal(false);
    await hub.broker.run();
    await node.leave();
    await node.join();
    await plane.caller.whenConnected(20_000);
    expect(await ask(RENAME)).to.deep.equal({ persisted: true });
    expect(node.ran).to.deep.equal(['PUT /api/config']);
  });

  it('a call that ran before the connection broke is not said to have gone nowhere', async () => {
    const proxy = await Proxy.start(hub.broker.port);
    const other = await open(hub.credential(ALL), proxy.url);
    await ask(STATUS, node.id, other); // and the nonce is known
    node.answers.set('PUT /api/config', () => {
      proxy.stop();
      return [200, { persisted: true }];
    });
    proxy.mute(); // so that the broker's acknowledgement never comes
    const denial = await refused(RENAME, node.id, other);
    expect(denial.detail).to.include({ cause: 'broker' });
    expect(denial.maybeDone).to.equal(true);
    expect(node.ran).to.deep.equal(['GET /api/status', 'PUT /api/config']);
    other.stop();
  });

  it('goes by WebSocket where the first address is closed', async () => {
    hub.brokerUrl = 'mqtts://127.0.0.1:1';
    const other = await open(hub.credential(['read']));
    await other.caller.whenConnected(20_000);
    expect(other.caller.broker).to.equal(hub.broker.wsUrl);
    expect(await ask(STATUS, node.id, other)).to.include({ name: 'Falcon' });
    other.stop();
  });

  it('SVC_MQTT_URL wins over what the hub says, and SVC_CLOUD_URL over --gcs', async () => {
    hub.brokerUrl = 'mqtts://127.0.0.1:1';
    const other = await open(hub.credential(['read']), hub.broker.url);
    expect(await ask(STATUS, node.id, other)).to.include({ name: 'Falcon' });
    other.stop();
    expect(hubUrl('local', null)).to.equal('http://127.0.0.1:8190');
    expect(hubUrl('local', 'https://hub.example/')).to.equal('https://hub.example');
    expect(() => hubUrl('prod', null)).to.throw(/SVC_CLOUD_URL/);
    expect(hubUrl('prod', 'https://hub.example')).to.equal('https://hub.example');
    expect(() => hubUrl('http://192.168.1.9:8190', null)).to.throw(/use https/);
  });

  it('a picture comes as base64, and one that is too large is said to be', async () => {
    const { principal } = plane.session;
    const request = { method: 'GET', path: '/api/video/snapshot' };
    const look = async (): Promise<unknown> =>
      plane
        .resolve(node.id, principal)
        .bytes(request, principal)
        .catch((error: unknown) => error);
    const base64 = Buffer.from('picture').toString('base64');
    const captured_at = '2026-11-25T00:00:00.000Z';
    node.answers.set('GET /api/video/snapshot', [200, { media_type: 'image/jpeg', base64, captured_at }]);
    expect(await look()).to.have.nested.property('headers.x-captured-at', captured_at);
    node.answers.set('GET /api/video/snapshot', [200, { media_type: 'image/jpeg', base64 }]);
    expect(await look()).to.deep.include({ mediaType: 'image/jpeg', bytes: Buffer.from('picture') });
    const large = { code: 'E_TOO_LARGE', detail: 'The answer is too long.', answered: 200 };
    node.answers.set('GET /api/video/snapshot', [413, large]);
    expect(await look())
      .to.deep.include({ reason: 'not_supported' })
      .and.have.property('message')
      .that.matches(/larger than the fleet carries/);
    node.answers.set('PUT /api/config', [413, large]);
    expect(await refused(RENAME)).to.include({ reason: 'not_supported', maybeDone: true });
  });

  it('a scope that the node does not let its fleet have is no fault of the credential, and what mends it is said', async () => {
    const detail = 'This node does not let its fleet do that.';
    const told = { code: 'E_SCOPE', detail, required: 'admin', missing: ['admin'], granted: ['read'] };
    node.answers.set('PUT /api/config', [403, { ...told, capped: ['admin'], fleet_scopes: ['read'] }]);
    const denial = await refused(RENAME);
    expect(denial.reason).to.equal('scope_missing');
    expect(denial.message).to.equal(
      'The credential holds admin, but this node does not let its fleet have it. Its config key fleet.scopes lacks admin. ' +
        'On the node: svc config set fleet.scopes read,admin && svc services restart svc-control',
    );
    expect(denial.detail).to.deep.include({ capped: ['admin'], missing: ['admin'] });
    node.answers.set('PUT /api/config', [403, told]);
    expect((await refused(RENAME)).message).to.include('does not hold the scope');
    node.answers.set('PUT /api/config', [403, { code: 'E_UNPAIRED', detail: 'This node is not paired.' }]);
    expect(await refused(RENAME)).to.include({
      reason: 'precondition_failed',
      message: 'The node is not paired, so it answers no call of the fleet. Pair it.',
    });
  });

  it('flight without a person is not sent', async () => {
    const denial = await refused(ARM);
    expect(denial.reason).to.equal('operator_present_stale');
    expect(denial.message).to.include('svc operator hold');
    expect(node.ran).to.deep.equal([]);
  });

  describe('as a program', () => {
    let client: Awaited<ReturnType<typeof connectStdio>> | null = null;
    const terminals: ChildProcess[] = [];
    afterEach(async () => {
      await client?.close();
      client = null;
      for (const child of terminals.splice(0)) child.kill('SIGKILL');
    });
    const argsFor = (token: string): string[] => ['--target', 'fleet', '--gcs', hub.url, '--token', token];
    const start = async (scopes: readonly Scope[], ...more: string[]) => {
      const args = [...argsFor(hub.credential(scopes)), ...more];
      client = await connectStdio({ args, home, env: { SVC_RUN_DIR: home } }, () => true);
      return client;
    };

    /** `svc operator …` in a terminal. */
    function terminal(...words: readonly string[]): Terminal {
      const env = { ...process.env, SVC_OPERATOR_DIR: join(home, 'operator'), NO_COLOR: '1' };
      const opened = openTerminal([process.execPath, join(ROOT, 'bin/svc.js'), 'operator', ...words], env);
      terminals.push(opened.child);
      return opened;
    }
    const trust = async (): Promise<void> => {
      const files = operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
      await ensureOperatorKey(files);
      node.operators = [{ kty: 'OKP', crv: 'Ed25519', x: (await operatorIdentity(files)).public }];
      node.answers.set('GET /api/config', [200, { mavlink: { endpoints: ['tcp:127.0.0.1:5790'] } }]);
    };

    it('lists nodes with presence and age, and has one set of tools', async () => {
      const connected = await start(['read']);
      const { value } = await callTool(connected, 'fleet_list_nodes');
      const [first] = value['nodes'] as readonly Record<string, unknown>[];
      expect(first).to.include({
        id: 'drone-1',
        name: 'Falcon',
        online: true,
        from: 'hub',
        mode: 'LOITER',
      });
      expect(first?.['seen_ago_s']).to.be.within(0, 60);
      const { tools } = await connected.listTools();
      expect(tools.map(({ name }) => name)).to.include.members([
        'status_get',
        'telemetry_snapshot',
        'fleet_list_nodes',
      ]);
      const flown = [{ id: 7, node: 'drone-1', armed_s: 60 }];
      expect((await callTool(connected, 'fleet_flights')).value).to.deep.equal({ flights: flown });
      const one = await callTool(connected, 'fleet_flights', { id: 7, drone: 'drone-1' });
      expect(one.value).to.deep.equal({ flights: [{ id: 7, node: 'drone-1', findings: [] }] });
      expect((await callTool(connected, 'fleet_flights', { id: 8 })).isError).to.equal(true);
      const status = await callTool(connected, 'status_get', { node: 'Falcon' });
      expect(status.value).to.include({ name: 'Falcon' });
      expect((await callTool(connected, 'video_live_url', { node: 'Falcon' })).value).to.include({
        reason: 'not_supported',
      });
      const { resources } = await connected.listResources();
      expect(resources.map(({ uri }) => uri)).to.include('svc://drone-1/status');
      const read = await connected.readResource({ uri: 'svc://drone-1/status' });
      expect(JSON.stringify(read.contents)).to.include('Falcon');
      const ref = { type: 'ref/resource' as const, uri: 'svc://{node}/status' };
      const completed = await connected.complete({ ref, argument: { name: 'node', value: 'dr' } });
      expect(completed.completion.values).to.deep.equal(['drone-1']);
      const lines = (await readFile(join(home, 'audit/audit.ndjson'), 'utf8')).trimEnd().split('\n');
      const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(events.find(({ tool }) => tool === 'status_get')).to.include({
        node: 'drone-1',
        operatorId: 'tester',
      });
    });

    it('offers the tools of an extension of a node', async () => {
      const plugin = {
        plugin_id: 'com.example.thermal',
        status: 'running',
        permissions: { 'mcp.expose': { granted: true } },
      };
      const tool = { half: 'agent', name: 'look', class: 'read', inputSchema: { type: 'object' } };
      node.answers.set('GET /api/plugins', [200, { installs: [plugin] }]);
      node.answers.set('GET /api/plugins/com.example.thermal', [
        200,
        { manifest: { mcp: { tools: [tool] } } },
      ]);
      const invoke = 'POST /api/plugins/com.example.thermal/tools/look/invoke';
      node.answers.set(invoke, [200, { seen: 1 }]);
      const connected = await start(ALL);
      const names = async (): Promise<string[]> =>
        (await connected.listTools()).tools.map(({ name }) => name);
      const told = new Promise<void>((resolve) => {
        connected.setNotificationHandler('notifications/tools/list_changed', () => resolve());
      });
      const wanted = 'com_example_thermal__look';
      if (!(await names()).includes(wanted)) await told;
      expect(await names()).to.include(wanted);
      const { value } = await callTool(connected, wanted);
      expect(value, JSON.stringify(value)).to.deep.equal({ seen: 1 });
    });

    it('asks 200 nodes side by side in one call, and says which did not answer', async () => {
      const ids = Array.from({ length: 199 }, (_, index) => `swarm-${String(index).padStart(3, '0')}`);
      for (const id of ids) await hub.node(id);
      await hub.nodes.get('swarm-007')?.leave();
      const silent = hub.nodes.get('swarm-008');
      silent?.answers.set('GET /api/status', 'silent');
      const connected = await start(['read']);
      const began = performance.now();
      const nodes: Record<string, unknown>[] = [];
      let took = 0;
      for (let args: Record<string, unknown> | null = {}; args !== null; ) {
        const { value } = await callTool(connected, 'fleet_list_nodes', { ask: true, ...args });
        if (took === 0) took = performance.now() - began; // the rest is kept
        nodes.push(...(value['nodes'] as Record<string, unknown>[]));
        args = value['next_cursor'] === undefined ? null : { cursor: value['next_cursor'] };
      }
      expect(nodes).to.have.length(200);
      expect(nodes.filter(({ from }) => from === 'node')).to.have.length(198);
      const away = nodes.filter(({ from }) => from === 'hub');
      expect(away.map(({ id }) => id)).to.deep.equal(['swarm-007', 'swarm-008']);
      expect(away[0]?.['problem']).to.include('is offline');
      expect(away[1]?.['problem']).to.include('is silent');
      expect(away[1]).to.include({ mode: 'LOITER' });
      expect(took).to.be.below(40_000); // one after the other it would be minutes
    });

    it('a person who holds signs flight, and what would destroy is not signed by holding', async () => {
      await trust();
      const hold = terminal('hold');
      await hold.until('stand by');
      const connected = await start(ALL, '--flight-enforced');
      const armed = await callTool(connected, 'flight_arm', { node: 'drone-1' });
      expect(armed.value, JSON.stringify(armed.value)).to.include({ ok: true, accepted: true });
      await hold.until('signed  drone-1  POST /api/command {"cmd":"arm","args":[]}');
      expect(node.ran.filter((ran) => ran === 'POST /api/command')).to.have.length(1);
      const words = 'EMERGENCY STOP THIS AIRCRAFT';
      const stopped = await callTool(connected, 'flight_emergency_stop', { node: 'drone-1', confirm: words });
      expect(stopped.value).to.include({ reason: 'confirm_required' });
      // The node believes the keys that it was told, and no other.
      node.operators = [];
      const unknown = await callTool(connected, 'flight_arm', { node: 'drone-1' });
      expect(unknown.value).to.include({ reason: 'confirm_required' });
      expect(node.ran.filter((ran) => ran === 'POST /api/command')).to.have.length(1);
    });

    it('a person confirms one call that destroys: they see it, then its request', async () => {
      await trust();
      const connected = await start(ALL, '--flight-enforced');
      const args = { node: 'drone-1', confirm: 'EMERGENCY STOP THIS AIRCRAFT' };
      const code = String((await callTool(connected, 'flight_emergency_stop', args)).value['confirm_id']);
      const again = { ...args, confirm_id: code };
      const unsigned = await callTool(connected, 'flight_emergency_stop', again);
      expect(unsigned.value).to.include({ reason: 'confirm_required' });
      const person = terminal('confirm', code);
      await person.until('Shall this happen?');
      person.child.stdin?.write('y\n');
      await person.until('Let the client repeat');
      const calling = callTool(connected, 'flight_emergency_stop', again);
      await person.until('POST /api/command');
      await person.until('Sign it?');
      expect(node.ran).to.not.include('POST /api/command');
      person.child.stdin?.write('y\n');
      const done = await calling;
      expect(done.value, JSON.stringify(done.value)).to.include({ ok: true });
      expect(node.ran.filter((ran) => ran === 'POST /api/command')).to.have.length(1);
      expect((await callTool(connected, 'flight_emergency_stop', again)).value).to.include({
        reason: 'confirm_required',
      });
    });

    it('a person signs the requests of a plan at once: those, in their order, and no other', async () => {
      await trust();
      const position = { lat: 47, lon: 8, alt_rel: 10 };
      const flying = {
        mavlink_alive: true,
        armed: true,
        mode: 'LOITER',
        mav_type: 2,
        landed_state: 'in_air',
      };
      node.answers.set('GET /api/telemetry', [200, { ...flying, autopilot: 3, position }]);
      const connected = await start(ALL, '--flight-enforced');
      const steps = [{ do: 'photo' }, { do: 'photo' }, { do: 'photo' }];
      const { value } = await callTool(connected, 'flight_plan', { node: 'drone-1', steps });
      const args = { node: 'drone-1', code: value['code'] };
      const code = String((await callTool(connected, 'flight_run', args)).value['confirm_id']);
      const person = terminal('confirm', code);
      const shown = await person.until('Shall this happen?');
      expect(shown.match(/POST \/api\/command \{"cmd":"photo","args":\[\]\}/g)).to.have.length(3);
      person.child.stdin?.write('y\n');
      await person.until('Let the client repeat');
      const done = await callTool(connected, 'flight_run', { ...args, confirm_id: code });
      expect(done.value, JSON.stringify(done.value)).to.include({ ok: true, steps_done: 3 });
      expect(node.ran.filter((ran) => ran === 'POST /api/command')).to.have.length(3);
      expect(await person.until('Signed: POST')).to.not.include('Sign it?');
      // Not what comes besides.
      const files = operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
      const other = {
        node: 'drone-1',
        method: 'POST',
        path: '/api/command',
        nonce: 'abcdefgh.1',
        jti: 'abcdefghijklmnop',
        code,
      } as const;
      const body = { cmd: 'goto', args: [47, 8, 10] };
      const asked = askOperator(files, { ...other, body }, undefined).catch((error: unknown) => error);
      await person.until('Sign it?');
      person.child.stdin?.write('n\n');
      expect(String(await asked)).to.include('did not sign');
    });

    it('over HTTP the machine credential is the only one', async () => {
      const token = hub.credential(['read']);
      await using connector = await HttpConnector.start({ args: argsFor(token), home });
      const post = async (bearer: string): Promise<number> =>
        (
          await fetch(connector.url, {
            method: 'POST',
            headers: { authorization: `Bearer ${bearer}` },
            body: '{}',
          })
        ).status;
      expect(await post(hub.credential(['read']))).to.equal(401);
      expect(await post(token)).to.not.equal(401);
    });

    it('over HTTP no client is sent to sign in where no token would be accepted afterwards', async () => {
      await using connector = await HttpConnector.start({ args: argsFor(hub.credential(['read'])), home });
      const refused = await fetch(connector.url, { method: 'POST', body: '{}' });
      expect(refused.status).to.equal(401);
      expect(refused.headers.get('www-authenticate')).to.not.include('resource_metadata');
      for (const path of [
        'oauth-protected-resource',
        'oauth-protected-resource/mcp',
        'oauth-authorization-server',
      ])
        expect((await fetch(new URL(`/.well-known/${path}`, connector.url))).status, path).to.equal(404);
    });

    it('--verify says what the credential is good for', async () => {
      const { code, stdout } = await runConnector({
        args: [...argsFor(hub.credential(['read'])), '--verify'],
        home,
      });
      expect(stdout).to.match(/The hub honours the credential mc_\w+ of tester.*read on every node/);
      expect(stdout).to.include(`Connected to the broker ${hub.broker.url}`);
      expect(stdout).to.include('Connected: drone-1, version 1, vehicle connected');
      expect(code).to.equal(0);
    });

    it('--verify says which scopes of the credential a node does not take, and whose confirmation is missing', async () => {
      const fleet = { scopes: ['read', 'admin'], operators: [] };
      node.answers.set('GET /api/config', [200, { fleet }]);
      const verify = async (scopes: readonly Scope[]): Promise<string> => {
        const { code, stdout } = await runConnector({
          args: [...argsFor(hub.credential(scopes)), '--verify'],
          home,
        });
        expect(code, stdout).to.equal(0);
        return stdout;
      };
      const capped = await verify(['read', 'flight']);
      expect(capped).to.include('Connected: drone-1, version 1, vehicle connected, called Falcon');
      expect(capped).to.include(
        'Its config key fleet.scopes lacks flight. On the node: svc config set fleet.scopes',
      );
      expect(capped).to.include('svc fleet operators add NAME KEY');
      expect(await verify(['read', 'admin'])).to.not.match(/fleet\.scopes|operators/);
      fleet.scopes.push('flight');
      const alone = await verify(['read', 'flight']);
      expect(alone).to.include('Nobody there may confirm a flight').and.not.include('fleet.scopes');
    });

    it('--sim asks every node, and refuses to start while one does not say that it is simulated', async () => {
      const simulated = [200, { version: '1', fc_connected: true, fc_simulated: true }] as const;
      node.answers.set('GET /api/status', simulated);
      const connected = await start(ALL, '--sim');
      // The node wants a person all the same.
      expect((await callTool(connected, 'flight_arm')).value).to.include({
        reason: 'operator_present_stale',
      });
      const second = await hub.node('drone-2');
      const args = [...argsFor(hub.credential(ALL)), '--sim', '--transport', 'stdio'];
      const { code, stderr } = await runConnector({ args, home });
      expect([code, stderr]).to.satisfy(
        ([ended, said]: [number, string]) => ended === 1 && said.includes('drone-2 does not say'),
      );
      await second.leave();
      expect((await runConnector({ args, home })).stderr).to.include('drone-2 does not say');
    });

    const mistakes: readonly [string, () => string[], RegExp][] = [
      ['a credential that the hub does not know', () => argsFor('svc_mc_nobody'), /not honoured/],
      ['no credential', () => ['--target', 'fleet', '--gcs', hub.url], /machine credential/],
      [
        'prod without an address',
        () => ['--target', 'fleet', '--gcs', 'prod', '--token', 'svc_mc_x'],
        /SVC_CLOUD_URL/,
      ],
      ['a broker in the clear', () => [...argsFor('svc_mc_x'), '--mqtt-url', 'mqtt://10.0.0.1'], /mqtts:/],
    ];
    for (const [what, args, sentence] of mistakes)
      it(`refuses to start: ${what}`, async () => {
        const { code, stderr } = await runConnector({ args: [...args(), '--transport', 'stdio'], home });
        expect(stderr).to.match(sentence);
        expect(code).to.equal(1);
      });
  });
});
