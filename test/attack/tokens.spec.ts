import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { SCOPES, type Scope } from '../../shared/auth/scopes.ts';
import { deriveTokenKey, signToken, type TokenClaims } from '../../shared/auth/token.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const withKey = { 'x-svc-key': KEY };
const withToken = (token: string) => ({ 'x-svc-mcp-token': token });
// Takes away the trust that a process of this machine has, and nothing else.
const via = { via: '1.1 proxy' };

interface Minted {
  readonly token: string;
  readonly token_id: string;
  readonly expires_at: number;
}

describe('scoped tokens over a real socket', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
  });
  after(async () => node.stop());

  const mint = async (...scopes: Scope[]): Promise<Minted> => {
    const { status, body } = await node.post('/api/mcp/tokens', { label: 'test', scopes }, withKey);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as unknown as Minted;
  };
  const read = async (token: string, more: Record<string, string> = {}) =>
    (await node.fetch('/api/status', { headers: { ...withToken(token), ...more } })).status;
  const posture = async (word: 'enable' | 'disable', ...flags: string[]) => {
    const { code, stderr } = await svc(node.paths, 'mcp', word, ...flags);
    expect(code, stderr).to.equal(0);
  };

  it('C10 off: 401, on: 200, and the link is not touched; --no-restart: not yet', async () => {
    const { token } = await mint('read');
    // A store that is broken would be noticed by whoever opened it.
    const good = await readFile(node.paths.mcpToken, 'utf8');
    expect(await read(token)).to.equal(401);
    const link = node.pid('svc-link');
    await posture('enable', '--no-restart');
    expect(await read(token)).to.equal(401);
    await posture('enable');
    expect(await read(token)).to.equal(200);
    expect(node.pid('svc-link')).to.equal(link);
    await posture('disable');
    expect(await read(token)).to.equal(401);
    await posture('enable');
    expect(await read(token)).to.equal(200);
    expect(await readFile(node.paths.mcpToken, 'utf8'), 'a request writes nothing').to.equal(good);
  });

  it('only as one header of its own', async () => {
    const { token } = await mint('read');
    expect(await read(`${token},${token}`)).to.equal(401);
    expect((await node.fetch(`/api/status?x-svc-mcp-token=${token}`)).status).to.equal(401);
    for (const name of ['x-svc-key', 'x-svc-dashboard-session', 'cookie'])
      expect((await node.fetch('/api/status', { headers: { [name]: token } })).status, name).to.equal(401);
    expect(
      (await node.fetch('/api/status', { headers: { authorization: `Bearer ${token}` } })).status,
    ).to.equal(401);
  });

  it('D5 D6 each class opens its own rows; the refusal names what is required and granted', async () => {
    const { token } = await mint('admin');
    const { status, body } = await node.json('/api/status', { headers: withToken(token) });
    expect(status).to.equal(403);
    expect(body).to.deep.include({ code: 'E_SCOPE', required: 'read', granted: ['admin'] });
    const everythingButFlight = SCOPES.filter((scope) => scope !== 'flight' && scope !== 'destructive');
    const broad = await mint(...everythingButFlight);
    const command = await node.post('/api/command', { cmd: 'land' }, withToken(broad.token));
    expect(command.status).to.equal(403);
    expect(command.body).to.deep.include({
      code: 'E_SCOPE',
      required: 'flight',
      granted: everythingButFlight,
    });
    const kill = await node.post(
      '/api/command',
      { cmd: 'killSwitch', args: ['KILL'] },
      withToken((await mint('flight')).token),
    );
    expect(kill.body).to.deep.include({
      code: 'E_SCOPE',
      required: 'destructive',
      missing: ['destructive'],
      granted: ['flight'],
    });
  });

  it('a token mints nothing, whatever it holds; a session neither', async () => {
    const { token } = await mint(...SCOPES);
    const body = { scopes: ['read'] };
    const asToken = await node.post('/api/mcp/tokens', body, { ...withToken(token), ...via });
    expect(asToken.status).to.equal(403);
    expect(asToken.body).to.include({ code: 'E_SCOPE' });
    await node.post('/api/dashboard/pin/set', { pin: '493817' }, withKey);
    const { body: opened } = await node.post('/api/dashboard/pin/verify', { pin: '493817' });
    const session = { 'x-svc-dashboard-session': String(opened['session']) };
    expect((await node.post('/api/mcp/tokens', body, { ...session, ...via })).status).to.equal(403);
    expect((await node.post('/api/mcp/tokens', body, via)).status, 'nobody').to.equal(401);
  });

  it('D8 a revoked one is 401 on the next request, others stay; revoking needs admin', async () => {
    const [one, two, admin] = [await mint('read'), await mint('read'), await mint('admin')];
    expect(await read(one.token)).to.equal(200);
    const body = { token_id: one.token_id };
    const refused = await node.post('/api/mcp/revoke', body, { ...withToken(two.token), ...via });
    expect(refused.body).to.include({ code: 'E_SCOPE', required: 'admin' });
    const done = await node.post('/api/mcp/revoke', body, { ...withToken(admin.token), ...via });
    expect(done).to.deep.equal({ status: 200, body: { all: false, revoked: [one.token_id] } });
    expect(await read(one.token)).to.equal(401);
    expect(await read(two.token)).to.equal(200);
    expect((await node.post('/api/mcp/revoke', body, withKey)).status, 'twice').to.equal(200);
    const unknown = await node.post('/api/mcp/revoke', { token_id: 'mct_none' }, withKey);
    expect(unknown.body).to.include({ code: 'E_NOT_FOUND' });
    for (const wrong of [{}, { token_id: one.token_id, all: true }, { all: false }])
      expect((await node.post('/api/mcp/revoke', wrong, withKey)).status).to.equal(422);
  });

  it('D9 all revoked: every earlier one is 401 at once, a later one holds', async () => {
    const old = [await mint('read'), await mint('read', 'admin')];
    expect((await node.post('/api/mcp/revoke', { all: true }, withKey)).body).to.deep.include({ all: true });
    for (const { token } of old) expect(await read(token)).to.equal(401);
    const { body } = await node.json('/api/mcp/status', { headers: withKey });
    for (const { revoked } of body['tokens'] as { revoked: boolean }[]) expect(revoked).to.equal(true);
    expect(await read((await mint('read')).token)).to.equal(200);
  });

  it("D2 D3 another node's, an expired one, one of an unknown scope: 401, though rightly signed", async () => {
    const { token } = await mint('read');
    const { salt } = JSON.parse(await readFile(node.paths.mcpToken, 'utf8')) as { salt: string };
    const key = deriveTokenKey(KEY, Buffer.from(salt, 'hex'));
    const claims = JSON.parse(
      Buffer.from(token.slice(0, token.lastIndexOf('.')), 'base64url').toString(),
    ) as TokenClaims;
    const resign = async (change: object) => read(signToken(key, { ...claims, ...change }));
    expect(await resign({})).to.equal(200);
    for (const change of [
      { iss: 'agent:0000000000000000' },
      { expiresAt: Date.now() - 1 },
      { scopes: ['read', 'everything'] },
      { scopes: [] },
    ])
      expect(await resign(change), JSON.stringify(change)).to.equal(401);
    expect(await resign({ allowedNodes: ['elsewhere'] }), 'advice only').to.equal(200);
  });

  it('relay-forbidden: neither mint nor revoke through a ground station, even with the key', async () => {
    const relayed = { ...withKey, 'x-svc-relayed': '1' };
    for (const [path, body] of [
      ['/api/mcp/tokens', { scopes: ['read'] }],
      ['/api/mcp/revoke', { all: true }],
    ] as const)
      expect((await node.post(path, body, relayed)).body).to.include({ code: 'E_RELAY_FORBIDDEN' });
  });

  it("D17 a foreign page in this machine's browser mints nothing", async () => {
    const before = await readFile(node.paths.mcpToken, 'utf8');
    const page = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' };
    const answer = await node.post('/api/mcp/tokens', { scopes: ['read'] }, page);
    expect(answer.status).to.equal(403);
    expect(await readFile(node.paths.mcpToken, 'utf8')).to.equal(before);
  });

  it('C11 the posture is not changed over the API, by nobody', async () => {
    const { token } = await mint(...SCOPES);
    for (const headers of [withKey, withToken(token)])
      for (const value of ['TRUE', '1', ' true', 'true', 'false', true, false]) {
        const { status } = await node.json('/api/config', {
          method: 'PUT',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ key: 'mcp.token_accept_enabled', value }),
        });
        expect(status, String(value)).to.be.oneOf([403, 422]);
      }
    expect((await node.json('/api/mcp/status', { headers: withKey })).body['accept_enabled']).to.equal(true);
  });

  it('mint: what does not fit is 422', async () => {
    for (const body of [
      {},
      { scopes: [] },
      { scopes: ['root'] },
      { scopes: ['secret_read'] },
      { scopes: ['read'], ttl_ms: -1 },
    ])
      expect((await node.post('/api/mcp/tokens', body, withKey)).body, JSON.stringify(body)).to.include({
        code: 'E_INVALID_VALUE',
      });
  });

  it('the key alone never opens the store: a request that is let in does not read it', async () => {
    const { token } = await mint('read');
    const good = await readFile(node.paths.mcpToken, 'utf8');
    await writeFile(node.paths.mcpToken, 'torn');
    try {
      expect(await read(token, withKey)).to.equal(200);
      expect(await read(token)).to.equal(401);
      const { body } = await node.json('/api/mcp/status', { headers: withKey });
      expect(body['problem']).to.be.a('string');
      const refused = await node.post('/api/mcp/tokens', { scopes: ['read'] }, withKey);
      expect(refused.body).to.include({ code: 'E_STORE' });
      expect(await readFile(node.paths.mcpToken, 'utf8')).to.equal('torn');
    } finally {
      await writeFile(node.paths.mcpToken, good);
    }
    expect(await read(token)).to.equal(200);
    await rm(node.paths.mcpToken);
    expect(await read(token), 'removed').to.equal(401);
  });

  it('C4 unpairing ends every token, also after the next claim', async () => {
    const { token } = await mint('read');
    expect(await read(token)).to.equal(200);
    expect((await node.post('/api/pairing/unpair', { force: true }, withKey)).status).to.equal(200);
    const refused = await node.post('/api/mcp/tokens', { scopes: ['read'] });
    expect(refused.body).to.include({ code: 'E_NOT_PAIRED' });
    expect((await node.post('/api/pairing/claim', { user_id: 'alice' })).status).to.equal(200);
    expect(await read(token)).to.equal(401);
    expect(existsSync(node.paths.mcpToken)).to.equal(true);
  });
});
