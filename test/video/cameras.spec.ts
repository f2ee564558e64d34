import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { decodeFile, decodeH264, decodeJpeg } from '../support/pictures.ts';
import { RtspCamera } from '../support/rtsp-camera.ts';
import { freePort } from '../support/temp.ts';
import { UdpReceiver } from '../support/udp-receiver.ts';
import { KEYED, pictures, play, type Unit } from '../support/video-node.ts';

/** What each picture is of: the colours of the test picture, or none. */
const sides = (seen: readonly { readonly grey: boolean }[]): string =>
  seen
    .map(({ grey }) => (grey ? 'tail' : 'main'))
    .filter((side, at, all) => side !== all[at - 1])
    .join(' ');

describe('several cameras on one path', function () {
  this.timeout(120_000);
  let tail: RtspCamera;
  let node: TestNode;
  let receiver: UdpReceiver;

  before(async () => {
    tail = await RtspCamera.start(null, { grey: true });
    receiver = await UdpReceiver.open();
    const port = await freePort();
    const config = [
      'video:',
      '  source: test',
      "  radio: ''",
      `  outputs: ['rtp://127.0.0.1:${receiver.port}']`,
      '  hero: {width: 640, height: 360, fps: 15, bitrate_kbps: 800}',
      '  cameras:',
      `    - {id: tail, name: Tail, source: '${tail.url}'}`,
      `    - {id: dead, name: Dead, source: 'rtsp://127.0.0.1:${port}/live'}`,
      '    - {id: away, name: Away, source: v4l2:/dev/video97}',
    ].join('\n');
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config: `${config}\n` });
    await pictures(node);
  });
  after(async () => {
    await node.stop();
    await tail.stop();
    await receiver[Symbol.asyncDispose]();
  });

  const show = async (id: string) =>
    node.json('/api/video/camera', {
      method: 'PUT',
      headers: { ...KEYED, 'content-type': 'application/json' },
      body: JSON.stringify({ camera_id: id }),
    });
  const video = async () => (await node.json('/api/video', { headers: KEYED })).body;

  it('are listed, with the one that is shown', async () => {
    const { body } = await node.json('/api/video/cameras', { headers: KEYED });
    expect(body).to.include({ camera_id: 'main' });
    expect(body['configured']).to.deep.include({ id: 'main', name: 'main', source: 'test' });
    expect(body['configured']).to.deep.include({ id: 'tail', name: 'Tail', source: tail.url });
  });

  it('are changed without a gap: the same playback, the same film, one file, and RTP that goes on', async () => {
    const units: (Unit & { readonly came: number })[] = [];
    const { peer, session } = await play(node, (unit) => units.push({ ...unit, came: performance.now() }));
    const leaving = new AbortController();
    const live = await node.fetch('/api/video/live.mp4', { headers: KEYED, signal: leaving.signal });
    const film: Uint8Array[] = [];
    const watched = (async () => {
      for await (const chunk of live.body ?? []) film.push(chunk);
    })().catch(() => undefined); // he leaves
    const started = await node.post('/api/video/record/start', {}, KEYED);
    expect(started.status, JSON.stringify(started.body)).to.equal(200);
    const seenOf = async (count: number): Promise<void> =>
      void (await askAgain(
        'pictures',
        async () => units.length,
        (have) => have >= count,
      ));
    await seenOf(20);

    const before = units.length;
    const answer = await show('tail');
    expect([answer.status, answer.body]).to.deep.equal([200, { camera_id: 'tail', source: tail.url }]);
    expect(await video()).to.include({ camera: 'tail', source: tail.url, state: 'running', restarts: 0 });
    await seenOf(before + 30);
    const picture = await node.fetch('/api/video/snapshot', { headers: KEYED });
    expect((await decodeJpeg(Buffer.from(await picture.arrayBuffer()))).grey).to.equal(true);
    expect((await show('main')).status).to.equal(200);
    await seenOf(units.length + 20);

    const stopped = await node.json('/api/video/record/stop', { method: 'POST', headers: KEYED });
    expect(stopped.body['files'], JSON.stringify(stopped.body)).to.have.length(1);
    leaving.abort();
    await watched;
    await node.request(session, { method: 'DELETE', headers: KEYED });
    await peer.close();

    const from = units.findIndex(({ key }) => key);
    const seen = await decodeH264(units.slice(from).map(({ data }) => data));
    expect(sides(seen)).to.equal('main tail main');
    const turns = seen.flatMap(({ grey }, at) => (at > 0 && grey !== seen[at - 1]?.grey ? [at + from] : []));
    for (const turn of turns) expect(units[turn]?.key, 'it begins with a key frame').to.equal(true);
    for (const [at, { came, at: time }] of units.entries()) {
      const last = units[at - 1];
      if (last === undefined) continue;
      expect(came - last.came, `gap before picture ${at}`).to.be.below(700);
      expect(time).to.be.above(last.at);
    }
    const file = join(node.base, 'film.mp4');
    await writeFile(file, Buffer.concat(film));
    expect(sides((await decodeFile(file)).pictures)).to.equal('main tail main');
    const recorded = await decodeFile(join(node.paths.recordings, String(stopped.body['name'])));
    expect(sides(recorded.pictures)).to.equal('main tail main');

    const sent: Buffer[] = [];
    const rtp = new RtpDepacketizer((data, key) => {
      if (key || sent.length > 0) sent.push(data);
    });
    for (const [at, datagram] of receiver.datagrams.entries()) rtp.push(datagram, at);
    expect(rtp.counters).to.deep.equal({ lost: 0, refused: 0 });
    expect(sides(await decodeH264(sent))).to.equal('main tail main');
  });

  it('one that gives nothing changes nothing, and the answer says why', async () => {
    for (const [id, why] of [
      ['dead', /refused/i],
      ['away', /video97|No such/],
    ] as const) {
      const { status, body } = await show(id);
      expect([status, body['code']], id).to.deep.equal([503, 'E_NO_PIPELINE']);
      expect(body['detail']).to.match(why);
      expect(await video()).to.include({ camera: 'main', source: 'bars', state: 'running', restarts: 0 });
    }
  });

  it('one that is not shown gives a picture all the same, and the one that is shown goes on', async () => {
    const look = async (query: string) => node.fetch(`/api/video/snapshot?${query}`, { headers: KEYED });
    expect(await video()).to.include({ camera: 'main' });
    for (const [id, grey] of [
      ['tail', true],
      ['main', false],
    ] as const) {
      const answer = await look(`camera=${id}`);
      expect(answer.status, id).to.equal(200);
      const seen = await decodeJpeg(Buffer.from(await answer.arrayBuffer()));
      expect(seen, id).to.include({ grey, width: 640, height: 360 });
    }
    for (const [query, status, code] of [
      ['camera=dead', 503, 'E_NO_FRAME'],
      ['camera=away', 503, 'E_NO_FRAME'],
      ['camera=nose', 404, 'E_NOT_FOUND'],
      ['camera=tail&boxes=1', 409, 'E_NO_DETECTOR'],
      ['camera=', 422, 'E_INVALID_VALUE'],
      ['camera=tail&width=0', 422, 'E_INVALID_VALUE'],
    ] as const) {
      const answer = await look(query);
      expect([answer.status, await answer.json()], query).to.have.nested.property('1.code', code);
      expect(answer.status, query).to.equal(status);
    }
    expect(await video()).to.include({ camera: 'main', state: 'running', restarts: 0 });
  });

  it('one that is asked again and again is dialled once, and let go when nobody asks', async () => {
    const dialled = tail.logins.length;
    for (let question = 0; question < 6; question++) {
      const answer = await node.fetch('/api/video/snapshot?camera=tail&width=160', { headers: KEYED });
      const seen = await decodeJpeg(Buffer.from(await answer.arrayBuffer()));
      expect(seen).to.include({ grey: true, width: 160, height: 90 });
      const taken = Date.parse(answer.headers.get('x-captured-at') ?? '');
      expect(Date.now() - taken, 'age of the picture').to.be.within(-10, 2500);
    }
    const { length } = tail.logins;
    expect(length - dialled, 'requests of one connection at most').to.be.below(5);
    await askAgain(
      'nobody plays it',
      async () => tail.playing,
      (playing) => playing === 0,
    );
    const small = await node.fetch('/api/video/snapshot?width=320', { headers: KEYED });
    expect(await decodeJpeg(Buffer.from(await small.arrayBuffer()))).to.include({ width: 320, height: 180 });
    // It is shown while somebody looks at it: the look ends first.
    expect((await node.fetch('/api/video/snapshot?camera=tail', { headers: KEYED })).status).to.equal(200);
    expect((await show('tail')).status).to.equal(200);
    expect(tail.playing).to.equal(1);
    const main = await node.fetch('/api/video/snapshot?camera=main', { headers: KEYED });
    expect(await decodeJpeg(Buffer.from(await main.arrayBuffer()))).to.include({ grey: false });
    expect((await show('main')).status).to.equal(200);
  });

  it('one that is not known, and none: refused', async () => {
    expect((await show('nose')).body).to.include({ code: 'E_NOT_FOUND' });
    expect((await show('')).body).to.include({ code: 'E_INVALID_VALUE' });
  });

  it('what is shown survives svc-video, and not the node', async () => {
    expect((await show('tail')).status).to.equal(200);
    await node.killAndAwaitSuccessor('svc-video');
    await askAgain(
      'it is shown again',
      video,
      ({ camera, state, restarts }) => camera === 'tail' && state === 'running' && restarts === 0,
    );
    expect((await show('main')).status).to.equal(200);
  });
});

describe('the login of a camera', function () {
  this.timeout(60_000);

  it('goes to the host that it was set for, and to no other', async () => {
    const [own, other] = [
      await RtspCamera.start('pilot:right'),
      await RtspCamera.start(null, { grey: true }),
    ];
    const config = [
      'video:',
      `  source: '${own.url}'`,
      '  username: pilot',
      '  password: right',
      "  radio: ''",
      '  cameras:',
      `    - {id: same, name: Same host, source: '${own.url}/2'}`,
      `    - {id: other, name: Other host, source: '${other.url}'}`,
    ].join('\n');
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config: `${config}\n` });
    try {
      await pictures(node);
      for (const id of ['same', 'other']) {
        const { status } = await node.json('/api/video/camera', {
          method: 'PUT',
          headers: { ...KEYED, 'content-type': 'application/json' },
          body: JSON.stringify({ camera_id: id }),
        });
        expect(status, id).to.equal(200);
      }
      expect(other.logins).to.have.length.above(2);
      expect(new Set(other.logins)).to.deep.equal(new Set(['']));
    } finally {
      await node.stop();
      await own.stop();
      await other.stop();
    }
  });
});
