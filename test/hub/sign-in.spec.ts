import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Denied } from '../../bin/hub/stores/denied.ts';
import { SignIns } from '../../bin/hub/stores/sign-ins.ts';
import { newSigningKey, publicJwk } from '../../shared/fleet/signed.ts';
import { askAgain } from '../support/ask-again.ts';
import { failing, TestHub } from '../support/hub.ts';
import { Databases, ENGINES } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { begin, end, GROUPS, type Lies, LyingProvider, RealProvider, useProvider } from '../support/oidc.ts';

const noBroker = noMosquitto();

for (const { engine, missing } of ENGINES)
  describe(`people who sign in at a provider, ${engine}${noBroker === null ? '' : ` (${noBroker})`}${missing === null ? '' : ` (${missing})`}`, function () {
    this.timeout(60_000);
    let hub: TestHub;
    let provider: RealProvider;
    before(async function () {
      if (noBroker !== null || missing !== null) return this.skip();
      hub = await TestHub.on(engine);
      for (const id of ['north-1', 'south-1']) await hub.enroll(id);
      await hub.kill('SIGTERM');
      const people = { ada: ['fleet-admins', 'north'], bob: ['staff', 'north'], eve: ['staff'], zed: [] };
      provider = await RealProvider.start(people, [`https://localhost:${hub.httpsPort}/`]);
      await useProvider(hub, provider.issuer, { scopes: ['openid', 'profile', 'groups'] });
      await hub.serve();
    });
    after(async () => {
      await hub?.stop();
      await provider?.stop();
    });

    const signIn = async (who: string) => {
      const { url, cookie } = await begin(hub);
      return end(hub, await provider.signIn(url, who), cookie);
    };
    const credentialOf = async (who: string): Promise<string> =>
      String((await signIn(who)).body['credential']);

    it('get the rights of the first group that they have, and a credential that ends', async () => {
      expect((await hub.call('GET', '/v1/sign-in', { credential: null })).body).to.deep.equal({
        provider: { name: 'Example login', page_url: `https://localhost:${hub.httpsPort}/` },
      });
      const { status, body } = await signIn('ada');
      expect(status, JSON.stringify(body)).to.equal(201);
      expect(body).to.include({ group: 'fleet-admins' });
      expect(Number(body['expires_at']) - Date.now()).to.be.within(7.9 * 3600_000, 8 * 3600_000);
      const me = await hub.call('GET', '/v1/me', { credential: String(body['credential']) });
      expect(me.body).to.deep.include({
        kind: 'operator',
        id: body['id'],
        name: 'Name of ada',
        scopes: GROUPS[0].scopes,
        nodes: null,
        expires_at: body['expires_at'],
      });
      const bob = { credential: await credentialOf('bob') };
      expect((await hub.call('GET', '/v1/nodes/north-1', bob)).status).to.equal(200);
      expect((await hub.call('GET', '/v1/nodes/south-1', bob)).status).to.equal(404);
      expect((await hub.call('GET', '/v1/operators', bob)).status).to.equal(403);
    });

    it('get nothing without a group that has something here', async () => {
      for (const who of ['eve', 'zed']) {
        const { status, body } = await signIn(who);
        expect({ status, code: body['code'] }).to.deep.equal({ status: 403, code: 'E_SIGN_IN' });
        expect(String(body['detail'])).to.include('None of your groups');
      }
    });

    it('call nodes with a token that does not outlive them, and make nothing that stays', async () => {
      const credential = await credentialOf('ada');
      const key = publicJwk(newSigningKey());
      const token = await hub.call('POST', '/v1/me/token', { credential, body: { key } });
      expect(token.status).to.equal(200);
      expect(token.body).to.deep.include({ scopes: GROUPS[0].scopes, nodes: null });
      for (const [path, body] of [
        ['/v1/credentials', { label: 'for later', scopes: ['read'] }],
        ['/v1/operators', { name: 'myself', scopes: ['read'] }],
      ] as const)
        expect((await hub.call('POST', path, { credential, body })).body, path).to.include({
          code: 'E_SCOPE',
        });
      expect((await hub.call('POST', '/v1/codes', { credential })).status).to.equal(201);
    });

    it('are in the list, where an administrator ends them; their streams end then, and the nodes hear of it', async () => {
      const { body } = await signIn('bob');
      const [id, credential] = [String(body['id']), String(body['credential'])];
      const { body: list } = await hub.call('GET', '/v1/operators');
      const entry = (list['operators'] as readonly Readonly<Record<string, unknown>>[]).find(
        (each) => each['id'] === id,
      );
      expect(entry).to.deep.include({ name: 'Name of bob', group: 'north', expires_at: body['expires_at'] });
      const streaming = hub.streamed(() => false, credential).catch((error: Error) => error.message);
      await hub.streamed((name) => name === 'ready', credential);
      expect((await hub.call('DELETE', `/v1/operators/${id}`)).body).to.deep.equal({ ended: id });
      expect(await streaming).to.equal('the stream has ended');
      expect((await hub.call('GET', '/v1/me', { credential })).status).to.equal(401);
      const [, claims = ''] = (await hub.enroll('after-bob')).enrolled.policy.split('.');
      expect(Buffer.from(claims, 'base64url').toString()).to.include(id);
      expect((await hub.call('DELETE', `/v1/operators/${id}`)).status).to.equal(404);
    });

    it('sign out by themselves, which an operator of the hub does not', async () => {
      const credential = await credentialOf('bob');
      expect((await hub.call('DELETE', '/v1/sign-in', { credential })).status).to.equal(200);
      expect((await hub.call('GET', '/v1/me', { credential })).status).to.equal(401);
      expect((await hub.call('DELETE', '/v1/sign-in')).status).to.equal(422);
      expect((await hub.call('GET', '/v1/me')).status).to.equal(200);
    });

    it('end what was begun before a restart, at any replica, and stay signed in', async () => {
      const { url, cookie } = await begin(hub);
      const answer = await provider.signIn(url, 'bob');
      await hub.kill();
      await hub.serve();
      const { body } = await end(hub, answer, cookie);
      const credential = String(body['credential']);
      await hub.kill();
      await hub.serve();
      expect((await hub.call('GET', '/v1/me', { credential })).status).to.equal(200);
    });

    it('have lost what they had once the configuration gives their group anything else, or nothing', async () => {
      const { issuer } = provider;
      const scopes = ['openid', 'profile', 'groups'];
      const [ada, bob] = [await credentialOf('ada'), await credentialOf('bob')];
      const status = async (credential: string) => (await hub.call('GET', '/v1/me', { credential })).status;
      const [admins, north, watchers] = GROUPS;
      for (const [groups, ofAda, ofBob] of [
        [GROUPS, 200, 200],
        [[admins, { ...north, scopes: ['read'] }, watchers], 200, 401],
        [[admins, watchers], 200, 401],
        [[{ ...admins, tags: ['north'] }], 401, 401],
      ] as const) {
        await hub.kill('SIGTERM');
        await useProvider(hub, issuer, { scopes, groups });
        await hub.serve();
        expect([await status(ada), await status(bob)]).to.deep.equal([ofAda, ofBob]);
      }
      await hub.kill('SIGTERM');
      await useProvider(hub, issuer, { scopes });
      await hub.serve();
    });

    it('have at most ten sign-ins at a time: the oldest ends', async () => {
      const first = await credentialOf('ada');
      for (let more = 0; more < 10; more++) expect((await signIn('ada')).status).to.equal(201);
      expect((await hub.call('GET', '/v1/me', { credential: first })).status).to.equal(401);
    });

    it('leave no secret in the database or the audit, which names them', async () => {
      const { url, cookie, attributes } = await begin(hub);
      const answer = await provider.signIn(url, 'bob');
      const { body } = await end(hub, answer, cookie);
      expect(cookie).to.match(/^__Host-/);
      expect(attributes).to.include('HttpOnly').and.include('SameSite=Strict').and.include('Secure');
      const rows = await hub.sql('SELECT * FROM sign_ins');
      const audit = await readFile(join(hub.folder, 'audit/audit.ndjson'), 'utf8');
      expect(audit).to.include(`${String(body['id'])} bob (Name of bob) group north`);
      const words = [
        String(body['credential']).slice(-43),
        cookie.split('=')[1] ?? '-',
        new URLSearchParams(answer).get('code') ?? '-',
      ];
      for (const word of words)
        expect(`${JSON.stringify(rows)}${audit}${hub.stderr}`.includes(word)).to.equal(false);
    });

    it('are forgotten when no token of theirs counts any more', async () => {
      const databases = await Databases.of(engine);
      const database = await databases.open();
      const { queries } = database;
      let now = 1e12;
      const grant = { scopes: ['read'], nodes: null, tags: [] } as const;
      const signIns = new SignIns(
        queries,
        () => now,
        () => grant,
      );
      const one = { subject: 's', name: 'n', group: 'g', expires_at: now + 1000, ...grant };
      const made = await signIns.add({ ...one, state: Buffer.from('1') });
      expect(await signIns.add({ ...one, state: Buffer.from('1') })).to.equal(null);
      const id = made?.id ?? '';
      expect(await signIns.verify(id, made?.text ?? '')).to.include({ expires_at: now + 1000 });
      now += 1000;
      expect(await signIns.verify(id, made?.text ?? '')).to.equal(null);
      expect(await signIns.find(id)).to.equal(null);
      expect(await queries.transaction().execute(async (on) => signIns.forget(on))).to.deep.equal([]);
      now += 3600 * 1000 + 1;
      expect(await queries.transaction().execute(async (on) => signIns.forget(on))).to.deep.equal([id]);
      expect(await new Denied(queries, () => now).list()).to.deep.equal([]);
      await database.close();
      await databases.end();
    });
  });

