import { once } from 'node:events';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { operatorIdentity } from '../../bin/commands/operator/operator-signer.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { callTool, connectStdio } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

type Body = Readonly<Record<string, unknown>>;
const KEYED = { 'x-svc-key': KEY };

/** Hub, broker, two nodes, connector and a person, each a process of its own, as an operator starts them. */
describe('a fleet, from the code to the flight', function () {
  this.timeout(120_000);
  let home: string;
  let hub: TestHub;
  let kite: TestNode;
  let hawk: TestNode;
  let client: Client | null = null;
  let hold: Terminal | null = null;

  before(async function () {
    if (noMosquitto() !== null) this.skip();
    home = await tempDir();
    const files = operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
    await ensureOperatorKey(files);
    const operator = `alice ${(await operatorIdentity(files)).public}`;
    const start = async (name: string): Promise<TestNode> =>
      TestNode.start({
        pairing: { key: KEY },
        config: `agent:\n  name: ${name}\nfleet:\n  scopes: [read, safe_write, admin, flight, destructive]\n  operators: ['${operator}']\n`,
      });
    [hub, kite, hawk] = await Promise.all([TestHub.start(), start('kite'), start('hawk')]);
  });
  after(async () => {
    hold?.child.kill('SIGKILL');
    await client?.close();
    await Promise.all([hub?.stop(), kite?.stop(), hawk?.stop()]);
    if (home !== undefined) await removeDir(home);
  });

  async function fleetOf(node: TestNode): Promise<{ readonly enrollment: Body; readonly link: Body | null }> {
    const { body } = await node.json('/api/fleet', { headers: KEYED });
    return body as { readonly enrollment: Body; readonly link: Body | null };
  }

  async function idOf(node: TestNode): Promise<string> {
    return String((await fleetOf(node)).enrollment['node']);
  }

  /** Until the hub's list says so; a change wakes it. */
  async function listed(node: string, fits: (entry: Body) => boolean): Promise<Body> {
    return hub.streamed((_event, data) => data['id'] === node && fits(data));
  }

  async function connected(node: TestNode): Promise<void> {
    while ((await fleetOf(node)).link?.['connected'] !== true);
  }

  it('a node joins by the code that the hub prints, and is seen there', async () => {
    for (const node of [kite, hawk]) {
      const { body } = await hub.call('POST', '/v1/codes');
      const said = await svc(
        node.paths,
        'fleet',
        'enroll',
        `https://127.0.0.1:${hub.httpsPort}`,
        String(body['code']),
      );
      expect(said.code, said.stderr).to.equal(0);
      await connected(node);
    }
    const entry = await listed(await idOf(kite), ({ online, status }) => online === true && status !== null);
    expect(entry).to.include({ name: 'kite', profile: 'drone' });
    expect((entry['status'] as Body)['fc_connected']).to.be.a('boolean');
    const status = await svc(kite.paths, 'fleet', 'status');
    expect([status.code, status.stdout]).to.deep.equal([0, status.stdout]);
    expect(status.stdout).to.include('127.0.0.1');
  });

  it('an AI client reaches each by name with one credential, with the same tools as for one node', async () => {
    const body = { label: 'tester', scopes: ['read', 'safe_write', 'admin', 'flight'] };
    const { status, body: made } = await hub.call('POST', '/v1/credentials', { body });
    expect(status, JSON.stringify(made)).to.equal(201);
    client = await connectStdio({
      args: [
        '--target',
        'fleet',
        '--gcs',
        hub.url,
        '--token',
        String(made['credential']),
        '--flight-enforced',
      ],
      home,
    });
    for (const name of ['kite', 'hawk']) {
      const { value } = await callTool(client, 'status_get', { node: name });
      expect(value, JSON.stringify(value)).to.include({ fc_connected: true, fc_simulated: true });
    }
    const all = await callTool(client, 'fleet_list_nodes', { ask: true });
    expect((all.value['nodes'] as readonly Body[]).map(({ from }) => from)).to.deep.equal(['node', 'node']);
  });

  it('flies only while a person signs for it', async () => {
    if (client === null) throw new Error('no client');
    const alone = await callTool(client, 'flight_arm', { node: 'kite' });
    expect(alone.value, JSON.stringify(alone.value)).to.include({ reason: 'operator_present_stale' });
    hold = openTerminal([process.execPath, join(ROOT, 'bin/svc.js'), 'operator', 'hold'], {
      ...process.env,
      SVC_OPERATOR_DIR: join(home, 'operator'),
      NO_COLOR: '1',
    });
    await hold.until('stand by');
    const armed = await callTool(client, 'flight_arm', { node: 'kite' });
    expect(armed.value, JSON.stringify(armed.value)).to.include({ ok: true });
    await hold.until('POST /api/command');
    expect(
      await listed(await idOf(kite), ({ status }) => (status as Body | null)?.['armed'] === true),
    ).to.include({
      name: 'kite',
    });
    const { body } = await kite.json('/api/status', { headers: KEYED });
    expect(body).to.include({ armed: true });
    const { body: other } = await hawk.json('/api/status', { headers: KEYED });
    expect(other).to.include({ armed: false });
    const ended = once(hold.child, 'exit');
    hold.child.kill('SIGKILL');
    await ended;
  });

  it('a hub that dies stops nothing on the node, and has every event when it is back', async () => {
    const id = await idOf(kite);
    await hub.kill();
    const { status } = await kite.post('/api/command', { cmd: 'disarm' }, KEYED);
    expect(status).to.equal(200);
    let behind: Body | null;
    do ({ link: behind } = await fleetOf(kite));
    while (behind?.['connected'] === true || Number(behind?.['events_behind'] ?? 0) < 1);
    await hub.serve();
    await connected(kite);
    while (Number((await fleetOf(kite)).link?.['events_behind'] ?? 1) > 0);
    const { body } = await hub.call('GET', `/v1/events?node=${id}`);
    const kinds = (body['events'] as readonly Body[]).map(({ kind }) => kind);
    expect(kinds).to.include.members(['node.started', 'vehicle.armed', 'vehicle.disarmed']);
    const seqs = (body['events'] as readonly Body[]).map(({ seq }) => Number(seq));
    expect(new Set(seqs).size).to.equal(seqs.length);
  });

  it('a node that the hub removes is cut off within 5 s, and works on by itself', async () => {
    const id = await idOf(hawk);
    expect((await hub.call('DELETE', `/v1/nodes/${id}`)).status).to.be.oneOf([200, 204]);
    if (client === null) throw new Error('no client');
    const removedAt = performance.now();
    let lastHeard = removedAt;
    for (;;) {
      const asked = performance.now();
      if ((await callTool(client, 'status_get', { node: 'hawk' })).isError) break;
      lastHeard = asked;
    }
    expect(lastHeard - removedAt).to.be.below(5000);
    expect((await hawk.json('/api/status', { headers: KEYED })).body).to.include({ fc_connected: true });
  });

  it('a node leaves by itself', async () => {
    const left = await svc(kite.paths, 'fleet', 'leave');
    expect(left.code, left.stderr).to.equal(0);
    expect((await fleetOf(kite)).enrollment).to.include({ enrolled: false });
  });
});
