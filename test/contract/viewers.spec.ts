import { expect } from 'chai';
import type { TestNode } from '../support/node.ts';
import { KEYED, pictures, play, startVideoNode, unitsOf, watcher } from '../support/video-node.ts';

const FRAGMENT = { 'content-type': 'application/trickle-ice-sdpfrag' } as const;

describe('viewers', () => {
  let node: TestNode;
  before(async () => {
    node = await startVideoNode({
      config:
        "mcp:\n  token_accept_enabled: true\nvideo:\n  source: test\n  radio: ''\n  whep:\n    max_viewers: 2\n",
    });
  });
  after(async () => node.stop());

  const viewers = async (): Promise<unknown> =>
    (await node.json('/api/video', { headers: KEYED })).body['viewers'];
  const trickle = async (session: string, headers: Readonly<Record<string, string>> = KEYED) =>
    node.request(session, { method: 'PATCH', headers: { ...headers, ...FRAGMENT }, body: '\r\n' });
  const end = async (session: string, headers: Readonly<Record<string, string>> = KEYED) =>
    node.request(session, { method: 'DELETE', headers });

  /** A playback whose first picture has come. */
  async function watch() {
    const { promise: first, resolve } = Promise.withResolvers<void>();
    const playback = await play(node, () => resolve());
    await first;
    return playback;
  }

  it('no more than the config says; one that ends makes room', async () => {
    const [one, two] = [await watch(), await watch()];
    expect(await viewers()).to.equal(2);
    const { peer, offer } = await watcher();
    const refused = await node.json('/whep', {
      method: 'POST',
      headers: { ...KEYED, 'content-type': 'application/sdp' },
      body: offer,
    });
    await peer.close();
    expect(refused.body).to.include({ code: 'E_VIEWERS' });
    expect((await end(one.session)).status).to.equal(200);
    expect(await viewers()).to.equal(1);
    expect((await end(one.session)).status).to.equal(404);
    expect(await unitsOf(node, (units) => units.length > 3)).to.have.length.above(3);
    await end(two.session);
    await Promise.all([one.peer.close(), two.peer.close()]);
  });

  it('two offers at once for the last place: one gets it', async () => {
    const one = await watch();
    const offers = await Promise.all([watcher(), watcher()]);
    const answers = await Promise.all(
      offers.map(async ({ offer }) =>
        node.request('/whep', {
          method: 'POST',
          headers: { ...KEYED, 'content-type': 'application/sdp' },
          body: offer,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.have.members([201, 503]);
    for (const { headers } of answers) if (headers['location'] !== undefined) await end(headers['location']);
    await end(one.session);
    expect(await viewers()).to.equal(0);
    await Promise.all([one.peer.close(), ...offers.map(async ({ peer }) => peer.close())]);
  });

  it('a token reaches its own playback, and no other', async () => {
    const minted = await node.post('/api/mcp/tokens', { scopes: ['read', 'safe_write'] }, KEYED);
    const token = { 'x-svc-mcp-token': String(minted.body['token']) };
    const { peer, session } = await watch();
    expect((await trickle(session)).status).to.equal(204);
    expect((await trickle(session, { ...KEYED, 'if-match': '"another"' })).status).to.equal(412);
    expect((await trickle(session, token)).status).to.equal(404);
    expect((await end(session, token)).status).to.equal(404);
    expect((await end(session)).status).to.equal(200);
    await peer.close();

    // As players send it, from a page of another origin: its session can be read there.
    const bearer = { authorization: `Bearer ${token['x-svc-mcp-token']}`, origin: 'http://localhost:4000' };
    const { peer: other, offer } = await watcher();
    const answer = await node.request('/whep', {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/sdp' },
      body: offer,
    });
    expect(answer.status).to.equal(201);
    expect(answer.headers['access-control-expose-headers']).to.equal('Location, ETag, Link');
    expect((await end(answer.headers['location'] ?? '', bearer)).status).to.equal(200);
    await other.close();
    const wrong = await end('/whep/0', { authorization: 'Bearer x' });
    expect([wrong.status, wrong.headers['www-authenticate']]).to.deep.equal([401, 'Bearer']);
  });

  it('ICE begins anew for new credentials alone, and candidates of before are refused', async () => {
    const { peer, session } = await watch();
    const patch = async (ifMatch: string | null, ...lines: readonly string[]) =>
      node.request(session, {
        method: 'PATCH',
        headers: { ...KEYED, ...FRAGMENT, ...(ifMatch === null ? {} : { 'if-match': ifMatch }) },
        body: lines.map((line) => `${line}\r\n`).join(''),
      });
    const fresh = ['a=ice-ufrag:Wxyz', `a=ice-pwd:${'p'.repeat(24)}`];
    for (const lines of [
      [],
      ['a=ice-ufrag:Wxyz'],
      ['a=ice-ufrag:a b', fresh[1] ?? ''],
      [fresh[0] ?? '', 'a=ice-pwd:short'],
    ])
      expect((await patch('*', ...lines)).status, lines.join()).to.equal(400);
    expect((await patch(null, ...fresh)).status, 'without If-Match').to.equal(412);
    const { status, headers, text } = await patch('*', ...fresh);
    expect([status, headers['content-type']]).to.deep.equal([200, FRAGMENT['content-type']]);
    expect(text).to.match(
      /^a=ice-ufrag:\S{4,}\r\na=ice-pwd:\S{22,}\r\nm=video .*\r\na=mid:.*\r\na=candidate:/,
    );
    expect((await patch('*', ...fresh)).status, 'the same once more').to.equal(400);
    expect((await patch(headers['etag'] ?? '', ...fresh)).status).to.equal(204);
    expect((await patch('"of before"')).status).to.equal(412);
    expect(await viewers()).to.equal(1);
    await end(session);
    await peer.close();
  });

  it('kill -9 of svc-video: its playbacks are gone, the node says so, and the next one plays', async () => {
    const { peer, session } = await watch();
    await node.killAndAwaitSuccessor('svc-video');
    await pictures(node);
    expect(await viewers()).to.equal(0);
    expect((await trickle(session)).status).to.equal(404);
    await peer.close();
    expect(await unitsOf(node, (units) => units.length > 3)).to.have.length.above(3);
  });

  it('kill -9 of svc-residual ends the playbacks that nobody could end any more', async () => {
    const { peer, session } = await watch();
    const video = node.pid('svc-video');
    await node.killAndAwaitSuccessor('svc-residual');
    // The new one is told by svc-video, which went on.
    await pictures(node);
    expect(node.pid('svc-video')).to.equal(video);
    expect(await viewers()).to.equal(0);
    expect((await end(session)).status).to.equal(404);
    await peer.close();
  });
});
