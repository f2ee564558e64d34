import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { splitNals } from '../../shared/media/h264.ts';
import { NAL265, nalType265 } from '../../shared/media/h265.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { decodeFile, decodeH264, decodeH265, decodeJpeg } from '../support/pictures.ts';
import { bindTo, boundPair, GROUND } from '../support/radios.ts';
import { RtspCamera } from '../support/rtsp-camera.ts';
import { freePort } from '../support/temp.ts';
import { UdpReceiver } from '../support/udp-receiver.ts';
import { KEYED, pictures, play, type Unit, unitsOf } from '../support/video-node.ts';

const DRONE = '0000000000d1';
/** ITU-T H.222.0, table 2-34. */
const H265_IN_PMT = 0x24;
const NOT_PICTURES: readonly number[] = [NAL265.vps, NAL265.sps, NAL265.pps, NAL265.aud];

/** The NAL units of pictures, each as hexadecimal text; none of them is written anew on its way. */
const picturesOf = (unit: Buffer): string =>
  splitNals(unit)
    .filter((nal) => !NOT_PICTURES.includes(nalType265(nal)))
    .map((nal) => nal.toString('hex'))
    .join(' ');

/** As an MP4 has them: each with its length in four bytes. */
function unpacked(sample: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at + 4 < sample.length; at += 4 + sample.readUInt32BE(at))
    parts.push(Buffer.from([0, 0, 0, 1]), sample.subarray(at + 4, at + 4 + sample.readUInt32BE(at)));
  return Buffer.concat(parts);
}

/** That these are pictures of the camera, byte by byte, one after the other. */
function expectPassedOn(camera: RtspCamera, units: readonly Buffer[], what: string): void {
  const sent = camera.sent.map(picturesOf);
  const came = units.map(picturesOf);
  const from = sent.indexOf(came[0] ?? '');
  expect(from, `${what}: the first picture is one of the camera's`).to.be.above(-1);
  expect(came.length, what).to.be.above(10);
  for (const [at, unit] of came.entries())
    expect(unit === sent[from + at], `${what}: picture ${at} of ${came.length}`).to.equal(true);
}

function received(datagrams: readonly Buffer[]): {
  units: Buffer[];
  codecs: Set<string>;
  types: Set<number>;
} {
  const units: Buffer[] = [];
  const codecs = new Set<string>();
  const rtp = new RtpDepacketizer((data, key, codec) => {
    if (!key && units.length === 0) return;
    units.push(data);
    codecs.add(codec);
  });
  for (const [at, datagram] of datagrams.entries()) rtp.push(datagram, at);
  return { units, codecs, types: new Set(datagrams.map((datagram) => datagram.readUInt8(1) & 0x7f)) };
}

const of = async (node: TestNode) => (await node.json('/api/video', { headers: KEYED })).body;

/** Records until `enough`. @returns the files */
async function recorded(node: TestNode, work: () => Promise<unknown>): Promise<readonly string[]> {
  const started = await node.post('/api/video/record/start', {}, KEYED);
  expect(started.status, JSON.stringify(started.body)).to.equal(200);
  await work();
  const { body } = await node.json('/api/video/record/stop', { method: 'POST', headers: KEYED });
  const names = body['files'];
  if (!Array.isArray(names)) throw new Error(JSON.stringify(body));
  return names.map((name) => join(node.paths.recordings, String(name)));
}

const LITTLE = 'hero: {width: 640, height: 360, fps: 15, bitrate_kbps: 800}';
/** In the log, while pictures are encoded for browsers. */
const FOR_BROWSERS = 'for browsers libx264';

