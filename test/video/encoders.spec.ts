import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Encoders } from '../../residual/video/engine/encoders.ts';
import { av } from '../../shared/media/av.ts';
import { type EncoderChoice, H264Encoder } from '../../shared/media/encoder.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const PROFILE = { width: 320, height: 180, fps: 10, bitrate_kbps: 300 } as const;
const NONE = ['h264_v4l2m2m', 'h264_nvenc', 'h264_qsv'];

describe('the encoder of this machine', () => {
  let base = '';
  let opened: string[] = [];

  before(() => void av());
  beforeEach(async () => {
    base = await tempDir();
    opened = [];
  });
  afterEach(async () => removeDir(base));

  /** The kernel shows these devices. */
  const device = async (kind: 'codec' | 'nvidia' | 'render'): Promise<void> => {
    const path = {
      codec: 'sys/class/video4linux/video11/name',
      nvidia: 'dev/nvidiactl',
      render: 'dev/dri/renderD128',
    }[kind];
    await mkdir(join(base, path, '..'), { recursive: true });
    await writeFile(join(base, path), 'bcm2835-codec-encode\n');
  };

  type Hardware = (profile: typeof PROFILE) => Promise<H264Encoder>;
  /** @param hardware stands in for what this machine does not have; without it, FFmpeg's own is opened */
  const encoders = (choice: EncoderChoice, hardware: Readonly<Record<string, Hardware>> = {}): Encoders =>
    new Encoders({
      choice,
      sys: join(base, 'sys'),
      dev: join(base, 'dev'),
      open: async (name, profile) => {
        opened.push(name);
        return hardware[name]?.(PROFILE) ?? H264Encoder.open(name, profile);
      },
    });
  const works: Hardware = async (profile) => H264Encoder.open('libx264', profile);

  it('without hardware it is libx264, nothing else is opened, and the reasons say what is missing', async () => {
    const all = encoders('auto');
    const encoder = await all.open(PROFILE);
    encoder.close();
    expect(encoder.name).to.equal('libx264');
    expect(opened).to.deep.equal(['libx264']);
    expect(all.passed).to.deep.equal([
      { encoder: 'h264_v4l2m2m', reason: 'no V4L2 device of this machine encodes' },
      { encoder: 'h264_nvenc', reason: 'there is no NVIDIA device' },
      { encoder: 'h264_qsv', reason: 'there is no graphics device' },
    ]);
  });

  it('devices that are there and do not work: the reason of each, in one line', async () => {
    for (const kind of ['codec', 'nvidia', 'render'] as const) await device(kind);
    const all = encoders('auto');
    const encoder = await all.open(PROFILE);
    encoder.close();
    expect(encoder.name).to.equal('libx264');
    expect(all.passed.map(({ encoder: name }) => name)).to.deep.equal(NONE);
    for (const { encoder: name, reason } of all.passed)
      expect(reason, name)
        .to.match(/^[^\n]{5,}$/)
        .and.not.include(name);
  });

  it('hardware that gives a picture is taken, and those after it are not asked', async () => {
    await device('nvidia');
    await device('render');
    const all = encoders('auto', { h264_nvenc: works });
    for (let count = 0; count < 2; count++) (await all.open(PROFILE)).close();
    // The probe, then each use; it is probed once.
    expect(opened).to.deep.equal(['h264_nvenc', 'h264_nvenc', 'h264_nvenc']);
    expect(all.passed.map(({ encoder }) => encoder)).to.deep.equal(['h264_v4l2m2m']);
  });

  it('hardware that opens and gives no picture is passed over', async () => {
    await device('nvidia');
    const silent: Hardware = async (profile) => {
      const encoder = await works(profile);
      encoder.encode = async () => Promise.resolve([]);
      return encoder;
    };
    const all = encoders('auto', { h264_nvenc: silent });
    const encoder = await all.open(PROFILE);
    encoder.close();
    expect(encoder.name).to.equal('libx264');
    expect(all.passed[1]).to.deep.equal({
      encoder: 'h264_nvenc',
      reason: 'it took 12 pictures and gave none back',
    });
  });

  it('hardware that fails at work is not taken again', async () => {
    await device('render');
    const all = encoders('auto', { h264_qsv: works });
    (await all.open(PROFILE)).close();
    expect(opened.at(-1)).to.equal('h264_qsv');
    all.failed('h264_qsv', 'device lost');
    (await all.open(PROFILE)).close();
    expect(opened.at(-1)).to.equal('libx264');
    expect(all.passed[2]).to.deep.equal({ encoder: 'h264_qsv', reason: 'device lost' });
  });

  it('hardware that does not take another profile is left, with its reason', async () => {
    await device('render');
    let fits = true;
    const all = encoders('auto', {
      h264_qsv: async (profile) => (fits ? works(profile) : Promise.reject(new Error('h264_qsv: too large'))),
    });
    (await all.open(PROFILE)).close();
    fits = false;
    const encoder = await all.open({ ...PROFILE, width: 640, height: 360 });
    encoder.close();
    expect([encoder.name, all.passed[2]?.reason]).to.deep.equal(['libx264', 'too large']);
  });

  it('one that the config names is the only one that is tried; where it gives nothing, libx264 does, with the reason', async () => {
    await device('render');
    const all = encoders('h264_v4l2m2m', { h264_qsv: works });
    const encoder = await all.open(PROFILE);
    encoder.close();
    expect([encoder.name, opened]).to.deep.equal(['libx264', ['libx264']]);
    expect(all.passed).to.deep.equal([
      { encoder: 'h264_v4l2m2m', reason: 'no V4L2 device of this machine encodes' },
    ]);
    const named = encoders('h264_qsv', { h264_qsv: works });
    (await named.open(PROFILE)).close();
    expect([opened.at(-1), named.passed]).to.deep.equal(['h264_qsv', []]);
    named.failed('h264_qsv', 'device lost');
    (await named.open(PROFILE)).close();
    expect([opened.at(-1), named.passed]).to.deep.equal([
      'libx264',
      [{ encoder: 'h264_qsv', reason: 'device lost' }],
    ]);
  });
});
