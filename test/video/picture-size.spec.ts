import { expect } from 'chai';
import fc from 'fast-check';
import { sizeOf } from '../../residual/video/engine/picture-size.ts';
import { joinNals, splitNals } from '../../shared/media/h264.ts';
import { NAL265, nalType265 } from '../../shared/media/h265.ts';
import { H265Encoder } from '../support/h265-encoder.ts';
import { decodeH264, decodeH265, keyFrameOfTestPicture, ofTestPicture } from '../support/pictures.ts';
import { sps264 } from '../support/sps-writer.ts';

const SIZES = [
  [160, 90],
  [176, 144],
  [322, 178],
  [640, 360],
  [1280, 720],
  [1920, 1080],
] as const;

describe('the size of a picture, by its parameter set', function () {
  this.timeout(60_000);

  for (const [width, height] of SIZES)
    it(`${width}x${height} is what FFmpeg decodes, H.264 and H.265`, async () => {
      const profile = { width, height, fps: 10, bitrate_kbps: 500 };
      const h264 = await keyFrameOfTestPicture(profile);
      const h265 = await ofTestPicture(profile, async (frame) => {
        const encoder = await H265Encoder.open(profile);
        const [unit] = await encoder.encode(frame, { capturedAt: 0, at: 0 }, true);
        return unit?.data ?? Buffer.alloc(0);
      });
      for (const [decoded, read] of [
        [await decodeH264([h264]), sizeOf('h264', h264)],
        [await decodeH265([h265]), sizeOf('h265', h265)],
      ] as const) {
        expect(read).to.deep.equal({ width, height });
        expect(decoded[0]).to.include({ width, height });
      }
    });

  const size = (set: Parameters<typeof sps264>[0]) => sizeOf('h264', joinNals([sps264(set)]));

  it('with fields, other colours, scaling lists, orders and margins, which cameras have and encoders here do not', () => {
    const [columns, rows] = [120, 34];
    for (const [set, expected] of [
      [{}, [1920, 544]],
      [{ fields: true }, [1920, 1088]],
      [{ fields: true, crop: [0, 0, 0, 2] }, [1920, 1080]],
      [{ crop: [1, 2, 0, 4] }, [1914, 536]],
      [{ profile: 100, lists: 8, order: 0, crop: [0, 0, 0, 2] }, [1920, 540]],
      [{ profile: 100, lists: 3, order: 1 }, [1920, 544]],
      [{ profile: 122, colours: 2, crop: [1, 0, 0, 4] }, [1918, 540]],
      [{ profile: 244, colours: 3, lists: 12, crop: [1, 0, 0, 4] }, [1919, 540]],
      [{ profile: 100, colours: 0, crop: [1, 0, 0, 4] }, [1919, 540]],
    ] as const) {
      const [width, height] = expected;
      expect(size({ columns, rows, ...set }), JSON.stringify(set)).to.deep.equal({ width, height });
    }
  });

  it('one that cannot be is none', () => {
    expect(size({ columns: 2000, rows: 10 })).to.equal(null);
    expect(size({ columns: 10, rows: 10, crop: [80, 0, 0, 0] })).to.equal(null);
    expect(size({ columns: 10, rows: 10, crop: [100, 0, 0, 0] })).to.equal(null);
    expect(sizeOf('h264', joinNals([Buffer.from([0x67])]))).to.equal(null);
    expect(sizeOf('h264', joinNals([Buffer.from([0x65, 1, 2, 3])]))).to.equal(null);
  });

  it('whatever a stranger writes there: a size within bounds, or none', async () => {
    const key = await ofTestPicture({ width: 160, height: 90, fps: 10 }, async (frame) => {
      const profile = { width: 160, height: 90, fps: 10, bitrate_kbps: 500 };
      const [unit] = await (await H265Encoder.open(profile)).encode(frame, { capturedAt: 0, at: 0 }, true);
      return unit?.data ?? Buffer.alloc(0);
    });
    const real = splitNals(key).find((nal) => nalType265(nal) === NAL265.sps) ?? Buffer.alloc(0);
    expect(real).to.have.length.above(10);
    const set = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => [0x67, ...bytes]),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => [0x42, 1, ...bytes]),
      fc.tuple(fc.nat(real.length - 1), fc.nat(255)).map(([at, byte]) => [...real].toSpliced(at, 1, byte)),
      fc.nat(real.length).map((length) => [...real.subarray(0, length)]),
    );
    fc.assert(
      fc.property(set, (bytes) => {
        for (const codec of ['h264', 'h265'] as const) {
          const found = sizeOf(codec, joinNals([Buffer.from(bytes)]));
          if (found !== null)
            for (const side of [found.width, found.height]) expect(side).to.be.within(2, 16_384);
        }
      }),
      { seed: 1, numRuns: 5000 },
    );
  });
});
