import { join } from 'node:path';
import { expect } from 'chai';
import { readStrip } from '../../residual/video/sources/clock-strip.ts';
import { LibcameraSource } from '../../residual/video/sources/libcamera-source.ts';
import { messageOf } from '../../shared/errors.ts';
import { systemVideoClock } from '../../shared/media/picture.ts';
import { CsiCameras, parseCsiCameras } from '../../shared/video/csi-cameras.ts';
import { FrameClient } from '../../shared/video/frame-client.ts';
import {
  type CsiPlan,
  installStandIn,
  ONE_CAMERA,
  planStandIn,
  standInRuns,
} from '../support/csi/stand-in-camera.ts';
import { engineStatus } from '../support/events.ts';
import { SAFE_PATH, type TestNode } from '../support/node.ts';
import { decodeJpeg } from '../support/pictures.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

const SIZE = { width: 320, height: 180, fps: 20 };

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // there is no such process
  }
}

describe('a CSI camera', function () {
  this.timeout(60_000);
  const path = process.env['PATH'];
  let base = '';
  let folder = '';

  beforeEach(async () => {
    base = await tempDir();
    folder = join(base, 'bin');
  });
  afterEach(async () => {
    process.env['PATH'] = path;
    await removeDir(base);
  });

  /** The stand-in for rpicam-vid, first on the PATH. */
  const install = async (plan: Partial<CsiPlan> = {}, name = 'rpicam-vid'): Promise<void> => {
    await installStandIn(folder, { ...ONE_CAMERA, ...plan }, name);
    process.env['PATH'] = `${folder}:${path}`;
  };

  interface Run {
    readonly sizes: string[];
    readonly clocks: (number | null)[];
    /** Null: it was stopped. */
    readonly problem: string | null;
  }
  /** Takes pictures until `enough`, or the source ends. */
  const watch = async (enough: (count: number) => boolean, size = SIZE, index = 0): Promise<Run> => {
    const stop = new AbortController();
    const sizes: string[] = [];
    const clocks: (number | null)[] = [];
    const source = new LibcameraSource(systemVideoClock(), index, size);
    const run = source.run(
      {
        wants: () => true,
        keysOnly: false,
        onUnit: () => undefined,
        onPicture: ({ frame, capturedAt }) => {
          const { width, height, data, linesize } = frame;
          const luma = data?.[0] ?? Buffer.alloc(0);
          const white = (x: number, y: number): boolean => (luma[y * (linesize[0] ?? 0) + x] ?? 0) > 128;
          clocks.push(readStrip(white, width, height, capturedAt));
          sizes.push(`${width}x${height}`);
          if (enough(sizes.length)) stop.abort();
        },
      },
      stop.signal,
    );
    const problem = await run.then(
      () => null,
      (error: unknown) => messageOf(error),
    );
    return { sizes, clocks, problem };
  };

  it('gives pictures through rpicam-vid, whole and in order, and the program ends with it', async () => {
    await install();
    const { sizes, clocks, problem } = await watch((count) => count === 10);
    expect(problem).to.equal(null);
    expect(new Set(sizes)).to.deep.equal(new Set(['320x180']));
    expect(clocks).to.not.include(null);
    expect(clocks).to.deep.equal(clocks.toSorted((a, b) => (a ?? 0) - (b ?? 0)));
    const [run] = await standInRuns(folder);
    expect(run?.args).to.equal(
      '--camera 0 --codec yuv420 --width 320 --height 180 --framerate 20 --timeout 0 --nopreview --flush --output -',
    );
    expect(isAlive(run?.pid ?? 0)).to.equal(false);
  });

  it('is asked for a width that libcamera does not pad, in the same shape', async () => {
    await install();
    const { sizes } = await watch((count) => count === 1, { width: 200, height: 112, fps: 10 });
    expect(sizes).to.deep.equal(['256x144']);
  });

  it('through libcamera-vid where that is its name', async () => {
    await install({}, 'libcamera-vid');
    expect((await watch((count) => count === 1)).problem).to.equal(null);
  });

  for (const [what, plan, words] of [
    ['no camera', { cameras: 0 }, 'rpicam-vid ended: no cameras available'],
    ['a camera that dies in a picture', { pictures: 3 }, 'rpicam-vid ended: camera device disconnected'],
  ] as const) {
    it(`${what}: the program's own words`, async () => {
      await install(plan);
      const { problem, sizes } = await watch(() => false);
      expect(problem).to.equal(words);
      expect(sizes).to.have.length('pictures' in plan ? plan.pictures : 0);
    });
  }

  it('another number than there are cameras', async () => {
    await install();
    const { problem } = await watch(() => false, SIZE, 1);
    expect(problem).to.equal('rpicam-vid ended: selected camera is not available');
  });

  it('one that hangs and does not listen to SIGTERM is killed', async () => {
    await install({ pictures: 2, after: 'stall', deaf: true });
    const { problem } = await watch((count) => count === 2);
    expect(problem).to.equal(null);
    const [run] = await standInRuns(folder);
    expect(isAlive(run?.pid ?? 0)).to.equal(false);
  });

  it('without the programs, the words name the package', async () => {
    process.env['PATH'] = folder;
    expect((await watch(() => false)).problem).to.match(/install the package rpicam-apps/);
    const { cameras, problem } = await new CsiCameras(() => 0).list();
    expect(cameras).to.deep.equal([]);
    expect(problem).to.match(/install the package rpicam-apps/);
  });

  it('the list has sensor, size and modes of each, and is kept for half a minute, or while one is in use', async () => {
    await install();
    let now = 0;
    const csi = new CsiCameras(() => now);
    const { cameras, problem } = await csi.list();
    expect(problem).to.equal(null);
    expect(cameras).to.have.length(1);
    expect(cameras[0]).to.deep.include({
      source: 'libcamera:0',
      device_path: '/base/soc/i2c0mux/i2c@1/imx219@10',
      label: 'imx219',
      width: 3280,
      height: 2464,
    });
    expect(cameras[0]?.modes.map(({ format, width, fps }) => [format, width, fps])).to.deep.equal([
      ['SRGGB10_CSI2P', 640, 206.65],
      ['SRGGB10_CSI2P', 1640, 41.85],
      ['SRGGB10_CSI2P', 3280, 21.19],
      ['SRGGB8', 640, 206.65],
      ['SRGGB8', 3280, 21.19],
    ]);
    await planStandIn(folder, { ...ONE_CAMERA, cameras: 0 });
    now = 29_000;
    expect((await csi.list()).cameras).to.have.length(1);
    now = 31_000;
    expect((await csi.list(true)).cameras).to.have.length(1);
    expect(await csi.list()).to.deep.equal({ cameras: [], problem: null });
  });

  it('two cameras, one of which says no size and no rate', () => {
    const cameras = parseCsiCameras(
      [
        'Available cameras',
        '-----------------',
        '0 : imx708_wide [4608x2592 10-bit RGGB] (/base/axi/pcie@120000/rp1/i2c@88000/imx708@1a)',
        "    Modes: 'SRGGB10_CSI2P' : 1536x864 [120.13 fps - (768, 432)/3072x1728 crop]",
        '',
        '1 : ov9281 [10-bit MONO] (/base/axi/pcie@120000/rp1/i2c@80000/ov9281@60)',
        "    Modes: 'R8' : 640x400 [nan fps - (0, 0)/0x0 crop]",
        '',
      ].join('\n'),
    );
    expect(
      cameras.map(({ source, label, width, modes }) => [source, label, width, modes[0]?.fps]),
    ).to.deep.equal([
      ['libcamera:0', 'imx708_wide', 4608, 120.13],
      ['libcamera:1', 'ov9281', null, null],
    ]);
  });

  it('a drone without a V4L2 camera finds it by itself, shows it, and comes back when it dies', async () => {
    await installStandIn(folder, { ...ONE_CAMERA, pictures: 40 });
    const node: TestNode = await startVideoNode({
      config:
        "video:\n  source: auto\n  radio: ''\n  hero: {width: 320, height: 180, fps: 20, bitrate_kbps: 400}\n",
      env: { PATH: `${folder}:${SAFE_PATH}`, SVC_SYS_DIR: join(base, 'sys'), SVC_DEV_DIR: join(base, 'dev') },
    });
    try {
      await planStandIn(folder, ONE_CAMERA);
      const { status, body } = await node.json('/api/video/cameras', { headers: KEYED });
      expect(status).to.equal(200);
      expect(body).to.include({ source: 'libcamera:0', problem: null, csi_problem: null });
      expect(
        (body['cameras'] as { type: string; label: string }[]).map(({ type, label }) => [type, label]),
      ).to.deep.equal([['csi', 'imx219']]);
      // It dies after 40 pictures, is started again, and then goes on.
      await engineStatus(node, ({ state, restarts }) => state === 'running' && restarts === 1);
      const frames = await FrameClient.connect(node.paths.framesSocket);
      const { header } = await frames.next({ width: 640, height: 640 }, new AbortController().signal);
      frames.close();
      expect(header).to.include({ frame_width: 320, frame_height: 180, width: 320, height: 180 });
      // The number goes on over the restart.
      expect(header.frame_id).to.be.above(40);
      const snapshot = await node.fetch('/api/video/snapshot', { headers: KEYED });
      const seen = await decodeJpeg(Buffer.from(await snapshot.arrayBuffer()));
      expect(Date.now() - (seen.clock ?? 0)).to.be.within(0, 20_000);
    } finally {
      await node.stop();
    }
    for (const { pid } of await standInRuns(folder)) expect(isAlive(pid)).to.equal(false);
  });
});