describe('a camera that sends H.265', function () {
  this.timeout(120_000);
  let camera: RtspCamera;
  before(async () => {
    camera = await RtspCamera.start(null, { codec: 'h265' });
  });
  after(async () => camera.stop());

  describe('goes untouched', () => {
    let node: TestNode;
    let ground: TestNode;
    let rtp: UdpReceiver;
    let ts: UdpReceiver;
    before(async () => {
      [rtp, ts] = [await UdpReceiver.open(), await UdpReceiver.open()];
      const port = await freePort();
      const config = [
        'video:',
        `  source: ${camera.url}`,
        `  radio: '127.0.0.1:${port}'`,
        `  outputs: ['rtp://127.0.0.1:${rtp.port}', 'mpegts://127.0.0.1:${ts.port}']`,
        `  ${LITTLE}`,
        '  cameras: [{id: test, name: Test, source: test}]',
      ].join('\n');
      node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config: `${config}\n` });
      ground = await TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `agent:\n  profile: ground-station\nvideo:\n  source: auto\n  ${LITTLE}\n`,
        prepare: bindTo(GROUND, boundPair(DRONE).atGround),
        env: { SVC_RADIO_VIDEO_PORT: String(port), SVC_RADIO_MAVLINK_PORT: String(await freePort()) },
      });
      await pictures(node);
    });
    after(async () => {
      await ground?.stop();
      await node?.stop();
      await rtp?.[Symbol.asyncDispose]();
      await ts?.[Symbol.asyncDispose]();
    });

    it('to receivers of RTP and MPEG-TS and to the disk, and no encoder runs', async () => {
      expect(await of(node)).to.include({ codec: 'h265', encoder: null, profile: null, source: camera.url });
      const [file = ''] = await recorded(node, async () => {
        const { length } = camera.sent;
        await askAgain(
          'three seconds',
          async () => camera.sent.length,
          (now) => now > length + 45,
        );
      });
      const film = await decodeFile(file);
      expect(film.codec).to.equal('hevc hvc1');
      expectPassedOn(camera, film.packets.map(unpacked), 'recording');
      for (const seen of film.pictures) expect(seen).to.include({ width: 640, height: 360 });
      expect(film.pictures.every(({ clock }) => clock !== null)).to.equal(true);

      const { units, codecs, types } = received(rtp.datagrams);
      expect([[...codecs], [...types]]).to.deep.equal([['h265'], [97]]);
      expectPassedOn(camera, units, 'RTP');
      expect((await decodeH265(units)).every(({ clock }) => clock !== null)).to.equal(true);

      const path = join(node.base, 'film.ts');
      await writeFile(path, Buffer.concat(ts.datagrams));
      const stream = await decodeFile(path);
      expect(stream.codec).to.match(/^hevc/);
      expectPassedOn(camera, stream.packets, 'MPEG-TS');
      const pmt = ts.datagrams.find(
        (bytes) => (bytes.readUInt16BE(1) & 0x1fff) === 0x1000 || bytes.length > 376,
      );
      const at =
        pmt === undefined
          ? -1
          : pmt.findIndex(
              (_byte, from) => from % 188 === 0 && (pmt.readUInt16BE(from + 1) & 0x1fff) === 0x1000,
            );
      expect(pmt?.[at + 4 + 1 + 12]).to.equal(H265_IN_PMT);
      expect(node.stderr).to.not.include(FOR_BROWSERS);
    });

    it('over the radio to the ground station, which records it as it comes', async () => {
      await pictures(ground);
      expect(await of(ground)).to.include({ codec: 'h265', encoder: null });
      const [file = ''] = await recorded(ground, async () => {
        const { length } = camera.sent;
        await askAgain(
          'three seconds',
          async () => camera.sent.length,
          (now) => now > length + 45,
        );
      });
      const film = await decodeFile(file);
      expect(film.codec).to.equal('hevc hvc1');
      expectPassedOn(camera, film.packets.map(unpacked), 'recording of the ground station');
      expect(film.pictures.every(({ clock }) => clock !== null)).to.equal(true);
    });

    it('who watches gets H.264, which is encoded while somebody does', async () => {
      for (const each of [node, ground]) {
        expect(each.stderr).to.not.include(FOR_BROWSERS);
        const units = await unitsOf(each, (all) => all.length > 20);
        const seen = await decodeH264(units.map(({ data }) => data));
        expect(seen.length).to.be.above(15);
        for (const { width, clock } of seen) expect([width, clock === null]).to.deep.equal([640, false]);
        expect(Date.now() - (seen.at(-1)?.clock ?? 0)).to.be.within(0, 5000);
        expect(each.stderr).to.include(FOR_BROWSERS);
      }
      const leaving = new AbortController();
      const live = await node.fetch('/api/video/live.mp4', { headers: KEYED, signal: leaving.signal });
      expect(live.headers.get('content-type')).to.match(/codecs="avc1\./);
      const film: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of live.body ?? []) {
        film.push(chunk);
        bytes += chunk.length;
        if (bytes > 150_000) break;
      }
      leaving.abort();
      const path = join(node.base, 'live.mp4');
      await writeFile(path, Buffer.concat(film));
      const played = await decodeFile(path);
      expect(played.codec).to.equal('h264 avc1');
      expect(played.pictures.every(({ clock }) => clock !== null)).to.equal(true);
    });

    it('a snapshot is decoded from it', async () => {
      const answer = await node.fetch('/api/video/snapshot', { headers: KEYED });
      const { width, clock } = await decodeJpeg(Buffer.from(await answer.arrayBuffer()));
      expect(width).to.equal(640);
      expect(Date.now() - (clock ?? 0)).to.be.within(0, 5000);
    });

    it('another camera and back: viewers go on, each codec has files of its own', async () => {
      const units: Unit[] = [];
      const { peer, session } = await play(node, (unit) => units.push(unit));
      const grown = async (by: number): Promise<void> => {
        const { length } = units;
        await askAgain(
          'pictures',
          async () => units.length,
          (now) => now > length + by,
        );
      };
      const show = async (id: string) =>
        node.json('/api/video/camera', {
          method: 'PUT',
          headers: { ...KEYED, 'content-type': 'application/json' },
          body: JSON.stringify({ camera_id: id }),
        });
      await grown(15);
      const files = await recorded(node, async () => {
        await grown(20);
        expect((await show('test')).status).to.equal(200);
        await grown(20);
        expect(await of(node)).to.include({ codec: 'h264', encoder: 'libx264' });
        const look = await node.fetch('/api/video/snapshot?camera=main', { headers: KEYED });
        expect(look.status, 'a look at the camera that is not shown').to.equal(200);
        expect(await decodeJpeg(Buffer.from(await look.arrayBuffer()))).to.include({ width: 640 });
        expect((await show('main')).status).to.equal(200);
        await grown(20);
      });
      await node.request(session, { method: 'DELETE', headers: KEYED });
      await peer.close();
      const films = [];
      for (const file of files) films.push(await decodeFile(file));
      expect(films.map(({ codec }) => codec)).to.deep.equal(['hevc hvc1', 'h264 avc1', 'hevc hvc1']);
      for (const [at, unit] of units.entries())
        if (at > 0) expect(unit.at, `time of picture ${at}`).to.be.above(units[at - 1]?.at ?? 0);
      const from = units.findIndex(({ key }) => key);
      const seen = await decodeH264(units.slice(from).map(({ data }) => data));
      expect(seen.length).to.be.above(50);
      expect(seen.every(({ clock }) => clock !== null)).to.equal(true);
    });
  });

  it('with video.codec h264 it is encoded as every other one', async () => {
    const rtp = await UdpReceiver.open();
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `video:\n  source: ${camera.url}\n  radio: ''\n  codec: h264\n  outputs: ['rtp://127.0.0.1:${rtp.port}']\n  ${LITTLE}\n`,
    });
    try {
      await pictures(node);
      expect(await of(node)).to.include({ codec: 'h264', encoder: 'libx264' });
      await rtp.until((all) => all.length > 60);
      const { units, codecs, types } = received(rtp.datagrams);
      expect([[...codecs], [...types]]).to.deep.equal([['h264'], [96]]);
      expect((await decodeH264(units)).every(({ clock }) => clock !== null)).to.equal(true);
    } finally {
      await node.stop();
      await rtp[Symbol.asyncDispose]();
    }
  });
});
