import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { decodeFile, decodeH264 } from '../support/pictures.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { UdpReceiver } from '../support/udp-receiver.ts';
import { KEYED } from '../support/video-node.ts';

const TS_BYTES = 188;
/** As FFmpeg numbers them. */
const [PAT, PMT, PICTURE] = [0, 0x1000, 0x100] as const;
const H264_IN_PMT = 0x1b;

function tsPackets(datagrams: readonly Buffer[]): readonly Buffer[] {
  return datagrams.flatMap((datagram) =>
    Array.from({ length: datagram.length / TS_BYTES }, (_none, index) =>
      datagram.subarray(index * TS_BYTES, (index + 1) * TS_BYTES),
    ),
  );
}
const pidOf = (packet: Buffer): number => packet.readUInt16BE(1) & 0x1fff;

describe('video.outputs', () => {
  let node: TestNode;
  let rtp: UdpReceiver;
  let ts: UdpReceiver;
  before(async () => {
    [rtp, ts] = [await UdpReceiver.open(), await UdpReceiver.open()];
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: [
        'video:',
        '  source: test',
        "  radio: ''",
        '  outputs:',
        `    - rtp://127.0.0.1:${rtp.port}`,
        `    - mpegts://127.0.0.1:${ts.port}`,
        '  hero: {width: 640, height: 360, fps: 15, bitrate_kbps: 800}',
        '',
      ].join('\n'),
    });
  });
  after(async () => {
    await node.stop();
    await rtp[Symbol.asyncDispose]();
    await ts[Symbol.asyncDispose]();
  });

  it('RTP: H.264 that a receiver decodes', async () => {
    const units: Buffer[] = [];
    const depacketizer = new RtpDepacketizer((data, key) => {
      if (key || units.length > 0) units.push(data);
    });
    let taken = 0;
    const datagrams = await rtp.until((all) => {
      for (; taken < all.length; taken++) depacketizer.push(all[taken] ?? Buffer.alloc(0), taken);
      return units.length > 20;
    });
    for (const datagram of datagrams) expect(datagram.readUInt8(1) & 0x7f).to.equal(96);
    const seen = await decodeH264(units);
    expect(seen.length).to.be.above(15);
    for (const picture of seen) expect(picture).to.include({ width: 640, height: 360 });
    expect(seen.every(({ clock }) => clock !== null)).to.equal(true);
  });

  it('MPEG-TS: up to seven packets a datagram, tables and clock, and a film for a player', async () => {
    const datagrams = await ts.until(
      (all) => tsPackets(all).filter((packet) => pidOf(packet) === PICTURE && begins(packet)).length > 30,
    );
    for (const { length } of datagrams) {
      expect(length % TS_BYTES).to.equal(0);
      expect(length).to.be.within(TS_BYTES, 7 * TS_BYTES);
    }
    const packets = tsPackets(datagrams);
    expect(packets.every((packet) => packet[0] === 0x47)).to.equal(true);
    expect([...new Set(packets.map(pidOf))]).to.include.members([PAT, PMT, PICTURE]);
    const pmt = packets.find((packet) => pidOf(packet) === PMT);
    // Payload unit start, pointer, table of 12 bytes before the first stream.
    expect(pmt?.[4 + 1 + 12]).to.equal(H264_IN_PMT);
    // A receiver that comes later finds the tables within half a second.
    const pats = packets.flatMap((packet, index) => (pidOf(packet) === PAT ? [index] : []));
    expect(pats.length).to.be.above(4);
    const folder = await tempDir();
    const path = join(folder, 'film.ts');
    await writeFile(path, Buffer.concat(datagrams));
    const film = await decodeFile(path);
    await removeDir(folder);
    expect(film.pictures.length).to.be.above(20);
    expect(film.pictures.every(({ width, clock }) => width === 640 && clock !== null)).to.equal(true);
    const span = ((film.pictures.at(-1)?.clock ?? 0) - (film.pictures[0]?.clock ?? 0)) / 1000;
    expect(film.times.at(-1)).to.be.closeTo(span, 0.1);
  });

  it('GET /api/video counts for each', async () => {
    const { body } = await node.json('/api/video', { headers: KEYED });
    const outputs = body['outputs'] as readonly Record<string, unknown>[];
    expect(outputs.map(({ to, kind, problem, followed }) => [to, kind, problem, followed])).to.deep.equal([
      [`127.0.0.1:${rtp.port}`, 'rtp', null, false],
      [`127.0.0.1:${ts.port}`, 'mpegts', null, false],
    ]);
    for (const { packets, bytes } of outputs) {
      expect(packets).to.be.above(20);
      expect(bytes).to.be.above(20_000);
    }
    expect(body['follow_port']).to.equal(null);
  });
});

/** Whether a picture begins in this packet. */
function begins(packet: Buffer): boolean {
  return ((packet[1] ?? 0) & 0x40) !== 0;
}
