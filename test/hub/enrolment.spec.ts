import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { certificateRequest } from '../../shared/certificates/request.ts';
import { caHashOf } from '../../shared/fleet/code.ts';
import type { NodeEntry } from '../../shared/fleet/hub-api.ts';
import {
  newSigningKey,
  publicJwk,
  signStatement,
  thumbprint,
  verifyStatement,
} from '../../shared/fleet/signed.ts';
import { type EnrolledNode, TestHub } from '../support/hub.ts';
import { ENGINES } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';

const noBroker = noMosquitto();
const now = (): number => Math.floor(Date.now() / 1000);

async function renewal(node: EnrolledNode, change: { readonly at?: number; readonly jti?: string } = {}) {
  const { pem: csr } = await certificateRequest(node.tlsKey);
  const jti = change.jti ?? 'renewal-0123456789';
  const payload = { node: node.id, csr, at: change.at ?? now(), jti };
  const kid = await thumbprint(publicJwk(node.signingKey));
  return signStatement('svc-renew', payload, node.signingKey, kid);
}

for (const { engine, missing } of ENGINES)
  describe(`enrolment at the hub, ${engine}${noBroker === null ? '' : ` (${noBroker})`}${missing === null ? '' : ` (${missing})`}`, () => {
    let hub: TestHub;
    before(async function () {
      if (noBroker !== null || missing !== null) return this.skip();
      hub = await TestHub.on(engine);
    });
    after(async () => hub?.stop());

    it('a code names the CA that GET /v1/ca answers, and the hub shows itself with it over HTTPS', async () => {
      const { body } = await hub.call('POST', '/v1/codes');
      const ca = new X509Certificate(
        String((await hub.call('GET', '/v1/ca', { credential: null })).body['text']),
      );
      expect(String(body['code'])).to.match(new RegExp(`^svc1-${caHashOf(ca)}-[0-9a-f]{32}$`));
      const server = new X509Certificate(await readFile(join(hub.folder, 'server.pem')));
      expect(server.verify(ca.publicKey)).to.equal(true);
      expect(server.checkIP('127.0.0.1')).to.equal('127.0.0.1');
    });

    it('a node gets a certificate in its own name, whatever the request says, and a policy that its keys verify', async () => {
      const { enrolled } = await hub.enroll('node-a');
      const certificate = new X509Certificate(enrolled.certificate);
      expect(certificate.subject).to.equal('CN=node-a');
      expect(certificate.verify(new X509Certificate(enrolled.ca).publicKey)).to.equal(true);
      const { keys } = JSON.parse(
        Buffer.from(enrolled.policy.split('.')[1] ?? '', 'base64url').toString(),
      ) as {
        readonly keys: readonly [ReturnType<typeof publicJwk>];
      };
      const { payload } = await verifyStatement('svc-policy', enrolled.policy, () => keys[0]);
      expect(payload).to.include({ fleet: enrolled.fleet });
      const { body } = await hub.call('GET', '/v1/nodes/node-a');
      expect(body).to.include({ id: 'node-a', profile: 'drone', online: false, alarm: null });
    });

    it('a code enrols once, also when two nodes use it at the same time', async () => {
      const secret = await hub.secret();
      const requests = await Promise.all(['twice-a', 'twice-b'].map(async (id) => hub.request(id, secret)));
      const answers = await Promise.all(
        requests.map(async ({ body }) => hub.call('POST', '/v1/enroll', { credential: null, body })),
      );
      expect(answers.map(({ status }) => status)).to.have.members([201, 403]);
      const { body } = await hub.request('twice-c', secret);
      expect((await hub.call('POST', '/v1/enroll', { credential: null, body })).body).to.include({
        code: 'E_CODE',
      });
    });

    it('a wrong code, an expired one, an id that is none and a request with another key are refused', async () => {
      const enroll = async (id: string, secret: string, change: object = {}) => {
        const { body } = await hub.request(id, secret);
        return hub.call('POST', '/v1/enroll', { credential: null, body: { ...body, ...change } });
      };
      expect((await enroll('node-x', '0'.repeat(32))).status).to.equal(403);
      const secret = await hub.secret();
      expect((await enroll('hub', secret)).status).to.equal(422);
      expect((await enroll('mc_0123456789abcdef', secret)).status).to.equal(422);
      expect((await enroll('node-x', secret, { csr: 'none' })).body).to.include({ code: 'E_INVALID_VALUE' });
      expect((await enroll('node-x', secret, { more: 1 })).status).to.equal(422);
      await hub.sql(`UPDATE codes SET expires_at = ${Date.now() - 1} WHERE used_at IS NULL`);
      expect((await enroll('node-x', secret)).body).to.include({ code: 'E_CODE' });
      expect((await hub.call('GET', '/v1/nodes/node-x')).status).to.equal(404);
    });

    it("an enrolled node renews by its key alone; a repeated statement, a stranger's and a wrong clock are refused", async () => {
      const node = await hub.enroll('renewing');
      const renew = async (statement: string) =>
        hub.call('POST', '/v1/renew', { credential: null, body: { statement } });
      const statement = await renewal(node);
      const { status, body } = await renew(statement);
      expect(status).to.equal(200);
      const certificate = new X509Certificate(String(body['certificate']));
      expect(certificate.subject).to.equal('CN=renewing');
      expect((await renew(statement)).body).to.include({ code: 'E_INVALID_VALUE' });
      const late = await renewal(node, { at: now() - 3 * 24 * 3600, jti: 'renewal-9876543210' });
      expect((await renew(late)).body).to.include({ code: 'E_CLOCK' });
      const stranger = await renewal({ ...node, signingKey: newSigningKey() });
      expect((await renew(stranger)).body).to.include({ code: 'E_UNAUTHENTICATED' });
      expect((await renew('no.state.ment')).status).to.equal(401);
    });

    it('a node that enrols again has a new key, and the earlier one counts no longer', async () => {
      const first = await hub.enroll('imaged');
      const second = await hub.enroll('imaged', await hub.secret(hub.operator, 'imaged'));
      const { body } = await hub.call('GET', '/v1/nodes/imaged');
      expect((body as unknown as NodeEntry).signing_key).to.deep.equal(publicJwk(second.signingKey));
      const renew = async (node: EnrolledNode) =>
        hub.call('POST', '/v1/renew', { credential: null, body: { statement: await renewal(node) } });
      expect((await renew(first)).status).to.equal(401);
      expect((await renew(second)).status).to.equal(200);
    });

    it('a name that is enrolled is taken over by nobody but with a code for it alone, by somebody who may destroy', async () => {
      const first = await hub.enroll('taken');
      const secret = await hub.secret();
      const enroll = async (id: string, by: string) => {
        const { body: request } = await hub.request(id, by);
        return hub.call('POST', '/v1/enroll', { credential: null, body: request });
      };
      const refused = await enroll('taken', secret);
      expect(refused.body).to.include({ code: 'E_CODE' });
      expect(String(refused.body['detail'])).to.include('svc-hub code --node taken');
      const { body: entry } = await hub.call('GET', '/v1/nodes/taken');
      expect((entry as unknown as NodeEntry).signing_key).to.deep.equal(publicJwk(first.signingKey));
      expect((await enroll('beside-it', secret)).status, 'the code was not used up').to.equal(201);
      const { body: made } = await hub.call('POST', '/v1/operators', {
        body: { name: 'admin', scopes: ['read', 'admin', 'flight'] },
      });
      const admin = { credential: String(made['credential']) };
      expect((await hub.call('POST', '/v1/codes?node=taken', admin)).body).to.include({
        code: 'E_SCOPE',
        required: 'destructive',
      });
      expect((await hub.call('POST', '/v1/codes?node=nobody')).status).to.equal(404);
      const again = await hub.secret(hub.operator, 'taken');
      expect((await enroll('beside-it', again)).body).to.include({ code: 'E_CODE' });
      expect((await enroll('new-one', again)).body).to.include({ code: 'E_CODE' });
      expect((await enroll('taken', again)).status).to.equal(201);
      expect((await enroll('taken', again)).body, 'once').to.include({ code: 'E_CODE' });
      // Of two that come at once with codes for new nodes, the second does not replace the first.
      const both = await Promise.all(
        [await hub.secret(), await hub.secret()].map(async (by) => enroll('twice', by)),
      );
      expect(both.map(({ status }) => status)).to.have.members([201, 403]);
    });

    it('a node whose key is of a small order, or whose name turns the text round, is not enrolled', async () => {
      const { body } = await hub.request('hostile', await hub.secret());
      for (const [path, change] of [
        ['/signing_key/x', { signing_key: { ...body.signing_key, x: 'A'.repeat(43) } }],
        ['/name', { name: 'a\u202eb\u001b[2J' }],
      ] as const) {
        const answer = await hub.call('POST', '/v1/enroll', {
          credential: null,
          body: { ...body, ...change },
        });
        expect([answer.status, JSON.stringify(answer.body).includes(path)], path).to.deep.equal([422, true]);
      }
      expect((await hub.call('GET', '/v1/nodes/hostile')).status).to.equal(404);
      expect((await hub.call('POST', '/v1/enroll', { credential: null, body })).status).to.equal(201);
    });

    it('a code of an operator with some nodes enrols one of those', async () => {
      const operator = { name: 'north', scopes: ['read', 'admin'], nodes: ['north-1'] };
      const { body } = await hub.call('POST', '/v1/operators', { body: operator });
      const secret = await hub.secret(String(body['credential']));
      const enroll = async (id: string) => {
        const { body: request } = await hub.request(id, secret);
        return hub.call('POST', '/v1/enroll', { credential: null, body: request });
      };
      expect((await enroll('node-a')).body).to.include({ code: 'E_CODE' });
      expect((await enroll('north-1')).status).to.equal(201);
    });
  });
