import { expect } from 'chai';
import { LinkConnection } from '../../residual/app/link-connection.ts';
import { EngineClient } from '../../residual/app/video/engine-client.ts';
import { openVideo, type Video } from '../../residual/app/video/video.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { ApiError } from '../../shared/errors.ts';
import { type Batch, CAMERA_ID } from '../../shared/schemas/vision.ts';
import { FrameClient } from '../../shared/video/frame-client.ts';
import { askAgain } from '../support/ask-again.ts';
import type { TestNode } from '../support/node.ts';
import { coloursOf, decodeJpeg } from '../support/pictures.ts';
import { silentLog } from '../support/pin-stores.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

const ever = new AbortController().signal;
const SIZE = { width: 320, height: 320 } as const;
const GREEN = [150, 44, 21] as const;

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );
}

describe('a snapshot with boxes', function () {
  this.timeout(60_000);
  let node: TestNode;
  let engine: EngineClient;
  let frames: FrameClient;

  before(async () => {
    node = await startVideoNode();
    const { promise, resolve } = Promise.withResolvers<void>();
    engine = new EngineClient(node.paths.videoSocket, () => resolve());
    engine.start();
    await promise;
  });
  after(async () => {
    engine.stop();
    await node.stop();
  });
  beforeEach(async () => {
    frames = await FrameClient.connect(node.paths.framesSocket);
  });
  afterEach(() => frames.close());

  const isGreen = (colour: readonly number[]): boolean =>
    colour.every((value, index) => Math.abs(value - (GREEN[index] ?? 0)) < 40);

  it('they are drawn on the very picture that was looked at, to the pixel, and on no other', async () => {
    const { header } = await frames.next(SIZE, ever);
    await frames.next(SIZE, ever);
    const box = { x: 700, y: 300, width: 200, height: 100, text: 'marker 87% #3' };
    const drawn = await engine.calls.snapshot({ frame_id: header.frame_id, boxes: [box] });
    const jpeg = Buffer.from(drawn.jpeg_base64, 'base64');
    expect(drawn.captured_at).to.equal(new Date(header.captured_at_ms).toISOString());
    expect(await decodeJpeg(jpeg)).to.deep.equal({
      width: 1280,
      height: 720,
      clock: header.captured_at_ms,
      grey: false,
    });
    const at = await coloursOf(jpeg);
    for (const [x, y] of [
      [700, 350],
      [898, 350],
      [800, 300],
      [800, 398],
    ] as const)
      expect(isGreen(at(x, y)), `${x},${y}: ${at(x, y).join(' ')}`).to.equal(true);
    for (const [x, y] of [
      [690, 350],
      [712, 350],
      [888, 350],
      [910, 350],
      [800, 312],
      [800, 412],
    ] as const)
      expect(isGreen(at(x, y)), `${x},${y}: ${at(x, y).join(' ')}`).to.equal(false);
    // The words above it: white on black.
    const row = Array.from({ length: 13 * 12 }, (_, x) => at(701 + x, 290)[0] ?? 0);
    expect(Math.max(...row)).to.be.above(200);
    expect(Math.min(...row)).to.be.below(50);

    const plain = await engine.calls.snapshot({ frame_id: header.frame_id });
    const clean = await coloursOf(Buffer.from(plain.jpeg_base64, 'base64'));
    expect(isGreen(clean(800, 300))).to.equal(false);
  });

  it('boxes at and beyond every edge, and a hundred of them, draw what is inside', async () => {
    const { header } = await frames.next(SIZE, ever);
    const edges = [
      { x: -50, y: -50, width: 100, height: 100, text: 'a' },
      { x: 1230, y: 670, width: 100, height: 100, text: 'W'.repeat(96) },
      { x: -9000, y: -9000, width: 16_000, height: 16_000, text: '\u{1f681} é' },
      { x: 10.5, y: 20.5, width: 0.1, height: 0.1, text: '' },
    ];
    const many = Array.from({ length: 96 }, (_, index) => ({
      x: index * 13,
      y: index * 7,
      width: 20,
      height: 20,
      text: String(index),
    }));
    const { jpeg_base64: text } = await engine.calls.snapshot({
      frame_id: header.frame_id,
      boxes: [...edges, ...many],
    });
    const at = await coloursOf(Buffer.from(text, 'base64'));
    expect(isGreen(at(20, 48))).to.equal(true);
    expect(isGreen(at(1231, 700))).to.equal(true);
  });

  it('a picture that nobody looked at, or that is long past, is E_NO_FRAME', async () => {
    const { header } = await frames.next(SIZE, ever);
    expect(await codeOf(engine.calls.snapshot({ frame_id: 1_000_000_000 }))).to.equal('E_NO_FRAME');
    for (let count = 0; count < 3; count++) await frames.next(SIZE, ever);
    expect(await codeOf(engine.calls.snapshot({ frame_id: header.frame_id }))).to.equal('E_NO_FRAME');
  });

  it('over HTTP: without a detector it is E_NO_DETECTOR, and another word than 1 is refused', async () => {
    const get = async (query: string) => node.json(`/api/video/snapshot${query}`, { headers: KEYED });
    const none = await get('?boxes=1');
    expect([none.status, none.body['code']]).to.deep.equal([409, 'E_NO_DETECTOR']);
    expect((await get('?boxes=yes')).status).to.equal(422);
    const plain = await node.fetch('/api/video/snapshot?boxes=0', { headers: KEYED });
    expect([plain.status, plain.headers.get('content-type')]).to.deep.equal([200, 'image/jpeg']);
  });

  it('with detections: their boxes, and the time of their picture', async () => {
    const { header } = await frames.next(SIZE, ever);
    let batch: Batch = {
      v: 1,
      source: 'svc-vision',
      model_id: 'marker',
      camera_id: CAMERA_ID,
      frame_id: header.frame_id,
      ts_ms: header.captured_at_ms,
      frame_width: 1280,
      frame_height: 720,
      latency_ms: null,
      detections: [
        {
          bbox: { x: 400, y: 300, width: 200, height: 100 },
          class_label: 'marker',
          confidence: 0.87,
          track_id: 3,
          lock_state: null,
        },
      ],
    };
    const { config } = await loadConfig(node.paths);
    const { paths } = node;
    const trees = { sys: paths.state, dev: paths.state, proc: paths.state };
    const link = new LinkConnection(paths.linkSocket);
    const video: Video = await openVideo({ config, paths, link, trees, log: silentLog }, () => batch);
    video.start();
    try {
      const handler = video.handlers['video.snapshot.get'];
      const call = { query: 'boxes=1' } as Parameters<typeof handler>[0];
      await askAgain(
        'it is connected with svc-video',
        async () => video.known(),
        (known) => 'is' in known,
      );
      const reply = (await handler(call)) as { body: Buffer; headers: Record<string, string> };
      expect(reply.headers['x-captured-at']).to.equal(new Date(header.captured_at_ms).toISOString());
      expect(isGreen((await coloursOf(reply.body))(500, 300))).to.equal(true);
      batch = { ...batch, camera_id: 'other' };
      expect(await codeOf(Promise.resolve().then(async () => handler(call)))).to.equal('E_NO_DETECTOR');
    } finally {
      video.stop();
    }
  });
});
