import { globSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { KEY, verdict } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';

const PIN = '493817';
const withKey = { 'x-svc-key': KEY };
const session = (value: unknown) => ({ 'x-svc-dashboard-session': String(value) });

describe('a session moves to HTTPS by a ticket', () => {
  let node: TestNode;
  let tlsPort: number;
  let ca: string;
  before(async () => {
    tlsPort = await freePort();
    const config = 'mcp:\n  token_accept_enabled: true\n';
    node = await TestNode.start({ pairing: { key: KEY }, tlsPort, config });
    ca = await (await node.fetch('/ca.crt')).text();
  });
  beforeEach(async () => node.post('/api/dashboard/pin/set', { pin: PIN }, withKey));
  after(async () => node.stop());

  const signIn = async () => (await node.post('/api/dashboard/pin/verify', { pin: PIN })).body;
  const ask = async (headers: Record<string, string>, scope = 'handover') =>
    node.post('/api/_ws/ticket', { scope }, headers);
  const ticketFor = async (headers: Record<string, string>) => String((await ask(headers)).body['ticket']);
  const read = async (value: unknown) =>
    (await node.fetch('/api/status', { headers: session(value) })).status;
  const take = async (
    ticket: string,
  ): Promise<{ status: number; after: string | undefined; body: Record<string, unknown> }> =>
    new Promise((resolve, reject) => {
      const req = request({
        host: '127.0.0.1',
        port: tlsPort,
        ca,
        path: '/api/dashboard/handover',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      req.on('error', reject);
      req.on('response', (answer) => {
        const { statusCode: status = 0, headers } = answer;
        text(answer).then(
          (body) =>
            resolve({
              status,
              after: headers['retry-after'],
              body: JSON.parse(body) as Record<string, unknown>,
            }),
          reject,
        );
      });
      req.end(JSON.stringify({ ticket }));
    });

  it('the new one has the time that was left, the former one ends, and the ticket works once', async () => {
    const former = await signIn();
    const ticket = await ticketFor(session(former['session']));
    const moved = await take(ticket);
    expect(moved.status).to.equal(200);
    expect(moved.body).to.have.all.keys('session', 'expires_at', 'ttl_seconds');
    expect(moved.body['expires_at']).to.equal(former['expires_at']);
    expect(moved.body['ttl_seconds']).to.be.within(86_300, 86_400);
    expect(await read(moved.body['session'])).to.equal(200);
    expect(await read(former['session']), 'the former').to.equal(401);
    expect((await take(ticket)).status, 'again').to.equal(401);
    const written = globSync(join(node.paths.auditDir, '*.ndjson')).map((path) => readFileSync(path, 'utf8'));
    for (const secret of [ticket, String(moved.body['session'])])
      expect([node.stderr, ...written].join('')).to.not.include(secret);
  });

  it('a moved session ends with the PIN, as the one it came from', async () => {
    const moved = await take(await ticketFor(session((await signIn())['session'])));
    const left = await ticketFor(session(moved.body['session']));
    await node.post('/api/dashboard/pin/set', { pin: '271828' }, withKey);
    expect(await read(moved.body['session'])).to.equal(401);
    expect((await take(left)).status).to.equal(401);
  });

  it('a ticket ends with the session that asked for it', async () => {
    const { session: value } = await signIn();
    const ticket = await ticketFor(session(value));
    const { body } = await node.json('/api/dashboard/sessions', { headers: session(value) });
    const own = (body['sessions'] as { id: string; current: boolean }[]).find(({ current }) => current);
    await node.json(`/api/dashboard/sessions/${own?.id}`, { method: 'DELETE', headers: withKey });
    expect((await take(ticket)).status).to.equal(401);
  });

  it('the pairing key gets a session, which is no key', async () => {
    const { body } = await take(await ticketFor(withKey));
    expect(await read(body['session'])).to.equal(200);
    expect((await node.post('/api/dashboard/pin/clear', {}, session(body['session']))).status).to.equal(403);
  });

  it('a token gets none, whatever its scopes, nor does any other ticket move anybody', async () => {
    const scopes = ['read', 'safe_write', 'admin', 'flight', 'destructive', 'secret_read'];
    const token = String((await node.post('/api/mcp/tokens', { scopes }, withKey)).body['token']);
    const byToken = { 'x-svc-mcp-token': token };
    expect((await ask(byToken, 'telemetry')).status, 'the token itself is good').to.equal(200);
    const { status, body } = await ask(byToken);
    expect([status, body['code']]).to.deep.equal([403, 'E_SCOPE']);
    for (const scope of ['telemetry', 'mavlink']) {
      const ticket = String((await ask(withKey, scope)).body['ticket']);
      expect((await take(ticket)).status, scope).to.equal(401);
    }
    const file = await node.post('/api/_ws/ticket', { scope: 'get', path: '/api/logs/export' }, withKey);
    expect((await take(String(file.body['ticket']))).status).to.equal(401);
  });

  it('is taken from other machines by HTTPS alone, and never through a relay', () => {
    const asked = { method: 'POST', target: '/api/dashboard/handover' } as const;
    for (const from of ['lan', 'hotspot', 'usb', 'link-local', 'remote'] as const) {
      expect(verdict({ ...asked, from }), from).to.equal('E_TLS_REQUIRED');
      expect(verdict({ ...asked, from, secure: true }), from).to.equal('pass');
    }
    expect(verdict({ ...asked, from: 'loopback' })).to.equal('pass');
    expect(verdict({ ...asked, ground: 'gs-1' })).to.equal('E_RELAY_FORBIDDEN');
  });

  it('wrong tickets count as failed credentials: the tenth in a minute locks', async () => {
    let locked = await take('A'.repeat(43));
    for (let tries = 0; tries < 12 && locked.status === 401; tries++) locked = await take('A'.repeat(43));
    expect([locked.status, locked.body['code']]).to.deep.equal([429, 'E_LOCKED']);
    expect(Number(locked.after)).to.be.within(1, 30);
    expect((await take(await ticketFor(withKey))).status, 'a good one too, until then').to.equal(429);
  });
});
