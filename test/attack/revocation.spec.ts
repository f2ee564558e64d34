import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { groundHeartbeatFrame } from '../link/mavlink-samples.ts';
import type { TestNode } from '../support/node.ts';
import { KEYED, startVideoNode, TEST_CAMERA, watcher } from '../support/video-node.ts';

/** Within a second all that an ended principal had open is gone (docs/contract/edge.md#scope), and what a busy machine adds. */
const GONE_MS = 10_000;

type Headers = Readonly<Record<string, string>>;

/** What a browser offers that wants to watch. */
async function offer(): Promise<string> {
  const { peer, offer: sdp } = await watcher();
  await peer.close();
  return sdp;
}

/** A masked binary WebSocket frame (RFC 6455 5.2) with the mask of zeros. */
function binary(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x82, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** A client of the MAVLink WebSocket that answers nothing, no close frame either, and goes on sending. */
async function stubborn(node: TestNode, headers: Headers): Promise<{ socket: Socket; stop: () => void }> {
  const socket = connect(node.port, '127.0.0.1');
  socket.on('error', () => undefined); // a reset is one way to be cut off
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `GET /api/mavlink/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${lines.join('')}\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString('latin1')).to.include('101');
  socket.resume();
  const timer = setInterval(() => {
    if (socket.writable) socket.write(binary(groundHeartbeatFrame()));
  }, 5);
  return { socket, stop: () => clearInterval(timer) };
}

describe('what a principal has opened ends with it', () => {
  let node: TestNode;
  before(async () => {
    node = await startVideoNode({
      simulated: true,
      config: `${TEST_CAMERA}mcp:\n  token_accept_enabled: true\n`,
    });
  });
  after(async () => node.stop());

  const viewers = async (): Promise<number> =>
    Number((await node.json('/api/video', { headers: KEYED })).body['viewers']);
  const feeds = async (): Promise<number> => {
    const { body } = await node.json('/api/v1/diagnostics', { headers: KEYED });
    const { endpoints } = body['mavlink'] as { endpoints: { name: string; peers: unknown[] }[] };
    return endpoints.find(({ name }) => name === 'websocket')?.peers.length ?? 0;
  };

  /** Opens one of each by `headers`, lets `kill` end the principal, and expects all of it gone in time. */
  async function expectGone(
    headers: Headers,
    kill: () => Promise<unknown>,
    key: Headers | null,
  ): Promise<void> {
    const flyer = await stubborn(node, headers);
    const stream = await node.fetch('/api/logs/stream', { headers });
    expect(stream.status).to.equal(200);
    const whep = await node.fetch('/whep', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/sdp' },
      body: await offer(),
    });
    expect(whep.status).to.equal(201);
    if (key !== null) {
      expect(await viewers()).to.equal(1);
      while ((await feeds()) !== 1);
    }
    const cut = new Promise<void>((resolve) => flyer.socket.once('close', () => resolve()));
    const over = stream.text().then(
      () => undefined,
      () => undefined, // ended or broken off: either way it says nothing more
    );
    await kill();
    const at = performance.now();
    await Promise.all([cut, over]);
    expect(performance.now() - at).to.be.lessThan(GONE_MS);
    flyer.stop();
    if (key !== null) {
      while ((await viewers()) !== 0 || (await feeds()) !== 0);
      expect(performance.now() - at).to.be.lessThan(GONE_MS + 500);
    }
  }

  const mint = async () =>
    (await node.post('/api/mcp/tokens', { scopes: ['read', 'flight', 'safe_write'] }, KEYED)).body;

  it('a token that is revoked', async () => {
    const { token, token_id: id } = await mint();
    await expectGone(
      { 'x-svc-mcp-token': String(token) },
      async () => node.post('/api/mcp/revoke', { token_id: id }, KEYED),
      KEYED,
    );
  });

  it('a token that is revoked while the front was restarted in between', async () => {
    const { token, token_id: id } = await mint();
    const headers = { 'x-svc-mcp-token': String(token) };
    const whep = await node.fetch('/whep', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/sdp' },
      body: await offer(),
    });
    expect(whep.status).to.equal(201);
    await node.killAndAwaitSuccessor('svc-control');
    expect(await viewers()).to.equal(1);
    await node.post('/api/mcp/revoke', { token_id: id }, KEYED);
    const at = performance.now();
    while ((await viewers()) !== 0);
    expect(performance.now() - at).to.be.lessThan(GONE_MS);
  });

  it('a session whose PIN is changed', async () => {
    await node.post('/api/dashboard/pin/set', { pin: '1357' }, KEYED);
    const { body } = await node.post('/api/dashboard/pin/verify', { pin: '1357' });
    await expectGone(
      { 'x-svc-dashboard-session': String(body['session']) },
      async () => node.post('/api/dashboard/pin/set', { pin: '2468' }, KEYED),
      KEYED,
    );
  });

  // The last: nobody is paired any more.
  it('the key of a pairing that ends', async () => {
    await expectGone(
      KEYED,
      async () => node.post('/api/pairing/unpair', { force: true }, KEYED),
      null, // nobody is left to ask by it
    );
    expect(Number((await node.json('/api/video')).body['viewers'])).to.equal(0);
  });
});
