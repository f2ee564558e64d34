import { expect } from 'chai';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { LyingProvider, useProvider } from '../support/oidc.ts';

const noBroker = noMosquitto();
const RESOURCE = 'https://ai.example.org/mcp';
const ago = (seconds: number): number => Math.floor(Date.now() / 1000) - seconds;

/** Claims and header of what is no access token of the provider for this resource. */
const REFUSED: Readonly<Record<string, () => readonly [claims: object, header?: object]>> = {
  'an ID token': () => [{ aud: 'svc-hub', nonce: 'n' }, { typ: 'JWT' }],
  'an ID token for a client that is called like the resource': () => [{ nonce: 'n' }, { typ: 'JWT' }],
  'one with the hash of an access token': () => [{ at_hash: 'x' }, { typ: undefined }],
  'one of another type': () => [{}, { typ: 'logout+jwt' }],
  'one for another resource': () => [{ aud: 'https://other.example.org/mcp' }],
  'one for a resource that begins alike': () => [{ aud: `${RESOURCE}/more` }],
  'one for nobody': () => [{ aud: undefined }],
  'one of another issuer': () => [{ iss: 'https://login.example.org' }],
  'one that has ended': () => [{ iat: ago(600), exp: ago(120) }],
  'one without an end': () => [{ exp: undefined }],
  'one of the future': () => [{ iat: ago(-3600), exp: ago(-7200) }],
  'one that is not good yet': () => [{ nbf: ago(-120) }],
  'one without a signature': () => [{}, { alg: 'none' }],
  'one with the public key as a secret': () => [{}, { alg: 'HS256' }],
  'one by an unknown key': () => [{}, { kid: 'second' }],
  'one of somebody without groups': () => [{ groups: undefined }],
  'one of somebody with no group of ours': () => [{ groups: ['staff'] }],
  'one of nobody': () => [{ sub: undefined }],
};

describe(`access tokens at the hub${noBroker === null ? '' : ` (${noBroker})`}`, function () {
  this.timeout(60_000);
  let hub: TestHub;
  let provider: LyingProvider;
  before(async function () {
    if (noBroker !== null) return this.skip();
    hub = await TestHub.init();
    provider = await LyingProvider.start();
    await useProvider(hub, provider.issuer, { resources: [RESOURCE] });
    await hub.serve();
  });
  after(async () => {
    await hub?.stop();
    await provider?.stop();
  });

  const enter = async (token: string, resource = RESOURCE) =>
    hub.call('POST', '/v1/sign-in/token', { credential: null, body: { token, resource } });
  const me = async (credential: unknown) => hub.call('GET', '/v1/me', { credential: String(credential) });
  const isRefused = ({ status, body }: Awaited<ReturnType<typeof enter>>): void => {
    expect({ status, code: body['code'] }).to.deep.equal({ status: 403, code: 'E_SIGN_IN' });
  };

  it('give what the page gives, until they end', async () => {
    const exp = ago(-200);
    const token = await provider.accessToken(RESOURCE, { exp, groups: ['staff', 'north'] });
    const { status, body } = await enter(token);
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body).to.include({ group: 'north', expires_at: exp * 1000 });
    const { body: known } = await me(body['credential']);
    expect(known).to.deep.include({ kind: 'operator', scopes: ['read', 'flight'], nodes: ['north-1'] });
    expect(hub.stderr).not.to.include(token);
    const audit = await hub.call('GET', '/v1/audit?limit=100');
    expect(JSON.stringify(audit.body)).to.include('sign-in.token.post').and.not.include(token);
  });

  it('of one person go on with one id, and the newest credential counts', async () => {
    const first = await enter(await provider.accessToken(RESOURCE));
    const second = await enter(await provider.accessToken(RESOURCE, { exp: ago(-900) }));
    expect(second.body['id']).to.equal(first.body['id']);
    expect((await me(first.body['credential'])).status).to.equal(401);
    expect((await me(second.body['credential'])).status).to.equal(200);
    const lesser = await enter(await provider.accessToken(RESOURCE, { groups: ['north'] }));
    expect(lesser.body['id']).not.to.equal(first.body['id']);
  });

  it('do not bring back who was signed out; later ones do, as somebody new', async () => {
    const old = await provider.accessToken(RESOURCE, { sub: 'eve', iat: ago(5) });
    const { body } = await enter(old);
    expect((await hub.call('DELETE', `/v1/operators/${String(body['id'])}`)).status).to.equal(200);
    expect((await me(body['credential'])).status).to.equal(401);
    isRefused(await enter(old));
    const again = await enter(await provider.accessToken(RESOURCE, { sub: 'eve', iat: ago(-2) }));
    expect(again.status).to.equal(201);
    expect(again.body['id']).not.to.equal(body['id']);
  });

  for (const [what, made] of Object.entries(REFUSED))
    it(`are not ${what}`, async () => {
      const before = (await hub.sql('SELECT id FROM sign_ins')).length;
      const [claims, header] = made();
      isRefused(await enter(await provider.accessToken(RESOURCE, { ...claims }, { ...header })));
      expect(await hub.sql('SELECT id FROM sign_ins')).to.have.length(before);
    });

  it('are not those that another key has signed, nor for an address that the hub does not name', async () => {
    provider.lies = { otherKey: true };
    isRefused(await enter(await provider.accessToken(RESOURCE)));
    provider.lies = {};
    const other = 'https://other.example.org/mcp';
    isRefused(await enter(await provider.accessToken(other), other));
  });

  it('say what is wrong with them', async () => {
    const told = async (claims: object): Promise<unknown> =>
      (await enter(await provider.accessToken(RESOURCE, { ...claims }))).body['detail'];
    expect(await told({ iat: ago(600), exp: ago(120) })).to.match(/has expired/);
    expect(await told({ aud: 'svc-hub' })).to.match(/audience is not this address/);
    expect(await told({ groups: undefined })).to.match(/access token does not have the claim `groups`/);
  });

  it('are not taken where they were not asked for', async () => {
    expect((await enter('opaque')).status).to.be.within(400, 422);
    const other = await TestHub.init();
    await useProvider(other, provider.issuer);
    await other.serve();
    const body = { token: await provider.accessToken(RESOURCE), resource: RESOURCE };
    const answer = await other.call('POST', '/v1/sign-in/token', { credential: null, body });
    expect(answer.body).to.include({ code: 'E_NOT_IMPLEMENTED' });
    await other.stop();
  });
});
