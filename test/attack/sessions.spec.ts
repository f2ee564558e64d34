import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';

const PIN = '493817';
const withKey = { 'x-svc-key': KEY };
const session = (value: string) => ({ 'x-svc-dashboard-session': value });

/** The status of the answer to an upgrade; 101 with the subprotocol that was chosen. */
async function upgrade(
  url: string,
  protocols: readonly string[],
  headers: Record<string, string> = {},
): Promise<{ status: number; protocol: string; headers: string }> {
  const socket = new WebSocket(url.replace('http', 'ws'), [...protocols], {
    headers,
    handshakeTimeout: 5000,
  });
  let answer = '';
  socket.on('upgrade', (response) => {
    answer = response.rawHeaders.join('\n');
  });
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      const { protocol } = socket;
      socket.terminate();
      resolve({ status: 101, protocol, headers: answer });
    });
    socket.once('unexpected-response', (request, response: IncomingMessage) => {
      request.destroy();
      resolve({ status: response.statusCode ?? 0, protocol: '', headers: response.rawHeaders.join('\n') });
    });
    socket.on('error', reject);
  });
}

describe('dashboard sessions over a real socket', () => {
  let node: TestNode;
  let pairing: string;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    pairing = await readFile(node.paths.pairing, 'utf8');
  });
  // As it was before: with the same key, without a PIN, and so without sessions.
  afterEach(async () => {
    if ((await readFile(node.paths.pairing, 'utf8')) !== pairing)
      await writeAtomic(node.paths.pairing, pairing, 0o600);
    await askAgain(
      'the PIN is cleared',
      async () => (await node.post('/api/dashboard/pin/clear', {}, withKey)).status,
      (status) => status === 200,
    );
  });
  after(async () => node.stop());

  const setPin = async (pin: string, headers: Record<string, string> = withKey, more: object = {}) =>
    node.post('/api/dashboard/pin/set', { pin, ...more }, headers);
  const verify = async (pin: string) => node.post('/api/dashboard/pin/verify', { pin });
  const signIn = async (pin = PIN) => {
    const { status, body } = await verify(pin);
    expect(status).to.equal(200);
    return String(body['session']);
  };
  const read = async (headers: Record<string, string>) =>
    (await node.fetch('/api/status', { headers })).status;

  it('a session opens key rows, not key-only ones, and only as a header', async () => {
    expect((await setPin(PIN)).status).to.equal(200);
    const { body } = await verify(PIN);
    expect(body).to.have.all.keys('session', 'expires_at', 'ttl_seconds');
    const value = String(body['session']);
    expect(await read({})).to.equal(401);
    expect(await read(session(value))).to.equal(200);
    expect((await node.post('/api/dashboard/pin/clear', {}, session(value))).status).to.equal(403);
    expect((await node.post('/api/pairing/claim', { user_id: 'x' }, session(value))).status).to.equal(409);
    for (const query of [`session=${value}`, `x-svc-dashboard-session=${value}`])
      expect((await node.fetch(`/api/status?${query}`)).status, query).to.equal(401);
    for (const bad of [`${value},${value}`, `${value}x`, value.slice(1), 'x', value.toUpperCase()])
      expect(await read(session(bad)), bad).to.equal(401);
    expect(await read({ cookie: `x-svc-dashboard-session=${value}` })).to.equal(401);
    expect(await read({ authorization: `Bearer ${value}` })).to.equal(401);
  });

  it('C7 a session that the client chose is never taken over', async () => {
    await setPin(PIN);
    const chosen = 'A'.repeat(43);
    const answer = await node.post('/api/dashboard/pin/verify', { pin: PIN }, session(chosen));
    expect(answer.body['session']).to.not.equal(chosen);
    expect(await read(session(chosen))).to.equal(401);
  });

  it('C7 a change of the PIN, clearing it and unpairing end every session', async () => {
    await setPin(PIN);
    const first = await signIn();
    expect((await setPin('8888', session(first))).status, 'a session may change it').to.equal(200);
    expect(await read(session(first))).to.equal(401);
    expect((await verify(PIN)).status).to.equal(401);
    const second = await signIn('8888');
    expect((await node.post('/api/dashboard/pin/clear', {}, withKey)).body).to.deep.equal({ pin_set: false });
    expect(await read(session(second))).to.equal(401);
    await setPin(PIN);
    const third = await signIn();
    const unpair = await node.post('/api/pairing/unpair', { force: true }, withKey);
    expect(unpair.status).to.equal(200);
    const claim = await node.post('/api/pairing/claim', { user_id: 'alice' });
    expect(claim.status).to.equal(200);
    expect(await read(session(third))).to.equal(401);
  });

  it('a session outlives svc-control; one that was ended stays ended', async () => {
    await setPin(PIN);
    const old = await signIn();
    await setPin('8888');
    const value = await signIn('8888');
    await node.killAndAwaitSuccessor('svc-control');
    expect(await read(session(value))).to.equal(200);
    expect(await read(session(old))).to.equal(401);
  });

  it('sessions are listed without their secrets, and ended one by one with all that they opened', async () => {
    await setPin(PIN);
    const [mine, other] = [await signIn(), await signIn()];
    const list = async (headers: Record<string, string>) => {
      const { status, body } = await node.json('/api/dashboard/sessions', { headers });
      expect(status).to.equal(200);
      return body['sessions'] as Record<string, unknown>[];
    };
    const before = await list(session(mine));
    // The one that setting the PIN opened was never used.
    expect(
      before.map(({ last_seen_at: seen, peer, current }) => [seen !== null, peer, current]),
    ).to.deep.equal([
      [false, null, false],
      [true, '127.0.0.1', true],
      [false, null, false],
    ]);
    for (const each of before) {
      expect(each).to.have.all.keys(
        'id',
        'created_at',
        'expires_at',
        'last_seen_at',
        'peer',
        'device',
        'current',
      );
      expect(each['id']).to.match(/^[0-9a-f]{8}$/);
      expect(Number(each['expires_at']) - Number(each['created_at'])).to.equal(86_400);
    }
    expect(JSON.stringify(before)).to.not.include(mine).and.not.include(other);
    expect((await list(withKey)).some(({ current }) => current)).to.equal(false);

    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/telemetry/ws`, {
      headers: session(other),
    });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const end = async (id: unknown, headers: Record<string, string>) =>
      node.json(`/api/dashboard/sessions/${String(id)}`, { method: 'DELETE', headers });
    const { id: first } = before[0] ?? {};
    const { id: own } = before[1] ?? {};
    const { id: last } = before[2] ?? {};
    expect((await end('00000000', session(mine))).body).to.include({ code: 'E_NOT_FOUND' });
    const started = performance.now();
    expect((await end(last, session(mine))).body).to.deep.equal({ id: last, ended: true });
    expect((await closed)[0]).to.equal(4401);
    expect(performance.now() - started).to.be.below(10_000);
    expect(await read(session(other))).to.equal(401);
    expect(await read(session(mine)), 'the others stay').to.equal(200);
    expect((await end(own, session(mine))).status, 'a session signs itself out').to.equal(200);
    expect(await read(session(mine))).to.equal(401);
    expect((await end(own, withKey)).status).to.equal(404);
    await node.killAndAwaitSuccessor('svc-control');
    const after = await list(withKey);
    expect(after.map(({ id, last_seen_at: seen }) => [id, seen])).to.deep.equal([[first, null]]);
  });

  describe('by the pairing key', () => {
    const byKey = async (headers: Record<string, string> = withKey, body: object = {}) =>
      node.post('/api/dashboard/pin/verify', body, headers);
    const value = async () => String((await byKey()).body['session']);

    it('one is opened as by the PIN, with fewer rights than the key', async () => {
      const { status, body } = await byKey();
      expect(status).to.equal(200);
      expect(body).to.have.all.keys('session', 'expires_at', 'ttl_seconds');
      expect(body['ttl_seconds']).to.equal(86_400);
      const opened = session(String(body['session']));
      expect(await read(opened)).to.equal(200);
      expect((await node.post('/api/dashboard/pin/clear', {}, opened)).status).to.equal(403);
      const stranger = { via: '1.1 proxy', ...opened };
      expect((await node.post('/api/mcp/tokens', { scopes: ['read'] }, stranger)).status).to.equal(403);
      expect((await byKey(opened)).body, 'a session opens no other').to.include({ code: 'E_INVALID_VALUE' });
    });

    it('a change of the PIN, clearing it and unpairing end it; the next key brings it not back', async () => {
      for (const end of [
        async () => setPin(PIN),
        async () => setPin('8888'),
        async () => node.post('/api/dashboard/pin/clear', {}, withKey),
        async () => node.post('/api/pairing/unpair', { force: true }, withKey),
      ]) {
        const opened = session(await value());
        expect(await read(opened)).to.equal(200);
        expect((await end()).status).to.equal(200);
        // While nobody is paired, this machine needs no credential.
        const asked = (await node.json('/api/pairing/info')).body['paired'] === true;
        expect(await read(opened)).to.equal(asked ? 401 : 200);
        if (!asked) {
          expect((await byKey()).status, 'no key is valid any more').to.equal(401);
          expect((await node.post('/api/pairing/claim', { user_id: 'bob' })).status).to.equal(200);
          expect(await read(opened)).to.equal(401);
        }
      }
    });

    it('a key that is replaced while the request is still coming opens nothing', async () => {
      const sent = httpRequest(`${node.url}/api/dashboard/pin/verify`, {
        method: 'POST',
        headers: { ...withKey, 'content-type': 'application/json', 'content-length': 2 },
      });
      const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
      // Its head is judged before the answer to the next request on this machine can be there.
      await new Promise<void>((resolve) => sent.write('{', () => resolve()));
      await node.json('/api/version');
      expect((await node.post('/api/pairing/unpair', { force: true }, withKey)).status).to.equal(200);
      expect((await node.post('/api/pairing/claim', { user_id: 'bob' })).status).to.equal(200);
      sent.end('}');
      const [answer] = await answered;
      answer.resume();
      expect(answer.statusCode).to.equal(401);
    });

    it('a wrong one beside the right PIN is no sign-in, and without both it is told what is missing', async () => {
      await setPin(PIN);
      expect((await byKey({ 'x-svc-key': 'svc_no' }, { pin: PIN })).status).to.equal(401);
      expect((await byKey({})).body).to.include({ code: 'E_INVALID_VALUE' });
    });

    it('the 33rd ends the oldest', async () => {
      const first = session(await value());
      for (let i = 0; i < 32; i++) await value();
      expect(await read(first)).to.equal(401);
    });

    it('what says that it was relayed opens none without the key', async () => {
      const stated = { 'x-svc-relay-caller': 'key:pairing-key:*', 'x-svc-relayed': '1' };
      expect((await byKey(stated)).body).to.include({ code: 'E_INVALID_VALUE' });
    });

    // The last to call as that stranger, who stays locked out.
    it('wrong ones count as anywhere, and lock who guesses', async () => {
      const stranger = { via: '1.1 proxy' };
      const wrong = { 'x-svc-key': `${KEY}x` };
      for (let i = 0; i < 10; i++) expect((await byKey({ ...stranger, ...wrong })).status).to.equal(401);
      expect((await byKey({ ...stranger, ...withKey })).body).to.include({ code: 'E_LOCKED' });
      expect((await byKey()).status, 'this machine itself is not locked out').to.equal(200);
    });
  });

  it("another node's session is nobody's", async () => {
    const other = await TestNode.start({ pairing: { key: KEY } });
    try {
      await setPin(PIN);
      await other.post('/api/dashboard/pin/set', { pin: PIN }, withKey);
      const value = await signIn();
      expect((await other.fetch('/api/status', { headers: session(value) })).status).to.equal(401);
    } finally {
      await other.stop();
    }
  });

  it('five wrong PINs lock, and kill -9 does not unlock', async () => {
    await setPin(PIN);
    for (const left of [4, 3, 2, 1]) {
      const { status, body } = await verify('0000');
      expect(status).to.equal(401);
      expect(body).to.include({ code: 'E_UNAUTHENTICATED', remaining_attempts: left });
    }
    const fifth = await node.fetch('/api/dashboard/pin/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pin: '0000' }),
    });
    expect(fifth.status).to.equal(429);
    expect(Number(fifth.headers.get('retry-after'))).to.equal(30);
    expect(await fifth.json()).to.include({ code: 'E_LOCKED' });
    await node.killAndAwaitSuccessor('svc-control');
    const after = await verify(PIN);
    expect(after.status).to.equal(429);
    expect(after.body).to.include({ code: 'E_LOCKED' });
    const status = await node.json('/api/dashboard/pin/status');
    expect(status.body).to.include({ pin_set: true, locked: true });
    expect(status.body['retry_after_s']).to.be.within(1, 30);
    expect((await setPin('7777')).status, 'the key is not locked out').to.equal(200);
    await signIn('7777');
  });

  it('a paired node takes no first PIN from a stranger, nor another one without the old', async () => {
    // Through some proxy, so not a process of this machine, which could set it (on-box trust).
    const stranger = { via: '1.1 proxy' };
    expect((await setPin(PIN, stranger)).status).to.equal(401);
    await setPin(PIN);
    expect((await setPin('1111', stranger)).status).to.equal(401);
    const wrong = await setPin('1111', stranger, { current_pin: '0000' });
    expect(wrong.status).to.equal(401);
    expect(wrong.body).to.include({ remaining_attempts: 4 });
    expect((await setPin('1111', stranger, { current_pin: PIN })).status).to.equal(200);
    expect((await setPin('1111', { ...withKey, 'x-svc-relayed': '1' })).body).to.include({
      code: 'E_RELAY_FORBIDDEN',
    });
  });

  it('a PIN that is none -> 422, and costs no attempt', async () => {
    await setPin(PIN);
    for (const pin of ['123', '1'.repeat(13), 'abcd', 1234, null, '12345\n']) {
      const { status, body } = await node.post('/api/dashboard/pin/verify', { pin });
      expect(status, String(pin)).to.equal(422);
      expect(body).to.include({ code: 'E_INVALID_VALUE' });
    }
    expect((await verify('0000')).body).to.include({ remaining_attempts: 4 });
  });

  describe('WebSocket tickets', () => {
    const ask = async (body: object, headers: Record<string, string> = withKey) =>
      node.post('/api/_ws/ticket', body, headers);
    const ticketFor = async (scope: string) => String((await ask({ scope })).body['ticket']);
    const url = (query = '') => `${node.url}/api/telemetry/ws${query}`;

    it('opens one socket, once, and only the protocol name comes back', async () => {
      const ticket = await ticketFor('telemetry');
      const first = await upgrade(url(), ['svc-ws-ticket', ticket]);
      expect(first).to.include({ status: 101, protocol: 'svc-ws-ticket' });
      expect(first.headers).to.not.include(ticket);
      expect((await upgrade(url(), ['svc-ws-ticket', ticket])).status).to.equal(401);
    });

    it('used by five at once it opens one', async () => {
      const ticket = await ticketFor('telemetry');
      const answers = await Promise.all(
        Array.from({ length: 5 }, async () => upgrade(url(), ['svc-ws-ticket', ticket])),
      );
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([
        101, 401, 401, 401, 401,
      ]);
    });

    it('F3 anywhere else or in any other form -> 401, and the ticket is not used up by it', async () => {
      const ticket = await ticketFor('telemetry');
      expect((await upgrade(url(`?ticket=${ticket}`), [])).status).to.equal(401);
      expect((await upgrade(url(`?svc-ws-ticket=${ticket}`), ['svc-ws-ticket'])).status).to.equal(401);
      for (const name of [
        'x-svc-ws-ticket',
        'svc-ws-ticket',
        'x-svc-dashboard-session',
        'x-svc-key',
        'authorization',
      ])
        expect((await upgrade(url(), [], { [name]: ticket })).status, name).to.equal(401);
      for (const protocols of [
        [ticket, 'svc-ws-ticket'],
        ['svc-ws-ticket', ticket, 'chat'],
        ['chat', 'svc-ws-ticket', ticket],
        ['svc-ws-ticket'],
        [ticket],
      ])
        expect((await upgrade(url(), protocols)).status, protocols.join()).to.equal(401);
      expect((await upgrade(url(), ['svc-ws-ticket', ticket])).status).to.equal(101);
    });

    it('is no credential for a request, nor for another scope', async () => {
      const ticket = await ticketFor('telemetry');
      expect(await read({ 'sec-websocket-protocol': `svc-ws-ticket, ${ticket}` })).to.equal(401);
      expect((await upgrade(url(), ['svc-ws-ticket', await ticketFor('mavlink')])).status).to.equal(401);
    });

    it('needs a credential, a known scope and a life of 1 to 120 s', async () => {
      expect((await ask({ scope: 'telemetry' }, {})).status).to.equal(401);
      for (const bad of [
        { scope: 'telemetry', ttl_seconds: 0 },
        { scope: 'telemetry', ttl_seconds: 121 },
        {},
      ])
        expect((await ask(bad)).body, JSON.stringify(bad)).to.include({ code: 'E_INVALID_VALUE' });
      expect((await ask({ scope: 'everything' })).body).to.include({ code: 'E_NOT_FOUND' });
      const { body } = await ask({ scope: 'telemetry', ttl_seconds: 5 });
      expect(body).to.include({ scope: 'telemetry', ttl_seconds: 5 });
      expect(Number(body['expires_at'])).to.be.closeTo(Date.now() / 1000 + 5, 2);
    });

    it('ends with a change of the PIN', async () => {
      await setPin(PIN);
      const value = await signIn();
      const ticket = String((await ask({ scope: 'telemetry' }, session(value))).body['ticket']);
      await setPin('8888');
      expect((await upgrade(url(), ['svc-ws-ticket', ticket])).status).to.equal(401);
    });
  });
});

describe('the PIN of an unpaired node', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start();
  });
  after(async () => node.stop());

  it('whoever the gate lets in sets the first one, and nobody a second without it (needs root and iproute2)', async function () {
    if (noNamespaces() !== null) this.skip();
    const laptop = await RemoteHost.create('10.95.0.1/24', '10.95.0.2/24');
    const stranger = await RemoteHost.create('203.0.113.1/24', '203.0.113.2/24');
    try {
      const set = async (host: RemoteHost, pin: string) =>
        host.call({
          url: `http://${host.near}:${node.port}/api/dashboard/pin/set`,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ pin }),
        });
      expect((await set(stranger, '0000')).status).to.equal(401);
      const answers = await Promise.all(['1111', '2222', '3333'].map(async (pin) => set(laptop, pin)));
      // Whichever comes first.
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 401, 401]);
      const first = answers.find(({ status }) => status === 200);
      // With the session that setting it opened, the LAN is let in; without, it is not.
      const url = `http://${laptop.near}:${node.port}/api/status`;
      const opened = String((JSON.parse(first?.body ?? '{}') as { session?: unknown }).session);
      expect((await laptop.call({ url })).status).to.equal(403);
      expect((await laptop.call({ url, headers: { 'x-svc-dashboard-session': opened } })).status).to.equal(
        200,
      );
      const own = await node.post('/api/dashboard/pin/set', { pin: '4444' });
      expect(own.status, 'this machine itself may').to.equal(200);
    } finally {
      await laptop.destroy();
      await stranger.destroy();
    }
  });
});
