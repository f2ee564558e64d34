import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { KEY } from '../support/edge.ts';
import { armable, linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

const key = { 'x-svc-key': KEY };
const SIGNING_KEY = '5a'.repeat(32);

describe('writing to the flight controller over HTTP', () => {
  let node: TestNode;

  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = key,
  ): Promise<{ status: number; body: Record<string, unknown> }> =>
    node.json(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const value = async (name: string): Promise<unknown> =>
    (await send('GET', `/api/params/${name}`)).body['value'];

  before(async () => {
    node = await TestNode.start({
      pairing: { key: KEY },
      config: 'mcp:\n  token_accept_enabled: true\n',
    });
    await linkState(node, ({ params }) => !params.priming && params.cached > 0);
  });

  after(async () => node.stop());

  it('one parameter, by POST and by PUT: what the vehicle told is the answer', async () => {
    for (const [method, speed] of [
      ['POST', 700],
      ['PUT', 800.5],
    ] as const) {
      const { status, body } = await send(method, '/api/params/WPNAV_SPEED', { value: speed });
      expect(status).to.equal(200);
      expect(body).to.include({ name: 'WPNAV_SPEED', value: speed, ack: true, cached_value: speed, type: 9 });
      expect(await value('WPNAV_SPEED')).to.equal(speed);
    }
  });

  it('J10 the identity, an unknown name, no number: refused with the reason', async () => {
    for (const [path, body, status, code] of [
      ['/api/params/SYSID_THISMAV', { value: 3 }, 409, 'E_IDENTITY'],
      ['/api/params/NO_SUCH', { value: 3 }, 404, 'E_NOT_FOUND'],
      ['/api/params/WPNAV_SPEED', { value: '3' }, 422, 'E_INVALID_VALUE'],
      ['/api/params/WPNAV_SPEED', {}, 422, 'E_INVALID_VALUE'],
      ['/api/params/WPNAV_SPEED', { value: 1e39 }, 422, 'E_INVALID_VALUE'],
    ] as const) {
      const answer = await send('POST', path, body);
      expect([answer.status, answer.body['code']], path).to.deep.equal([status, code]);
    }
    expect(await value('SYSID_THISMAV')).to.equal(1);
  });

  it('several, in order, up to the first failure, with what was done and what was not', async () => {
    const good = await send('PUT', '/api/params', { params: { RTL_ALT: 2000, WPNAV_SPEED: 900 } });
    expect(good.status).to.equal(200);
    expect(good.body).to.deep.include({ written: 2 });
    const bad = await send('PUT', '/api/params', {
      params: { RTL_ALT: 2100, NO_SUCH: 1, WPNAV_SPEED: 1000 },
    });
    expect(bad.status).to.equal(404);
    expect(bad.body).to.deep.include({ failed: 'NO_SUCH', written: 1, not_tried: ['WPNAV_SPEED'] });
    expect(await value('RTL_ALT')).to.equal(2100);
    expect(await value('WPNAV_SPEED')).to.equal(900);
  });

  it('signing: capability, counters, enrolment, disabling; what the vehicle lacks is said', async () => {
    const capability = await send('GET', '/api/mavlink/signing/capability');
    expect(capability.body).to.include({ supported: true, reason: 'ok', firmware_name: 'ArduPilot' });
    expect((await send('GET', '/api/mavlink/signing/require')).body).to.deep.equal({ require: null });
    expect((await send('PUT', '/api/mavlink/signing/require', { require: true })).status).to.equal(404);
    for (const wrong of [{ key_hex: 'xy' }, {}, { key_hex: SIGNING_KEY, link_id: 256 }])
      expect((await send('POST', '/api/mavlink/signing/enroll-fc', wrong)).status).to.equal(422);
    const another = { key_hex: SIGNING_KEY, target_system: 9 };
    expect((await send('POST', '/api/mavlink/signing/enroll-fc', another)).body).to.include({
      code: 'E_IDENTITY',
    });
    const enrolled = await send('POST', '/api/mavlink/signing/enroll-fc', {
      key_hex: SIGNING_KEY,
      link_id: 1,
    });
    expect(enrolled.status).to.equal(200);
    const { body: counters } = await send('GET', '/api/mavlink/signing/counters');
    expect(counters).to.include({ signing: true, key_id: enrolled.body['key_id'] });
    expect(counters['rx_verified_count']).to.be.greaterThan(0);
    expect((await send('POST', '/api/mavlink/signing/disable-on-fc', {})).status).to.equal(200);
    expect((await send('GET', '/api/mavlink/signing/counters')).body).to.include({
      signing: false,
      key_id: null,
    });
    expect(node.stderr).to.not.include(SIGNING_KEY);
  });

  it('the serial ports are listed', async () => {
    const { status, body } = await send('GET', '/api/mavlink/ports');
    expect(status).to.equal(200);
    expect(body['ports']).to.be.an('array');
  });

  it('telemetry over WebSocket: the asked-for members, at the asked-for rate', async () => {
    const url = `${node.url.replace('http', 'ws')}/api/telemetry/ws?rate=2&fields=armed,position,nothing`;
    const socket = new WebSocket(url, { headers: key });
    const started = performance.now();
    for (let count = 0; count < 4; count++) {
      const [text] = (await once(socket, 'message')) as [Buffer];
      const snapshot = JSON.parse(text.toString()) as Record<string, unknown>;
      expect(Object.keys(snapshot)).to.have.members(['armed', 'position']);
    }
    // Three intervals of 500 ms; unfiltered, four snapshots take less than a second.
    expect(performance.now() - started).to.be.greaterThan(1300);
    socket.terminate();
    for (const query of ['rate=11', 'rate=0', 'fields=A', 'x=1']) {
      const refused = new WebSocket(`${node.url.replace('http', 'ws')}/api/telemetry/ws?${query}`, {
        headers: key,
      });
      refused.on('error', () => undefined); // the handshake is refused
      const [, response] = (await once(refused, 'unexpected-response')) as [unknown, { statusCode: number }];
      expect(response.statusCode, query).to.equal(422);
    }
  });

  it('J6 while armed each write is 409, and goes through with the override', async () => {
    await armable(node, key);
    expect((await send('POST', '/api/command', { cmd: 'arm' })).body['status']).to.equal('accepted');
    for (const [method, path, body] of [
      ['POST', '/api/params/RTL_ALT', { value: 1000 }],
      ['PUT', '/api/params/RTL_ALT', { value: 1000 }],
      ['PUT', '/api/params', { params: { RTL_ALT: 1000 } }],
      ['POST', '/api/mavlink/signing/enroll-fc', { key_hex: SIGNING_KEY }],
      ['POST', '/api/mavlink/signing/disable-on-fc', {}],
      ['PUT', '/api/mavlink/signing/require', { require: true }],
    ] as const) {
      const answer = await send(method, path, body);
      expect([answer.status, answer.body['code']], path).to.deep.equal([409, 'E_ARMED']);
      expect(answer.body).to.deep.include({ armed: true });
    }
    for (const force of ['true', 1, false]) {
      const { status } = await send('POST', '/api/params/RTL_ALT', { value: 1000, force });
      expect(status, String(force)).to.be.oneOf([409, 422]);
    }
    const forced = await send('POST', '/api/params/RTL_ALT', { value: 1000, force: true });
    expect([forced.status, forced.body['cached_value']]).to.deep.equal([200, 1000]);
  });

  it('a motor test needs its confirmation, in exactly these words, and the scope for it', async () => {
    const order = { cmd: 'motorTest', args: [1, 5, 0.5] };
    for (const confirm of [undefined, '', 'props off', 'PROPS OFF ', 'KILL']) {
      const { status, body } = await send('POST', '/api/command', { ...order, confirm });
      expect([status, body['code']], String(confirm)).to.deep.equal([400, 'E_BAD_REQUEST']);
      expect(body['detail']).to.include('PROPS OFF');
    }
    const { token } = (await send('POST', '/api/mcp/tokens', { scopes: ['read', 'flight'] })).body;
    const asToken = { 'x-svc-mcp-token': String(token) };
    const confirmed = { ...order, confirm: 'PROPS OFF' };
    const refused = await send('POST', '/api/command', confirmed, asToken);
    expect([refused.status, refused.body['missing']]).to.deep.equal([403, ['destructive']]);
    await send('POST', '/api/command', { cmd: 'disarm' });
    await linkState(node, ({ guard }) => guard === false);
    const { status, body } = await send('POST', '/api/command', confirmed);
    expect([status, body['status']], JSON.stringify(body)).to.deep.equal([200, 'accepted']);
  });
});