const LIES: Readonly<Record<string, Lies>> = {
  'signs with another key': { otherKey: true },
  'does not sign': { unsigned: true },
  'gives a token without an end': { claims: { exp: undefined } },
  'gives a token that has ended': { claims: { exp: Math.floor(Date.now() / 1000) - 120 } },
  'gives a token for somebody else': { claims: { aud: 'another-client' } },
  'gives a token for two, and not to us': { claims: { aud: ['svc-hub', 'another'], azp: 'another' } },
  'gives a token of another issuer': { claims: { iss: 'http://127.0.0.1:1' } },
  'gives a token for another attempt': { claims: { nonce: 'x'.repeat(43) } },
  'gives a token for no attempt': { claims: { nonce: undefined } },
  'names nobody': { claims: { sub: undefined } },
  'names somebody who cannot be stored': { claims: { sub: 'a\u0000b' } },
  'tells no groups': { claims: { groups: undefined } },
  'tells groups as a text': { claims: { groups: 'fleet-admins' } },
  'tells groups as an object': { claims: { groups: { 'fleet-admins': true } } },
  'tells groups that are none': { claims: { groups: ['fleet-admins', 7] } },
  'tells groups that are almost ours': {
    claims: { groups: ['Fleet-admins', ' north', 'north ', 'nor\u200bth', '__proto__', "' OR 1=1 --"] },
  },
  'answers with a page': { token: 'no-json' },
  'sends the hub elsewhere': { token: 'elsewhere' },
};

