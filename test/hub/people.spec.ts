import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { SCOPES } from '../../shared/auth/scopes.ts';
import type { CallerSession } from '../../shared/fleet/hub-api.ts';
import { newSigningKey, publicJwk, verifyStatement } from '../../shared/fleet/signed.ts';
import { CALLER_ID } from '../../shared/fleet/topics.ts';
import { hubRows } from '../../shared/hub-api/rows.ts';
import type { PublicJwk } from '../../shared/schemas/fleet-statements.ts';
import { TestHub } from '../support/hub.ts';
import { ENGINES } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';

const noBroker = noMosquitto();

for (const { engine, missing } of ENGINES)
  describe(`operators and machines at the hub, ${engine}${noBroker === null ? '' : ` (${noBroker})`}${missing === null ? '' : ` (${missing})`}`, () => {
    let hub: TestHub;
    before(async function () {
      if (noBroker !== null || missing !== null) return this.skip();
      hub = await TestHub.on(engine);
      for (const id of ['north-1', 'north-2', 'south-1']) await hub.enroll(id);
    });
    after(async () => hub?.stop());

    const operator = async (scopes: readonly string[], nodes?: readonly string[]) => {
      const body = { name: 'somebody', scopes, ...(nodes === undefined ? {} : { nodes }) };
      const answer = await hub.call('POST', '/v1/operators', { body });
      return { id: String(answer.body['id']), credential: String(answer.body['credential']) };
    };
    const machine = async (
      credential: string,
      scopes: readonly string[],
      nodes: readonly string[] | null = null,
    ) => hub.call('POST', '/v1/credentials', { credential, body: { label: 'laptop', scopes, nodes } });

    it('nothing but the public routes answers without a credential', async () => {
      for (const row of hubRows) {
        const { status, body } = await hub.call(row.method, row.path.replace('{id}', 'north-1'), {
          credential: null,
        });
        if (row.access === 'public') expect(status, row.id).not.to.equal(401);
        else
          expect({ status, code: body['code'] }, row.id).to.deep.equal({
            status: 401,
            code: 'E_UNAUTHENTICATED',
          });
      }
    });

    it('an operator has scopes and nodes, sees the rest of the fleet nowhere, and gives nobody more', async () => {
      const { credential } = await operator(['read', 'admin'], ['north-1', 'north-2']);
      const list = await hub.call('GET', '/v1/nodes', { credential });
      expect((list.body['nodes'] as readonly { readonly id: string }[]).map(({ id }) => id)).to.deep.equal([
        'north-1',
        'north-2',
      ]);
      expect((await hub.call('GET', '/v1/nodes/south-1', { credential })).status).to.equal(404);
      expect((await hub.call('DELETE', '/v1/nodes/south-1', { credential })).status).to.equal(404);
      expect((await hub.call('GET', '/v1/audit', { credential })).body).to.include({ code: 'E_SCOPE' });
      for (const [scopes, nodes] of [
        [['flight'], ['north-1']],
        [['read'], null],
        [['read'], ['south-1']],
      ] as const) {
        expect((await machine(credential, scopes, nodes)).body).to.include({ code: 'E_SCOPE' });
        const body = { name: 'wider', scopes, nodes };
        expect((await hub.call('POST', '/v1/operators', { credential, body })).status).to.equal(403);
      }
      expect((await machine(credential, ['read'], ['north-1'])).status).to.equal(201);
      const seen = await hub.call('GET', '/v1/operators', { credential });
      expect(JSON.stringify(seen.body)).not.to.include('first operator');
    });

    it('one who may only read changes nothing', async () => {
      const { credential } = await operator(['read']);
      expect((await hub.call('GET', '/v1/nodes', { credential })).status).to.equal(200);
      for (const [method, path] of [
        ['POST', '/v1/codes'],
        ['POST', '/v1/operators'],
        ['GET', '/v1/operators'],
        ['POST', '/v1/credentials'],
        ['DELETE', '/v1/nodes/north-1'],
        ['DELETE', '/v1/nodes/north-1/alarm'],
      ] as const)
        expect((await hub.call(method, path, { credential })).body, path).to.include({ code: 'E_SCOPE' });
    });

    it('a machine credential opens a session with a token for its key and a certificate in its own name', async () => {
      const { body } = await machine(hub.operator, ['read', 'flight'], ['north-1']);
      const credential = String(body['credential']);
      const key = newSigningKey();
      const { status, body: answer } = await hub.session(credential, key);
      expect(status).to.equal(200);
      const session = answer as unknown as CallerSession;
      expect(session).to.deep.include({
        operator: 'first operator',
        scopes: ['read', 'flight'],
        nodes: ['north-1'],
      });
      expect(session.id).to.match(CALLER_ID);
      expect(new X509Certificate(session.certificate).subject).to.equal(`CN=${session.id}`);
      const keys = await hubKeys();
      const { payload } = await verifyStatement('svc-machine-token', session.token, () => keys[0] ?? null);
      expect(payload).to.deep.include({
        sub: session.id,
        cnf: { jwk: publicJwk(key) },
        scopes: ['read', 'flight'],
      });
      expect(payload.exp - payload.iat).to.equal(3600);
      expect(session.expires_at).to.equal(payload.exp * 1000);
      const list = await hub.call('GET', '/v1/nodes', { credential });
      expect((list.body['nodes'] as readonly object[]).length).to.equal(1);
      expect((await hub.call('POST', '/v1/codes', { credential })).body).to.include({ code: 'E_SCOPE' });
    });

    it('the credential is bound to the first key that uses it, and to no other afterwards', async () => {
      const credential = String((await machine(hub.operator, ['read'])).body['credential']);
      const key = newSigningKey();
      expect((await hub.session(credential, key)).status).to.equal(200);
      expect((await hub.session(credential, newSigningKey())).status).to.equal(403);
      expect((await hub.session(credential, key)).status).to.equal(200);
      expect((await hub.session(hub.operator, key)).body).to.include({ code: 'E_SCOPE' });
      const { records } = (await hub.call('GET', '/v1/audit')).body as {
        readonly records: readonly Readonly<Record<string, unknown>>[];
      };
      expect(records.some(({ route, status }) => route === 'session.get' && status === 403)).to.equal(true);
    });

    it('an ended credential is refused at once, and its stream of nodes ends', async () => {
      const { body } = await machine(hub.operator, ['read']);
      const [id, credential] = [String(body['id']), String(body['credential'])];
      const streaming = hub.streamed(() => false, credential).catch((error: Error) => error.message);
      await hub.streamed((name) => name === 'ready', credential);
      expect((await hub.call('DELETE', `/v1/credentials/${id}`)).body).to.deep.equal({ ended: id });
      expect(await streaming).to.equal('the stream has ended');
      expect((await hub.call('GET', '/v1/nodes', { credential })).status).to.equal(401);
      expect((await hub.session(credential, newSigningKey())).status).to.equal(401);
      expect(await readFile(join(hub.folder, 'broker.acl'), 'utf8')).to.include(`user ${id}\ntopic deny #`);
    });

    it('with an operator end the credentials that they made; the last who may do everything stays', async () => {
      const { id, credential } = await operator(SCOPES);
      const made = String((await machine(credential, ['read'])).body['credential']);
      expect((await hub.call('DELETE', `/v1/operators/${id}`)).status).to.equal(200);
      expect((await hub.call('GET', '/v1/me', { credential: made })).status).to.equal(401);
      expect((await hub.call('GET', '/v1/me', { credential })).status).to.equal(401);
      const { body } = await hub.call('GET', '/v1/me');
      expect((await hub.call('DELETE', `/v1/operators/${String(body['id'])}`)).status).to.equal(422);
    });

    it('of two who remove each other at the same moment one stays', async () => {
      const other = await TestHub.on(engine);
      const { body: first } = await other.call('GET', '/v1/me');
      for (let round = 0; round < 5; round++) {
        const { body: made } = await other.call('POST', '/v1/operators', {
          body: { name: 'second', scopes: SCOPES },
        });
        const [one, two] = await Promise.all([
          other.call('DELETE', `/v1/operators/${String(first['id'])}`, {
            credential: String(made['credential']),
          }),
          other.call('DELETE', `/v1/operators/${String(made['id'])}`),
        ]);
        expect([one.status, two.status].filter((status) => status === 200)).to.have.length(1);
        if (one.status === 200) break; // the first one is gone
      }
      expect(await other.sql('SELECT id FROM operators')).to.have.length(1);
      await other.stop();
    });

    it('no secret is in the database, the list or the audit; the audit is whole', async () => {
      const credential = String((await machine(hub.operator, ['read'])).body['credential']);
      const secret = await hub.secret();
      const files = ['audit/audit.ndjson', ...(engine === 'sqlite' ? ['hub.db', 'hub.db-wal'] : [])];
      const texts = await Promise.all(files.map(async (name) => readFile(join(hub.folder, name), 'latin1')));
      const { postgres } = hub;
      if (postgres !== null) texts.push(await postgres.dump());
      for (const text of texts)
        for (const word of [
          credential,
          credential.slice(-43),
          secret,
          hub.operator.slice(-43),
          'PRIVATE KEY',
        ])
          expect(text.includes(word)).to.equal(false);
      expect(JSON.stringify((await hub.call('GET', '/v1/credentials')).body)).not.to.include(
        credential.slice(-43),
      );
      expect((await hub.call('GET', '/v1/audit/verify')).body).to.include({ ok: true });
    });

    it('bodies and queries are checked, and paths that are none answer so', async () => {
      const post = async (body: unknown) => (await hub.call('POST', '/v1/credentials', { body })).status;
      expect(await post({ label: 'x', scopes: [] })).to.equal(422);
      expect(await post({ label: 'x', scopes: ['all'] })).to.equal(422);
      expect(await post({ label: 'x', scopes: ['read'], more: 1 })).to.equal(422);
      expect(await post({ label: 'x'.repeat(2_000_000), scopes: ['read'] })).to.equal(413);
      expect((await hub.call('GET', '/v1/nodes?limit=0')).status).to.equal(422);
      expect((await hub.call('GET', '/v1/nodes?limit=1&limit=2')).status).to.equal(422);
      expect((await hub.call('PUT', '/v1/nodes')).status).to.equal(405);
      expect((await hub.call('GET', '/v1/nothing')).body).to.include({ code: 'E_NOT_FOUND' });
      expect((await hub.call('GET', '/v1/nodes/%2e%2e')).status).to.equal(400);
      expect((await hub.call('GET', '/v1/nodes/%ff')).status).to.equal(400);
      const { headers } = await hub.call('GET', '/v1/me');
      expect(headers.get('content-security-policy')).to.include("default-src 'none'");
      expect(headers.get('cache-control')).to.equal('no-store');
    });

    it('too many wrong credentials are told to wait; a good one from the same address is not', async () => {
      const wrong = `${hub.operator.slice(0, -2)}AA`;
      let answer = await hub.call('GET', '/v1/me', { credential: wrong });
      while (answer.status === 401) answer = await hub.call('GET', '/v1/me', { credential: wrong });
      expect(answer.body).to.include({ code: 'E_LOCKED' });
      expect(Number(answer.headers.get('retry-after'))).to.be.greaterThan(0);
      expect((await hub.call('GET', '/v1/me')).body).to.include({ kind: 'operator', name: 'first operator' });
    });

    it('strangers of the same address spend neither what operators have nor what a balancer asks', async () => {
      expect((await hub.call('GET', '/v1/me')).status).to.equal(200);
      const statuses = async (
        path: string,
        credential: string | null,
        count: number,
      ): Promise<readonly number[]> =>
        Promise.all(
          Array.from({ length: count }, async () => (await hub.call('GET', path, { credential })).status),
        );
      expect(await statuses('/v1/ca', null, 600)).to.include(429);
      expect(new Set(await statuses('/v1/me', hub.operator, 40))).to.deep.equal(new Set([200]));
      expect(new Set(await statuses('/v1/health', null, 40))).to.deep.equal(new Set([200]));
      expect(await statuses('/v1/ca', null, 300)).to.include(429);
    });

    async function hubKeys(): Promise<readonly PublicJwk[]> {
      const { enrolled } = await hub.enroll('keys');
      const policy = Buffer.from(enrolled.policy.split('.')[1] ?? '', 'base64url').toString();
      return (JSON.parse(policy) as { readonly keys: readonly PublicJwk[] }).keys;
    }
  });
