import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { RtpHeader, RtpPacket } from 'werift';
import { MpegtsStream } from '../../residual/video/outputs/mpegts-stream.ts';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { av } from '../../shared/media/av.ts';
import { joinNals, splitNals } from '../../shared/media/h264.ts';
import { NAL265, nalType265 } from '../../shared/media/h265.ts';
import type { AccessUnit } from '../../shared/media/picture.ts';
import { packetize } from '../../shared/media/rtp-h264.ts';
import { packetize265 } from '../../shared/media/rtp-h265.ts';
import { askAgain } from '../support/ask-again.ts';
import { H265Encoder } from '../support/h265-encoder.ts';
import { decodeFile, keyFrameOfTestPicture, ofTestPicture } from '../support/pictures.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const SIZE = { width: 160, height: 90, fps: 10, bitrate_kbps: 200 };

/** A NAL unit as an encoder writes it, of the base layer: no start code inside, no zero at its end. */
const nal = fc
  .tuple(fc.constantFrom(1, 19, 20, 21, 39), fc.uint8Array({ minLength: 1, maxLength: 4000 }))
  .map(([type, bytes]) => Buffer.from([type << 1, 1, ...bytes.map((byte) => (byte === 0 ? 1 : byte))]));
const vps = Buffer.from([NAL265.vps << 1, 1, 0x0c, 0x01]);
/** As the first of a stream: something in it is known to be H.265. */
const unit = fc.array(nal, { minLength: 1, maxLength: 5 }).map((nals) => joinNals([vps, ...nals]));

let sequence = 65_530;
/** Serialised by another implementation of RTP than ours. */
function datagrams(
  payloads: readonly { readonly payload: Buffer; readonly marker: boolean }[],
  timestamp: number,
  { ssrc = 7, payloadType = 97 } = {},
): Buffer[] {
  return payloads.map(({ payload, marker }) => {
    const header = new RtpHeader({
      version: 2,
      payloadType,
      sequenceNumber: sequence,
      timestamp,
      ssrc,
      marker,
    });
    sequence = (sequence + 1) & 0xffff;
    return new RtpPacket(header, payload).serialize();
  });
}

function receiver() {
  const units: { data: Buffer; key: boolean; codec: string }[] = [];
  return { units, rtp: new RtpDepacketizer((data, key, codec) => units.push({ data, key, codec })) };
}

