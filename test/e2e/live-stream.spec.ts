import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { TestNode } from '../support/node.ts';
import { decodeFile, type Film } from '../support/pictures.ts';
import {
  EASY_HERO,
  KEYED,
  pictures,
  play,
  startVideoNode,
  TEST_CAMERA,
  untilViewers,
} from '../support/video-node.ts';

const PATH = '/api/video/live.mp4';

describe('live.mp4', () => {
  let node: TestNode;
  before(async () => {
    node = await startVideoNode({
      config: `mcp:\n  token_accept_enabled: true\n${TEST_CAMERA}${EASY_HERO}  whep:\n    max_viewers: 2\n`,
    });
  });
  after(async () => node.stop());

  const open = async (headers: Readonly<Record<string, string>> = KEYED): Promise<Response> =>
    node.fetch(PATH, { headers });
  const viewers = async (): Promise<unknown> =>
    (await node.json('/api/video', { headers: KEYED })).body['viewers'];
  /** Reads until there are so many bytes, or the end. */
  const read = async (response: Response, bytes: number): Promise<Buffer> => {
    const chunks: Uint8Array[] = [];
    let have = 0;
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      have += chunk.length;
      if (have >= bytes) break; // this cancels the request
    }
    return Buffer.concat(chunks);
  };
  const film = async (bytes: Buffer): Promise<Film> => {
    const file = join(node.base, `${Date.now()}.mp4`);
    await writeFile(file, bytes);
    return decodeFile(file);
  };

  it('plays from the first picture on, and tells when that was taken', async () => {
    const response = await open();
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^video\/mp4; codecs="avc1\.42[0-9a-f]{4}"$/);
    const captured = response.headers.get('x-captured-at') ?? '';
    expect(captured).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.now() - Date.parse(captured)).to.be.within(0, 10_000);
    const { pictures: seen, times } = await film(await read(response, 60_000));
    expect(seen.length).to.be.above(15);
    expect([seen[0]?.width, seen[0]?.height]).to.deep.equal([640, 360]);
    expect(seen[0]?.clock).to.equal(Date.parse(captured));
    for (const [index, { clock }] of seen.entries())
      expect((clock ?? 0) - Date.parse(captured)).to.be.closeTo((times[index] ?? 0) * 1000, 3);
    await untilViewers(node, 0);
  });

  it('counts among the viewers, and one that goes makes room', async () => {
    const one = await open();
    const { peer, session } = await play(node, () => undefined);
    expect(await viewers()).to.equal(2);
    const refused = await node.json(PATH, { headers: KEYED });
    expect(refused).to.deep.include({ status: 503 });
    expect(refused.body).to.include({ code: 'E_VIEWERS' });
    await read(one, 1);
    await untilViewers(node, 1);
    const two = await open();
    const again = await node.post('/whep', {}, { ...KEYED, 'content-type': 'application/sdp' });
    expect(again.body).to.include({ code: 'E_VIEWERS' });
    expect((await film(await read(two, 20_000))).pictures).to.have.length.above(1);
    await node.request(session, { method: 'DELETE', headers: KEYED });
    await peer.close();
    await untilViewers(node, 0);
  });

  it('two at once get the same pictures, each from its own beginning', async () => {
    const both = await Promise.all([open(), open()]);
    const films = await Promise.all(both.map(async (response) => film(await read(response, 40_000))));
    for (const [index, { pictures: seen }] of films.entries())
      expect(seen[0]?.clock).to.equal(Date.parse(both[index]?.headers.get('x-captured-at') ?? ''));
    await untilViewers(node, 0);
  });

  it('ends with the credential it was opened with, and no other does', async () => {
    const minted = await node.post('/api/mcp/tokens', { scopes: ['read'] }, KEYED);
    const [ours, foreign] = await Promise.all([
      open({ 'x-svc-mcp-token': String(minted.body['token']) }),
      open(),
    ]);
    const ended = read(ours, Infinity).then(
      () => 'end',
      () => 'broken off',
    );
    await node.post('/api/mcp/revoke', { token_id: minted.body['token_id'] }, KEYED);
    await ended;
    expect(await viewers()).to.equal(1);
    expect((await film(await read(foreign, 30_000))).pictures).to.have.length.above(3);
    await untilViewers(node, 0);
  });

  it('ends in order when the picture changes its size; the next one has the new size', async () => {
    const before = await open();
    const whole = read(before, Infinity);
    await node.post('/api/video/profile', { profile: 'thumbnail' }, KEYED);
    expect((await film(await whole)).pictures[0]?.width).to.equal(640);
    const { pictures: seen } = await film(await read(await open(), 10_000));
    expect([seen[0]?.width, seen[0]?.height]).to.deep.equal([320, 180]);
    await node.post('/api/video/profile', { profile: 'hero' }, KEYED);
    await untilViewers(node, 0);
  });

  it('kill -9 of svc-video ends it, and the next one plays', async () => {
    const whole = read(await open(), Infinity).catch(() => null);
    await node.killAndAwaitSuccessor('svc-video');
    await whole;
    await pictures(node);
    expect((await film(await read(await open(), 30_000))).pictures).to.have.length.above(3);
    await untilViewers(node, 0);
  });
});

describe('live.mp4 without a camera', () => {
  it('there is no stream', async () => {
    const node = await TestNode.start({ simulated: false });
    try {
      const { status, body } = await node.json(PATH);
      expect([status, body['code']]).to.deep.equal([503, 'E_NO_PIPELINE']);
    } finally {
      await node.stop();
    }
  });
});
