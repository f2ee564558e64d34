import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Denied } from '../../bin/hub/stores/denied.ts';
import { SignIns } from '../../bin/hub/stores/sign-ins.ts';
import { newSigningKey, publicJwk } from '../../shared/fleet/signed.ts';
import { TestHub } from '../support/hub.ts';
import { Databases, ENGINES } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { begin, end, GROUPS, RealProvider, useProvider } from '../support/oidc.ts';

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
        provider: {
          name: 'Example login',
          page_url: `https://localhost:${hub.httpsPort}/`,
          issuer: provider.issuer,
          scopes: ['openid', 'profile', 'groups'],
          resources: [],
        },
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

    it('have no more places for streams by signing in again', async () => {
      const credentials = [await credentialOf('bob'), await credentialOf('bob')];
      const leave = new AbortController();
      const open = async (path: string, at: number): Promise<number> => {
        const headers = { authorization: `Bearer ${credentials[at % 2]}` };
        return (await fetch(`${hub.url}${path}`, { headers, signal: leave.signal })).status;
      };
      for (const [path, each] of [
        ['/v1/nodes/stream', 20],
        ['/v1/live?nodes=north-1', 8],
      ] as const) {
        for (let at = 0; at < each; at++) expect(await open(path, at), path).to.equal(200);
        expect([await open(path, 0), await open(path, 1)], path).to.deep.equal([429, 429]);
      }
      leave.abort();
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
      const code = await hub.secret(ada);
      const enrolled = async (): Promise<string> => hub.enroll('by-ada', code).then(() => 'enrolled', String);
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
      // What they made ends with them: the code enrols nobody, and is good again when they are.
      expect(await enrolled()).to.include('E_CODE');
      await hub.kill('SIGTERM');
      await useProvider(hub, issuer, { scopes });
      await hub.serve();
      expect(await enrolled()).to.equal('enrolled');
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
