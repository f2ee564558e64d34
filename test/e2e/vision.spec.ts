/// <reference lib="dom" />

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { Batch } from '../../shared/schemas/vision.ts';
import { markerBox } from '../../shared/video/test-marker.ts';
import { askAgain } from '../support/ask-again.ts';
import { noBrowser, openBrowser, signIn } from '../support/browser.ts';
import { callTool, connectStdio } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, type TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

/** The marker needs as long for a whole way. */
const WAY_MS = 8000;

describe('vision, from the camera to whoever uses it', function () {
  this.timeout(120_000);
  let node: TestNode;
  let home: string;
  let client: Client;
  before(async () => {
    home = await tempDir();
    node = await startVideoNode({
      config: "video:\n  source: test\n  radio: ''\nmcp:\n  token_accept_enabled: true\n",
    });
    const { body } = await node.post('/api/mcp/tokens', { scopes: ['read', 'safe_write'] }, KEYED);
    const args = ['--target', 'agent', node.url, '--token', String(body['token'])];
    client = await connectStdio({ args, home, key: KEY });
  });
  after(async () => {
    await client?.close();
    await node?.stop();
    await removeDir(home);
  });

  /** A WebSocket of detections ends while svc-residual is not connected with a new svc-vision, so this asks. */
  const latest = async (): Promise<Batch> =>
    askAgain(
      'a detection',
      async () =>
        (await node.json('/api/vision/detections/latest', { headers: KEYED })).body as unknown as Batch,
      ({ detections }) => detections.length > 0,
    );

  it('is off until somebody chooses a detector, and says so', async () => {
    expect((await svc(node.paths, 'vision', 'status')).stdout).to.include('no detector: off');
    expect((await callTool(client, 'status_get', { part: 'vision' })).value).to.include({
      state: 'off',
      model_id: null,
    });
    expect((await callTool(client, 'vision_detections')).value).to.deep.equal({
      detections: [],
      detector: 'off',
    });
    const { isError, value } = await callTool(client, 'video_snapshot', { boxes: true });
    expect(isError).to.equal(true);
    expect(JSON.stringify(value)).to.include('detector');
    const neither = await svc(node.paths, 'vision', 'detector');
    expect([neither.code, neither.stderr.includes('--off')]).to.deep.equal([2, true]);
  });

  it('the built-in one is chosen on the command line, and finds the marker where it is', async () => {
    expect((await svc(node.paths, 'vision', 'models')).stdout).to.match(/^marker +yolov8/m);
    const chosen = await svc(node.paths, 'vision', 'detector', 'marker');
    expect(chosen.code, chosen.stderr).to.equal(0);
    const { ts_ms: at, frame_width: width, frame_height: height, detections } = await latest();
    const wanted = markerBox(at, width, height);
    expect(detections).to.have.length(1);
    expect(detections[0]?.class_label).to.equal('marker');
    expect(detections[0]?.bbox.x).to.be.closeTo(wanted.x, wanted.width / 2);
    const status = await svc(node.paths, 'vision', 'status', '--json');
    expect(JSON.parse(status.stdout)).to.include({ model_id: 'marker', last_error: null });
  });

  it('an AI client sees it, follows it, gets the picture with its box, and lets go', async () => {
    const { value } = await callTool(client, 'vision_detections');
    const [{ track_id: track, class_label: label } = { track_id: null, class_label: '' }] = value[
      'detections'
    ] as Batch['detections'];
    expect(label).to.equal('marker');
    const followed = await callTool(client, 'vision_designate', { track_id: track });
    expect(followed.value['data']).to.deep.include({ designated: true, track_id: track });
    const picture = await callTool(client, 'video_snapshot', { boxes: true });
    expect(picture.kinds).to.deep.equal(['text', 'image']);
    expect((await callTool(client, 'status_get', { part: 'vision' })).value['designated']).to.deep.include({
      track_id: track,
    });
    const released = await callTool(client, 'vision_designate', { release: true });
    expect(released.value['data']).to.deep.include({ designated: false });
    const neither = await callTool(client, 'vision_designate', {});
    expect(neither.isError).to.equal(true);
  });

  describe('on the page', () => {
    let browser: Browser;
    before(async function () {
      if (noBrowser() !== null) this.skip();
      browser = await openBrowser();
    });
    after(async () => browser?.close());

    /** Where the box is and when the picture behind it was taken, in the same moment; of `count` pictures. */
    const looks = async (page: Page, count: number): Promise<readonly { x: number; clock: number }[]> =>
      page.evaluate(async (wanted) => {
        const video = document.querySelector('video');
        const canvas = document.createElement('canvas');
        const pen = canvas.getContext('2d', { willReadFrequently: true });
        if (video === null || pen === null) throw new Error('no video');
        const found: { x: number; clock: number }[] = [];
        while (found.length < wanted) {
          await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
          const box = document.querySelector<HTMLElement>('.fly__pane:not(.small) .fly__box');
          if (box === null) continue;
          canvas.width = video.videoWidth;
          canvas.height = Math.max(8, Math.round(video.videoHeight / 18));
          pen.drawImage(video, 0, 0);
          const { data } = pen.getImageData(0, canvas.height >> 1, canvas.width, 1);
          let bits = '';
          for (let cell = 0; cell < 40; cell++)
            bits += (data[Math.floor(((cell + 0.5) * canvas.width) / 40) * 4 + 1] ?? 0) > 128 ? '1' : '0';
          if (!bits.startsWith('1010')) continue;
          // The burnt-in clock is modulo 2^32.
          const low = parseInt(bits.slice(4, 36), 2);
          const now = Date.now();
          found.push({ x: parseFloat(box.style.left) / 100, clock: now - ((now - low) % 2 ** 32) });
        }
        return found;
      }, count);

    for (const way of ['WebRTC', 'film'] as const) {
      it(`the box is on the marker that is shown with it (${way})`, async () => {
        const page = await browser.newPage();
        if (way === 'film')
          await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'RTCPeerConnection'));
        await signIn(page, node.url, KEY);
        await page
          .getByText(/marker \d+ %/)
          .first()
          .waitFor();
        const seen = await looks(page, 60);
        const late = seen
          .map(({ x, clock }) => {
            const wanted = markerBox(clock, 1280, 720);
            return (
              (Math.abs(x - (wanted.x + wanted.width / 2) / 1280) * WAY_MS * 1280) / (1280 - wanted.width)
            );
          })
          .toSorted((a, b) => a - b);
        const median = late[late.length >> 1] ?? Number.NaN;
        expect(median).to.be.below(250);
        await page.close();
      });
    }
  });

  describe('in the end', () => {
    it('when it dies, the picture and the page’s other routes go on, and it comes back', async () => {
      await node.killAndAwaitSuccessor('svc-vision');
      expect((await node.json('/api/video', { headers: KEYED })).body['state']).to.equal('running');
      expect((await latest()).detections).to.have.length(1);
    });

    it('a model is given to the node by the command line, and taken away again', async () => {
      const meta = join(home, 'own.json');
      await writeFile(
        meta,
        JSON.stringify({ id: 'own', head: 'yolov8', input_w: 320, input_h: 320, classes: ['stripe'] }),
      );
      const file = join(ROOT, 'shared/vision/builtin/marker.onnx');
      const given = await svc(node.paths, 'vision', 'upload', file, '--meta', meta);
      expect(given.code, given.stderr).to.equal(0);
      expect(given.stdout).to.include('own is stored.');
      const wrong = await svc(node.paths, 'vision', 'upload', meta, '--meta', meta);
      expect(wrong.code).to.equal(1);
      const missing = await svc(node.paths, 'vision', 'upload', join(home, 'none'), '--meta', meta);
      expect(missing.code).to.equal(2);
      const gone = await svc(node.paths, 'vision', 'delete', 'own');
      expect([gone.code, gone.stdout]).to.deep.equal([0, 'own deleted.\n']);
    });

    it('is stopped on the command line', async () => {
      const off = await svc(node.paths, 'vision', 'detector', '--off');
      expect(off.code, off.stderr).to.equal(0);
      expect((await svc(node.paths, 'vision', 'status')).stdout).to.include('no detector: off');
      const gone = await svc(node.paths, 'vision', 'delete', 'marker');
      expect([gone.code, gone.stderr.includes('marker')]).to.deep.equal([1, true]);
    });
  });
});
