import { once } from 'node:events';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { rawBody, rawHttp } from '../support/raw-http.ts';

/** The TCP socket below, to do with it what the library would not. */
function wire(socket: WebSocket): Socket {
  const found: unknown = Reflect.get(socket, '_socket');
  if (!(found instanceof Socket)) throw new Error('the WebSocket has no TCP socket');
  return found;
}

describe('the telemetry WebSocket', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({
      pairing: { key: KEY },
      config: 'mcp:\n  token_accept_enabled: true\n',
    });
  });
  after(async () => node.stop());

  const open = (headers: Record<string, string> = { 'x-svc-key': KEY }): WebSocket =>
    new WebSocket(`${node.url.replace('http', 'ws')}/api/telemetry/ws`, { headers });
  const message = async (socket: WebSocket): Promise<Record<string, unknown>> => {
    const [data] = (await once(socket, 'message')) as [Buffer];
    return JSON.parse(data.toString()) as Record<string, unknown>;
  };
  const closed = async (socket: WebSocket): Promise<number> => ((await once(socket, 'close')) as [number])[0];

  it('streams what GET /api/telemetry answers', async () => {
    const socket = open();
    const first = await message(socket);
    const { body } = await node.json('/api/telemetry', { headers: { 'x-svc-key': KEY } });
    expect(Object.keys(first)).to.deep.equal(Object.keys(body));
    await message(socket);
    socket.close();
    await closed(socket);
  });

  it('F1 is refused without a key, by a plain 401', async () => {
    const socket = open({});
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).to.include('401');
  });

  it('answers a malformed handshake in JSON', async () => {
    const answer = await rawHttp(
      node.port,
      `GET /api/telemetry/ws HTTP/1.1\r\nHost: localhost\r\nX-SVC-Key: ${KEY}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(answer.status).to.equal(400);
    expect(rawBody(answer)).to.include({ code: 'E_BAD_REQUEST' });
  });

  it('closes with 4401 within a second when its session or the one behind its ticket dies', async () => {
    const key = { 'x-svc-key': KEY };
    await node.post('/api/dashboard/pin/set', { pin: '1357' }, key);
    const { body } = await node.post('/api/dashboard/pin/verify', { pin: '1357' });
    const session = { 'x-svc-dashboard-session': String(body['session']) };
    const ticket = await node.post('/api/_ws/ticket', { scope: 'telemetry' }, session);
    const bySession = open(session);
    const byTicket = new WebSocket(`${node.url.replace('http', 'ws')}/api/telemetry/ws`, [
      'svc-ws-ticket',
      String(ticket.body['ticket']),
    ]);
    const byKey = open();
    await Promise.all([message(bySession), message(byTicket), message(byKey)]);
    expect(byTicket.protocol).to.equal('svc-ws-ticket');
    const gone = Promise.all([closed(bySession), closed(byTicket)]);
    const at = performance.now();
    await node.post('/api/dashboard/pin/set', { pin: '2468' }, key);
    expect(await gone).to.deep.equal([4401, 4401]);
    expect(performance.now() - at).to.be.lessThan(10_000); // a second, and the scrypt of the new PIN
    await message(byKey); // the key's own socket goes on
    byKey.terminate();
  });

  it('closes with 4401 within a second when its token is revoked', async () => {
    const key = { 'x-svc-key': KEY };
    const { body } = await node.post('/api/mcp/tokens', { scopes: ['read'] }, key);
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/telemetry/ws`, {
      headers: { 'x-svc-mcp-token': String(body['token']) },
    });
    await message(socket);
    const gone = closed(socket);
    const at = performance.now();
    await node.post('/api/mcp/revoke', { token_id: body['token_id'] }, key);
    expect(await gone).to.equal(4401);
    expect(performance.now() - at).to.be.lessThan(10_000);
  });

  it('F9 a message, a huge frame and a frame that is not masked end it, and the node lives', async () => {
    const talker = open();
    await message(talker);
    talker.send('hello');
    expect(await closed(talker)).to.equal(1008);
    const huge = open();
    await message(huge);
    huge.send(Buffer.alloc(100_000));
    expect(await closed(huge)).to.equal(1009);
    const rude = open();
    await message(rude);
    wire(rude).write(Buffer.from([0x81, 0x01, 0x61]));
    expect(await closed(rude)).to.be.oneOf([1002, 1006]);
    expect((await node.fetch('/healthz')).status).to.equal(200);
  });

  it('closes with 1001 when the front stops', async () => {
    const socket = open();
    await message(socket);
    const gone = closed(socket);
    const { pid: old } = node.service('svc-control');
    process.kill(node.pid('svc-control'), 'SIGTERM');
    expect(await gone).to.equal(1001);
    await node.until((services) =>
      services.some(({ name, pid, state }) => name === 'svc-control' && state === 'running' && pid !== old),
    );
  });

  it('a reader that does not read loses frames, not the node', async () => {
    const socket = open();
    await message(socket);
    wire(socket).pause();
    for (let i = 0; i < 20; i++) expect((await node.fetch('/healthz')).status).to.equal(200);
    socket.terminate();
  });

  // The last: nobody has the key any more.
  it('closes with 4401 within a second when the pairing dies', async () => {
    const socket = open();
    await message(socket);
    const gone = closed(socket);
    const at = performance.now();
    const answer = await node.post('/api/pairing/unpair', { force: true }, { 'x-svc-key': KEY });
    expect(answer.status).to.equal(200);
    expect(await gone).to.equal(4401);
    expect(performance.now() - at).to.be.lessThan(10_000);
  });
});
