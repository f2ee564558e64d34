import { randomBytes } from 'node:crypto';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newSigningKey, publicJwk, signStatement, thumbprint } from '../../shared/fleet/signed.ts';
import { turnCredentials } from '../../shared/video/turn-credentials.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { type EnrolledNode, TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { KEYED, pictures, watcher } from '../support/video-node.ts';

type Body = Readonly<Record<string, unknown>>;

const SECRET = 'of-the-hub-and-its-coturn';
const URL = 'turn:127.0.0.1:9?transport=tcp';
const TURN = `turn:\n  urls: ['${URL}']\n  secret: ${SECRET}\n  ttl_s: 21600\n`; // as an older hub.yaml has it
const missing = noMosquitto();

const now = (): number => Math.floor(Date.now() / 1000);

/** A node's question, as only its key can ask it. */
async function statement(
  { id, signingKey }: Pick<EnrolledNode, 'id' | 'signingKey'>,
  change: { readonly at?: number; readonly jti?: string; readonly typ?: 'svc-renew' } = {},
): Promise<string> {
  const { at = now(), jti = randomBytes(16).toString('base64url') } = change;
  const kid = await thumbprint(publicJwk(signingKey));
  if (change.typ === 'svc-renew')
    return signStatement('svc-renew', { node: id, csr: '', at, jti }, signingKey, kid);
  return signStatement('svc-turn', { node: id, at, jti }, signingKey, kid);
}

describe(`TURN servers of a hub${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(120_000);
  let hub: TestHub;
  before(async function () {
    if (missing !== null) this.skip();
    hub = await TestHub.init();
    await hub.serve();
  });
  after(async () => hub?.stop());

  const ask = async (jws: string) =>
    hub.call('POST', '/v1/turn', { credential: null, body: { statement: jws } });
  const config = (): string => join(hub.folder, 'hub.yaml');

  it('a hub without any says so', async () => {
    const { status, body } = await ask(await statement(await hub.enroll('early')));
    expect([status, body['ice_servers']]).to.deep.equal([200, []]);
  });

  it('its secret is refused in a file that others can read', async () => {
    const before = await readFile(config(), 'utf8');
    await hub.kill('SIGTERM');
    await writeFile(config(), `${before}${TURN}`);
    await chmod(config(), 0o644);
    const refused = await hub.serve().then(
      () => null,
      (error: unknown) => String(error),
    );
    expect(refused).to.match(/hub\.yaml/);
    await chmod(config(), 0o600);
    await hub.serve();
  });

  it('an enrolled node gets credentials that end, by its key alone, each statement once', async () => {
    const node = await hub.enroll('asking');
    const jws = await statement(node);
    const { status, body } = await ask(jws);
    expect(status, JSON.stringify(body)).to.equal(200);
    const [server] = body['ice_servers'] as readonly [{ username: string; credential: string }];
    const [expiry, name] = server.username.split(':');
    expect(name).to.equal('asking');
    expect(Number(expiry) - now()).to.be.within(3590, 3600);
    expect(body).to.deep.equal({
      ice_servers: [{ urls: [URL], ...turnCredentials(SECRET, 'asking', Number(expiry)) }],
      ttl_s: 3600,
    });
    expect(JSON.stringify(body)).to.not.include(SECRET);

    expect((await ask(jws)).body).to.include({ code: 'E_INVALID_VALUE' });
    expect((await ask(await statement(node, { at: now() - 3 * 24 * 3600 }))).body).to.include({
      code: 'E_CLOCK',
    });
    for (const [what, wrong] of [
      ['a stranger', await statement({ ...node, signingKey: newSigningKey() })],
      ['a node that is none', await statement({ id: 'nobody', signingKey: node.signingKey })],
      ['another statement', await statement(node, { typ: 'svc-renew' })],
      ['no statement', 'no.state.ment'],
    ] as const)
      expect((await ask(wrong)).status, what).to.equal(401);
    await hub.call('DELETE', '/v1/nodes/asking');
    expect((await ask(await statement(node))).status, 'a node that was removed').to.equal(401);
    expect(hub.stderr).to.not.include(SECRET);
  });

  it('a node of the fleet tells them to its viewers, unless it has its own; when it leaves they are gone', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: "video:\n  source: test\n  radio: ''\n",
    });
    try {
      await pictures(node);
      const { body } = await hub.call('POST', '/v1/codes');
      const url = `https://127.0.0.1:${hub.httpsPort}`;
      const joined = await svc(node.paths, 'fleet', 'enroll', url, String(body['code']));
      expect(joined.code, joined.stderr).to.equal(0);
      const { body: fleet } = await node.json('/api/fleet', { headers: KEYED });
      const id = String((fleet['enrollment'] as Body)['node']);
      const link = async (): Promise<string> => {
        const { peer, offer } = await watcher();
        const headers = { ...KEYED, 'content-type': 'application/sdp' };
        const answer = await node.fetch('/whep', { method: 'POST', headers, body: offer });
        await peer.close();
        await node.request(answer.headers.get('location') ?? '', { method: 'DELETE', headers: KEYED });
        return answer.headers.get('link') ?? '';
      };
      const first = await askAgain('the hub has answered', link, (text) => text !== '');
      const [, username = '', credential = ''] = /username="([^"]+)"; credential="([^"]+)"/.exec(first) ?? [];
      const [expiry = '', name = ''] = username.split(':');
      expect(name).to.equal(id);
      expect(credential).to.equal(turnCredentials(SECRET, id, Number(expiry)).credential);
      expect((await stat(node.paths.fleetTurn)).mode & 0o777).to.equal(0o600);
      expect(node.stderr).to.not.include(credential);

      const own = [{ urls: ['turn:127.0.0.1:9?transport=tcp'], username: 'mine', credential: 'mine-too' }];
      const put = await node.json('/api/config', {
        method: 'PUT',
        headers: { ...KEYED, 'content-type': 'application/json' },
        body: JSON.stringify({ key: 'video.ice.servers', value: own }),
      });
      expect(put.status, JSON.stringify(put.body)).to.equal(200);
      await node.post('/api/services/svc-video/restart', {}, KEYED);
      await pictures(node);
      expect(await link())
        .to.include('username="mine"')
        .and.not.include(id);

      await node.json('/api/fleet/enrollment', { method: 'DELETE', headers: KEYED });
      await askAgain(
        'the file is gone',
        async () =>
          stat(node.paths.fleetTurn).then(
            () => true,
            () => false,
          ),
        (there) => !there,
      );
    } finally {
      await node.stop();
    }
  });
});