describe(`a hub whose provider is wrong${noBroker === null ? '' : ` (${noBroker})`}`, function () {
  this.timeout(60_000);
  let hub: TestHub;
  let provider: LyingProvider;
  before(async function () {
    if (noBroker !== null) return this.skip();
    hub = await TestHub.init();
    provider = await LyingProvider.start();
    await useProvider(hub, provider.issuer);
    await hub.serve();
  });
  afterEach(() => {
    if (provider !== undefined) provider.lies = {};
  });
  after(async () => {
    await hub?.stop();
    await provider?.stop();
  });

  const signIn = async (lies: Lies = {}) => {
    provider.lies = lies;
    const { url, cookie } = await begin(hub);
    return end(hub, provider.authorize(url), cookie);
  };
  const isRefused = ({ status, body }: Awaited<ReturnType<typeof end>>): void => {
    expect({ status, code: body['code'] }).to.deep.equal({ status: 403, code: 'E_SIGN_IN' });
  };

  it('believes one that is right', async () => {
    expect((await signIn()).status).to.equal(201);
  });

  for (const [what, lies] of Object.entries(LIES))
    it(`does not believe one that ${what}`, async () => {
      const before = (await hub.sql('SELECT id FROM sign_ins')).length;
      isRefused(await signIn(lies));
      expect(await hub.sql('SELECT id FROM sign_ins')).to.have.length(before);
    });

  it('does not believe one that calls itself otherwise', async () => {
    const other = await TestHub.init();
    const liar = await LyingProvider.start();
    liar.lies = { issuer: 'https://login.example.org' };
    await useProvider(other, liar.issuer);
    await other.serve();
    isRefused(await other.call('POST', '/v1/sign-in', { credential: null }));
    await other.stop();
    await liar.stop();
  });

  it('takes each answer once, from the browser that began, and asks the provider about no other', async () => {
    const [mine, theirs] = [await begin(hub), await begin(hub)];
    const answer = provider.authorize(mine.url);
    const { taken } = provider;
    isRefused(await end(hub, answer, theirs.cookie)); // somebody else's browser
    isRefused(await end(hub, answer, ''));
    isRefused(await end(hub, answer.replace(/state=[^&]*/, ''), mine.cookie));
    isRefused(await end(hub, `${answer}&state=x`, mine.cookie));
    expect(provider.taken).to.equal(taken);
    expect((await end(hub, answer, mine.cookie)).status).to.equal(201);
    isRefused(await end(hub, answer, mine.cookie)); // the provider takes no code twice
    // One that would: the hub takes no state twice.
    isRefused(await end(hub, provider.authorize(mine.url), mine.cookie));
  });

  it('of two that end one attempt at once lets one in', async () => {
    const { url, cookie } = await begin(hub);
    const answers = [provider.authorize(url), provider.authorize(url)];
    const both = await Promise.all(answers.map(async (answer) => end(hub, answer, cookie)));
    expect(both.map(({ status }) => status)).to.have.members([201, 403]);
  });

  it('does not believe an answer of another provider, and says what the provider has refused', async () => {
    const { url, cookie } = await begin(hub);
    const answer = provider.authorize(url);
    isRefused(await end(hub, answer.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fother.example'), cookie));
    isRefused(await end(hub, answer.replace(/&iss=[^&]*/, ''), cookie));
    const state = new URLSearchParams(answer).get('state') ?? '';
    const told = (error: string, text: string) =>
      end(
        hub,
        new URLSearchParams({ error, error_description: text, state, iss: provider.issuer }).toString(),
        cookie,
      );
    const refused = await told('access_denied', '<b>call this number</b>');
    isRefused(refused);
    expect(refused.body['detail']).to.equal('The provider refused the sign-in (access_denied). Begin again.');
    expect(JSON.stringify((await told('call us: 555', 'x')).body)).not.to.include('555');
  });

  it('takes ten thousand groups, and shows a name without what cannot be shown', async () => {
    const groups = [...Array.from({ length: 10_000 }, (_, n) => `group number ${n}`), 'north'];
    const { status, body } = await signIn({ claims: { groups, name: `Ad\u0000a\u202e${'x'.repeat(500)}` } });
    expect(status).to.equal(201);
    const me = await hub.call('GET', '/v1/me', { credential: String(body['credential']) });
    expect(me.body['name'])
      .to.match(/^Ad a x+$/)
      .and.have.length(128);
  });

  for (const [what, lies] of Object.entries({
    'does not answer': { token: 'never' },
    'answers with 100 MB': { token: 'endless' },
    fails: { token: 'failing' },
  } as const satisfies Record<string, Lies>))
    it(`says so of one that ${what}; others sign in as before`, async () => {
      const late = signIn(lies);
      expect((await hub.call('GET', '/v1/me')).status).to.equal(200);
      expect((await late).body).to.include({ code: 'E_UPSTREAM_DOWN' });
    });

  it('begins none with one that is away, and begins again when it is back', async () => {
    const other = await TestHub.init();
    const later = await LyingProvider.start();
    await useProvider(other, later.issuer);
    await other.serve();
    for (const discovery of ['never', 'endless', 'failing'] as const) {
      later.lies = { discovery };
      const { status, body } = await other.call('POST', '/v1/sign-in', { credential: null });
      expect({ status, code: body['code'] }, discovery).to.deep.equal({
        status: 503,
        code: 'E_UPSTREAM_DOWN',
      });
    }
    later.lies = {};
    const { url, cookie } = await begin(other);
    expect((await end(other, later.authorize(url), cookie)).status).to.equal(201);
    await other.stop();
    await later.stop();
  });

  it('lets nobody stay longer than it says, nor their tokens and streams', async () => {
    const other = await TestHub.init();
    await useProvider(other, provider.issuer, { hours: 5 / 3600 });
    await other.serve();
    const { url, cookie } = await begin(other);
    const { body } = await end(other, provider.authorize(url), cookie);
    const credential = String(body['credential']);
    const streaming = other.streamed(() => false, credential).catch((error: Error) => error.message);
    const key = publicJwk(newSigningKey());
    const token = await other.call('POST', '/v1/me/token', { credential, body: { key } });
    expect(token.body['expires_at']).to.be.at.most(Number(body['expires_at']));
    const me = async () => other.call('GET', '/v1/me', { credential });
    expect((await me()).status).to.equal(200);
    await askAgain('it has ended', me, ({ status }) => status === 401, 10_000);
    expect(await streaming).to.equal('the stream has ended');
    await other.stop();
  });

  it('has no sign-in where there is no provider', async () => {
    const other = await TestHub.start();
    const asked = { credential: null };
    expect((await other.call('GET', '/v1/sign-in', asked)).body).to.deep.equal({ provider: null });
    expect((await other.call('POST', '/v1/sign-in', asked)).body).to.include({ code: 'E_NOT_IMPLEMENTED' });
    expect((await end(other, 'code=1&state=2', '')).body).to.include({ code: 'E_NOT_IMPLEMENTED' });
    await other.stop();
  });

  it('does not start with a configuration that is not safe, and says what is wrong', async () => {
    const other = await TestHub.init();
    for (const [more, words] of [
      [{ issuer: 'http://login.example.org' }, '/oidc/issuer'],
      [{ issuer: 'http://127.0.0.1@login.example.org' }, '/oidc/issuer'],
      [{ page_url: 'http://hub.example.org' }, '/oidc/page_url'],
      [{ page_url: 'https://hub.example.org/elsewhere' }, '/oidc/page_url'],
      [{ groups: [{ group: 'all', scopes: ['read'] }] }, '/oidc/groups/0'],
      [{ groups: [{ group: 'all', scopes: ['everything'], nodes: null }] }, '/oidc/groups/0/scopes/0'],
      [{ groups: [] }, '/oidc/groups'],
      [{ scopes: ['profile'] }, '/oidc/scopes'],
      [{ hours: 100 }, '/oidc/hours'],
      [{ client_secret: 'here' }, 'client_secret'],
      [{ client_secret_file: '/nowhere' }, 'oidc.client_secret_file'],
    ] as const) {
      await useProvider(other, provider.issuer, more);
      const { stderr } = await failing(other.command(['serve']));
      expect(stderr, JSON.stringify(more)).to.include(words);
    }
    await useProvider(other, provider.issuer);
    await chmod(join(other.folder, 'oidc.secret'), 0o644);
    expect((await failing(other.command(['serve']))).stderr).to.include('oidc.secret');
    await rm(join(other.folder, 'oidc.secret'));
    expect((await failing(other.command(['serve']))).stderr).to.include('there is no secret');
    await other.stop();
  });
});
