import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newSigningKey, publicJwk } from '../../shared/fleet/signed.ts';
import { askAgain } from '../support/ask-again.ts';
import { failing, TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { begin, end, type Lies, LyingProvider, useProvider } from '../support/oidc.ts';

const noBroker = noMosquitto();

/** Read when the token is made: a busy machine comes to some of these minutes after the others. */
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

const LIES: Readonly<Record<string, Lies>> = {
  'signs with another key': { otherKey: true },
  'does not sign': { unsigned: true },
  'gives a token without an end': { claims: { exp: undefined } },
  'gives a token that has ended': {
    claims: {
      get exp() {
        return inSeconds(-120);
      },
    },
  },
  'gives a token of in an hour': {
    claims: {
      get iat() {
        return inSeconds(3600);
      },
    },
  },
  'gives a token of in a minute': {
    claims: {
      get iat() {
        return inSeconds(120);
      },
    },
  },
  'gives a token that is not good yet': {
    claims: {
      get nbf() {
        return inSeconds(120);
      },
    },
  },
  'gives a token for somebody else': { claims: { aud: 'another-client' } },
  'gives a token for two, and not to us': { claims: { aud: ['svc-hub', 'another'], azp: 'another' } },
  'gives a token of another issuer': { claims: { iss: 'http://127.0.0.1:1' } },
  'gives a token for another attempt': { claims: { nonce: 'x'.repeat(43) } },
  'gives a token for no attempt': { claims: { nonce: undefined } },
  'names nobody': { claims: { sub: undefined } },
  'names somebody who cannot be stored': { claims: { sub: 'a\u0000b' } },
  'tells no groups': { claims: { groups: undefined } },
  'tells groups that are ours as one text': { claims: { groups: 'fleet-admins north' } },
  'names somebody with more than 255 characters': { claims: { sub: 'x'.repeat(256) } },
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

  it('believes one that is right, or whose clock is a little ahead', async () => {
    expect((await signIn()).status).to.equal(201);
    const iat = Math.floor(Date.now() / 1000) + 15;
    expect((await signIn({ claims: { iat } })).status).to.equal(201);
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

  it('takes one group as a text, and a `sub` as long as one may be', async () => {
    const sub = `auth0|${'é9'.repeat(200)}`.slice(0, 255);
    const { status, body } = await signIn({ claims: { groups: 'north', sub, name: undefined } });
    expect(status, JSON.stringify(body)).to.equal(201);
    const me = await hub.call('GET', '/v1/me', { credential: String(body['credential']) });
    expect(me.body['name']).to.equal(sub);
    expect(await hub.sql(`SELECT id FROM sign_ins WHERE subject = '${sub}'`)).to.have.length(1);
  });

  it('says which claim is missing', async () => {
    const told = await signIn({ claims: { groups: undefined } });
    isRefused(told);
    expect(told.body['detail']).to.match(/tells no groups .* has the claim `groups`/);
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
