import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { RelayTickets, signRelayTicket } from '../../front/control/edge/relay.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const SECRET = randomBytes(32);
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('relay tickets', () => {
  const request = { method: 'GET', target: '/api/status', bodyHash: sha('') };
  const at = (now: number, secret: Buffer | null = SECRET) =>
    new RelayTickets(
      () => secret,
      () => now * 1000,
    );
  const ticket = (issued: number, nonce = 'abcdefgh') =>
    signRelayTicket(SECRET, 'gs-1', issued, nonce, request);

  it('hold for 30 s on both sides of the clock', () => {
    const valid = ticket(1000);
    for (const [now, ok] of [
      [970, true],
      [969, false],
      [1000, true],
      [1030, true],
      [1031, false],
    ] as const) {
      expect(at(now).check(valid, request) !== null, String(now)).to.equal(ok);
    }
  });
  it('are bound to method, target and body', () => {
    const tickets = at(1000);
    const valid = ticket(1000);
    expect(tickets.check(valid, request)).to.deep.equal({ kind: 'relay', id: 'relay:gs-1', scopes: null });
    for (const change of [{ method: 'POST' }, { target: '/api/status?a' }, { bodyHash: sha('x') }]) {
      expect(tickets.check(valid, { ...request, ...change })).to.equal(null);
    }
  });
  it('hold once', () => {
    const tickets = at(1000);
    const valid = ticket(1000);
    tickets.use(valid);
    expect(tickets.check(valid, request)).to.equal(null);
    expect(tickets.check(ticket(1000, 'otherone'), request)).to.not.equal(null);
  });
  it('are nothing without a bound pair, with another secret, or out of shape', () => {
    expect(at(1000, null).check(ticket(1000), request)).to.equal(null);
    expect(at(1000, randomBytes(32)).check(ticket(1000), request)).to.equal(null);
    for (const text of [
      '',
      'v1',
      'v2|gs-1|1000|abcdefgh|00',
      `${ticket(1000)}|x`,
      ticket(1000).replace('gs-1', 'gs-2'),
      ticket(1000).slice(0, -1),
    ]) {
      expect(at(1000).check(text, request), text).to.equal(null);
    }
  });
});

describe('a relayed caller of a real node', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    await writeFile(node.paths.relaySecret, SECRET.toString('hex'), { mode: 0o600 });
  });
  after(async () => node.stop());

  let count = 0;
  const relayed = async (
    method: string,
    path: string,
    body: string | null,
    forge: { path?: string; body?: string; marked?: boolean } = {},
  ) => {
    const ticket = signRelayTicket(SECRET, 'gs-1', Math.floor(Date.now() / 1000), `nonce-${++count}-xx`, {
      method,
      target: forge.path ?? path,
      bodyHash: sha(forge.body ?? body ?? ''),
    });
    const headers: Record<string, string> = {
      'x-svc-relay-ticket': ticket,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    };
    if (forge.marked !== false) headers['x-svc-relayed'] = '1';
    const send = async () =>
      (await node.fetch(path, { method, headers, ...(body === null ? {} : { body }) })).status;
    return { status: await send(), again: await send() };
  };

  it('acts as the ground station with a valid ticket, once', async () => {
    expect(await relayed('GET', '/api/status', null)).to.deep.equal({ status: 200, again: 401 });
  });
  it('may send a body that the ticket is bound to', async () => {
    expect(await relayed('POST', '/api/command', '{"cmd":"dance"}')).to.deep.equal({
      status: 400,
      again: 401,
    });
    expect(
      (await relayed('POST', '/api/command', '{"cmd":"arm"}', { body: '{"cmd":"land"}' })).status,
    ).to.equal(401);
    expect((await relayed('GET', '/api/status', null, { path: '/api/ping' })).status).to.equal(401);
  });
  it('is nobody when the ticket comes without the mark, and never gets to a forbidden route', async () => {
    expect((await relayed('GET', '/api/status', null, { marked: false })).status).to.equal(401);
    expect((await relayed('POST', '/api/pairing/unpair', '{"force":true}')).status).to.equal(403); // E5
  });
  it('a body beyond the bound is refused before anything else', async () => {
    expect((await relayed('POST', '/api/command', 'x'.repeat(70_000))).status).to.equal(413);
  });
});