describe('H.265', function () {
  this.timeout(60_000);

  describe('over RTP', () => {
    it('what is sent is what comes out, byte by byte', () => {
      fc.assert(
        fc.property(fc.array(unit, { minLength: 1, maxLength: 4 }), (sent) => {
          const { units, rtp } = receiver();
          sent.forEach((data, index) => {
            for (const datagram of datagrams(packetize265(data), index * 3000)) rtp.push(datagram, index);
          });
          expect(units.map(({ data }) => data.toString('hex'))).to.deep.equal(
            sent.map((data) => data.toString('hex')),
          );
          for (const { data, key, codec } of units) {
            const types = splitNals(data).map(nalType265);
            expect([codec, key]).to.deep.equal(['h265', types.some((type) => type >= 16 && type <= 23)]);
          }
          expect(rtp.counters).to.deep.equal({ lost: 0, refused: 0 });
        }),
        { seed: 1, numRuns: 200 },
      );
    });

    it('no packet is larger than 1200 bytes, and the last one of a picture is marked', () => {
      const parts = packetize265(joinNals([vps, Buffer.alloc(50_000, 0x27)]));
      expect(Math.max(...parts.map(({ payload }) => payload.length))).to.be.at.most(1200);
      expect(parts.map(({ marker }) => marker).indexOf(true)).to.equal(parts.length - 1);
    });

    it('any loss costs the NAL units that it hit, and nothing else is invented', () => {
      fc.assert(
        fc.property(
          fc.array(unit, { minLength: 2, maxLength: 5 }),
          fc.infiniteStream(fc.boolean()),
          (sent, keep) => {
            const { units, rtp } = receiver();
            const all = new Set(sent.flatMap(splitNals).map((bytes) => bytes.toString('hex')));
            sent.forEach((data, index) => {
              for (const datagram of datagrams(packetize265(data), index * 3000))
                if (keep.next().value) rtp.push(datagram, index);
            });
            for (const bytes of units.flatMap(({ data }) => splitNals(data)))
              expect(all.has(bytes.toString('hex'))).to.equal(true);
          },
        ),
        { seed: 2, numRuns: 200 },
      );
    });

    it('an aggregation packet, as FFmpeg sends the parameter sets', () => {
      const { units, rtp } = receiver();
      const [sps, idr] = [Buffer.from('420101', 'hex'), Buffer.from('2801af', 'hex')];
      const several = Buffer.concat([
        Buffer.from('6001', 'hex'),
        ...[vps, sps].flatMap((one) => [Buffer.from([0, one.length]), one]),
      ]);
      const packets = [
        { payload: several, marker: false },
        { payload: idr, marker: true },
      ];
      for (const datagram of datagrams(packets, 9, { payloadType: 96 })) rtp.push(datagram, 0);
      expect(units.map(({ data, key, codec }) => [data.toString('hex'), key, codec])).to.deep.equal([
        [joinNals([vps, sps, idr]).toString('hex'), true, 'h265'],
      ]);
    });

    it('a sender that changes the codec is followed, with another payload type at once, else after a second', () => {
      const { units, rtp } = receiver();
      const new265 = (): readonly Buffer[] =>
        datagrams(packetize265(joinNals([vps, Buffer.from('2801af', 'hex')])), 1);
      const h264 = packetize(joinNals([Buffer.from('6742c01e', 'hex'), Buffer.from('65888401', 'hex')]));
      for (const datagram of new265()) rtp.push(datagram, 0);
      for (const datagram of datagrams(h264, 2, { payloadType: 96 })) rtp.push(datagram, 1);
      for (const datagram of new265()) rtp.push(datagram, 2);
      expect(units.map(({ codec }) => codec)).to.deep.equal(['h265', 'h264', 'h265']);
      for (const datagram of datagrams(h264, 4)) rtp.push(datagram, 900_000);
      expect(units).to.have.length(3);
      for (const datagram of datagrams(h264, 5)) rtp.push(datagram, 1_900_000);
      expect(units.map(({ codec, key }) => [codec, key]).at(-1)).to.deep.equal(['h264', true]);
    });
  });

  it('MPEG-TS begins anew when another camera sends the other codec, again and again', async () => {
    av(); // quiet
    const folder = await tempDir();
    const encoder = await H265Encoder.open(SIZE);
    const [h265] = await ofTestPicture(SIZE, async (frame) =>
      encoder.encode(frame, { capturedAt: 0, at: 0 }, true),
    );
    if (h265 === undefined) throw new Error('the encoder gave nothing');
    const h264: AccessUnit = { ...h265, codec: 'h264', data: await keyFrameOfTestPicture(SIZE) };
    const pieces: Buffer[] = [];
    const stream = new MpegtsStream((piece) => pieces.push(piece));
    for (let number = 0; number < 28; number++)
      stream.push({ ...(number % 8 < 4 ? h265 : h264), at: number * 100_000 });
    await askAgain(
      'all are written',
      async () => pieces.length,
      (count) => count >= 28,
    );
    await stream.stop();
    encoder.close();
    expect(stream.problem).to.equal(null);
    const path = join(folder, 'film.ts');
    await writeFile(path, Buffer.concat(pieces));
    const film = await decodeFile(path);
    expect(film.codec, 'whichever of both the file says first').to.match(/^(?:hevc|h264)/);
    expect(film.pictures.length).to.be.above(0);
    await removeDir(folder);
  });
});
