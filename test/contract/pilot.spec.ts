import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { clientOf } from '../../shared/rpc/contract.ts';
import { openFeed } from '../../shared/rpc/feed.ts';
import { LINK } from '../../shared/rpc/link.ts';
import { commandLong } from '../link/ground-station.ts';
import { encodeAs } from '../link/mavlink-samples.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const PIC = '/api/v1/ground-station/pic';
const PIN = '7531';

/** MAV_CMD_COMPONENT_ARM_DISARM with 1, and MAV_CMD_NAV_LAND. */
const [ARM, LAND] = [commandLong(400, 1), commandLong(21)].map((message) =>
  encodeAs(message, 'v2', 0, 255, 190),
);

interface Event {
  readonly event: string;
  readonly client_id: string | null;
  readonly claimed_by: string | null;
}

describe('the pilot in command of a ground station', () => {
  let node: TestNode;
  let session: string;
  let events: Event[];
  let socket: WebSocket;

  before(async () => {
    node = await TestNode.start({
      pairing: { key: KEY },
      config: 'agent:\n  profile: ground-station\nmcp:\n  token_accept_enabled: true\n',
    });
    await post('/api/dashboard/pin/set', { pin: PIN });
    session = String((await node.post('/api/dashboard/pin/verify', { pin: PIN })).body['session']);
  });
  after(async () => node.stop());
  beforeEach(async () => {
    events = [];
    socket = new WebSocket(`ws://127.0.0.1:${node.port}${PIC}/events`, { headers: withKey });
    socket.on('message', (data: Buffer) => events.push(JSON.parse(data.toString()) as Event));
    await once(socket, 'message');
  });
  afterEach(async () => {
    socket.terminate();
    const { body } = await node.json(PIC, { headers: withKey });
    if (body['claimed_by'] === null) return;
    await post(`${PIC}/claim`, { client_id: 'cleaner', take_over: true });
    await post(`${PIC}/release`, { client_id: 'cleaner' });
  });

  const withKey = { 'x-svc-key': KEY };
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) =>
    node.post(path, body, { ...withKey, ...headers });
  const heard = async (name: string): Promise<Event> => {
    for (;;) {
      const found = events.find(({ event }) => event === name);
      if (found !== undefined) return found;
      await once(socket, 'message');
    }
  };
  const command = async (cmd: string, clientId?: string, args: unknown[] = []) =>
    post('/api/command', { cmd, args }, clientId === undefined ? {} : { 'x-svc-client-id': clientId });

  it('is nobody at first; a claim, its heartbeats and its release are told', async () => {
    expect((await node.json(PIC, { headers: withKey })).body).to.deep.equal({
      claimed_by: null,
      by: null,
      claimed_at: null,
      last_heartbeat_at: null,
    });
    const { status, body } = await post(`${PIC}/claim`, { client_id: 'tablet' });
    expect([status, body['claimed_by'], body['by']]).to.deep.equal([200, 'tablet', 'key']);
    expect(await heard('claimed')).to.include({ client_id: 'tablet', claimed_by: 'tablet' });
    const beat = await post(`${PIC}/heartbeat`, { client_id: 'tablet', secret: body['secret'] });
    expect(beat.status).to.equal(200);
    expect(beat.body).to.not.have.property('secret');
    const wrong = await post(`${PIC}/heartbeat`, { client_id: 'tablet', secret: 'x' });
    expect([wrong.status, wrong.body['code']]).to.deep.equal([409, 'E_NOT_PIC']);
    const other = await post(`${PIC}/release`, { client_id: 'phone' });
    expect([other.status, other.body['code']]).to.deep.equal([409, 'E_NOT_PIC']);
    expect((await post(`${PIC}/release`, { client_id: 'tablet' })).body['claimed_by']).to.equal(null);
    expect(await heard('released')).to.include({ client_id: 'tablet', claimed_by: null });
  });
  it('is held by one; another one takes it over by its name only', async () => {
    await post(`${PIC}/claim`, { client_id: 'tablet' });
    const held = await post(`${PIC}/claim`, { client_id: 'phone' });
    expect([held.status, held.body['code'], held.body['claimed_by']]).to.deep.equal([
      409,
      'E_PIC_HELD',
      'tablet',
    ]);
    const forced = await post(`${PIC}/claim`, { client_id: 'phone', force: true });
    expect(forced.status).to.equal(422); // `force` overrides the armed guard and nothing else
    expect((await post(`${PIC}/claim`, { client_id: 'phone', take_over: true })).body['claimed_by']).to.equal(
      'phone',
    );
    expect(await heard('taken_over')).to.include({ claimed_by: 'phone' });
  });
  it('alone gives flight commands; disarm, land, return and stop are everybody’s', async () => {
    await post(`${PIC}/claim`, { client_id: 'tablet' });
    for (const clientId of [undefined, 'phone']) {
      const refused = await command('arm', clientId);
      expect([refused.status, refused.body['code'], refused.body['claimed_by']]).to.deep.equal([
        409,
        'E_NOT_PIC',
        'tablet',
      ]);
      const written = await node.json('/api/mission', {
        method: 'PUT',
        headers: { ...withKey, 'content-type': 'application/json' },
        body: '{"items":[]}',
      });
      expect(written.body['code']).to.equal('E_NOT_PIC');
      for (const cmd of ['land', 'rtl', 'stop', 'disarm'])
        expect((await command(cmd, clientId)).status, cmd).to.equal(200);
    }
    expect((await command('mode', 'tablet', ['GUIDED'])).body['status']).to.equal('accepted');
    expect((await node.json('/api/telemetry', { headers: withKey })).status).to.equal(200);
  });
  it('lapses after 5 s without a heartbeat, and everybody may fly again', async function () {
    this.timeout(60_000);
    await post(`${PIC}/claim`, { client_id: 'tablet' });
    const at = performance.now();
    await heard('lapsed');
    expect(performance.now() - at).to.be.within(4000, 20_000);
    expect((await command('mode', 'phone', ['GUIDED'])).body['status']).to.equal('accepted');
  });
  it('ends with the credential that claimed it', async () => {
    const minted = await post('/api/mcp/tokens', { scopes: ['read', 'flight'] });
    const token = { 'x-svc-mcp-token': String(minted.body['token']) };
    const claim = await node.post(`${PIC}/claim`, { client_id: 'agent' }, token);
    expect(claim.body['by']).to.equal('token');
    await post('/api/mcp/revoke', { token_id: minted.body['token_id'] });
    expect(await heard('ended')).to.include({ client_id: 'agent', claimed_by: null });
    const signedIn = await node.post(
      `${PIC}/claim`,
      { client_id: 'page' },
      { 'x-svc-dashboard-session': session },
    );
    expect(signedIn.body['by']).to.equal('session');
  });
  it('counts on a MAVLink WebSocket, and on an endpoint that names its client', async () => {
    await post(`${PIC}/claim`, { client_id: 'tablet' });
    const link = clientOf(LINK, { path: node.paths.linkSocket });
    await link.connectOnce();
    const refused = async (clientId: string | null | undefined): Promise<number> => {
      const feed = openFeed({
        path: node.paths.mavlinkSocket,
        hello: {
          name: String(clientId),
          write: true,
          force: false,
          msgs: 'STATUSTEXT',
          ...(clientId === undefined ? {} : { client_id: clientId }),
        },
        onFrame: () => undefined,
        onRefused: () => undefined,
        onEnd: () => undefined,
      });
      feed.write(ARM ?? Buffer.alloc(0));
      feed.write(LAND ?? Buffer.alloc(0));
      for (;;) {
        const peer = (await link.calls.endpoints({}))
          .flatMap(({ peers }) => peers)
          .find(({ name, rx_frames: frames }) => name === String(clientId) && frames >= 2);
        if (peer === undefined) continue;
        feed.end();
        return peer.rx_refused;
      }
    };
    expect(await refused('phone')).to.equal(1);
    expect(await refused(null)).to.equal(1);
    expect(await refused('tablet')).to.equal(0);
    expect(await refused(undefined)).to.equal(0);
    link.stop();
  });
});
