import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { KEY } from '../support/edge.ts';
import { logged } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { batchOf, detectionOf, STATUS, StubVision } from '../support/stub-vision.ts';
import { pictures, TEST_CAMERA } from '../support/video-node.ts';

const KEYED = { 'x-svc-key': KEY } as const;
const JSON_KEYED = { ...KEYED, 'content-type': 'application/json' } as const;

describe('vision', function () {
  this.timeout(60_000);
  let node: TestNode;
  let stub: StubVision;
  before(async () => {
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `${TEST_CAMERA}mcp:\n  token_accept_enabled: true\n`,
    });
    await pictures(node);
    stub = new StubVision(node.paths.visionSocket);
  });
  after(async () => {
    await stub.server.stop();
    await node.stop();
  });

  const get = async (path: string) => (await node.json(path, { headers: KEYED })).body;
  const send = async (method: string, path: string, body?: unknown) =>
    node.json(path, {
      method,
      headers: JSON_KEYED,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const open = (): WebSocket =>
    new WebSocket(`${node.url.replace('http', 'ws')}/api/vision/detections/ws`, { headers: KEYED });
  const next = async (socket: WebSocket): Promise<Record<string, unknown>> => {
    const [data] = (await once(socket, 'message')) as [Buffer];
    return JSON.parse(data.toString()) as Record<string, unknown>;
  };

  describe('without a detector', () => {
    it('says that it is off, and claims no figures', async () => {
      const status = await get('/api/vision/status');
      expect(status).to.deep.equal({
        state: 'off',
        model_id: null,
        fps: null,
        latency_ms: null,
        inference_ms: null,
        threads: null,
        rate_hz: null,
        frames: null,
        dropped: null,
        memory_mb: null,
        designated: null,
        last_error: null,
      });
      expect(await get('/api/vision')).to.deep.equal(status);
      expect(await get('/api/vision/detections/latest')).to.deep.equal({ detections: [], detector: 'off' });
    });

    it('nothing can be followed: 503', async () => {
      const { status, body } = await send('POST', '/api/vision/designate', { track_id: 1 });
      expect(status).to.equal(503);
      expect(body).to.include({ code: 'E_UPSTREAM_DOWN' });
      expect((await send('POST', '/api/vision/designate', { release: true })).status).to.equal(503);
    });

    it('a WebSocket is closed with 1011 and the reason', async () => {
      const [code, reason] = (await once(open(), 'close')) as [number, Buffer];
      expect([code, reason.toString()]).to.deep.equal([1011, 'no detector is running']);
    });

    it('what is no target is 422', async () => {
      for (const body of [
        {},
        { bbox: { x: 1, y: 1, width: 0, height: 1 } },
        { track_id: 1, release: true },
        { track_id: 1, camera_id: 'other' },
      ])
        expect((await send('POST', '/api/vision/designate', body)).status).to.equal(422);
    });

    it('a model that is not there cannot be chosen or deleted', async () => {
      expect((await send('PUT', '/api/vision/detector', { model_id: 'nothing' })).status).to.equal(404);
      expect((await send('DELETE', '/api/vision/models/nothing')).status).to.equal(404);
    });
  });

  describe('with a detector', () => {
    before(async () => stub.start());

    it('its figures are told as it tells them', async () => {
      while ((await get('/api/vision'))['state'] !== 'running') await new Promise(setImmediate);
      expect(await get('/api/vision/status')).to.deep.equal(STATUS);
    });

    it('batches come over a WebSocket, the newest one at once; messages of the client end it', async () => {
      const socket = open();
      const first = next(socket);
      await once(socket, 'open');
      stub.server.tell('batch', batchOf(1, detectionOf('boat')));
      expect(await first).to.deep.equal(batchOf(1, detectionOf('boat')));
      const later = open();
      expect(await next(later)).to.include({ frame_id: 1 });
      const second = next(socket);
      stub.server.tell('batch', batchOf(2));
      expect(await second).to.deep.equal(batchOf(2));
      expect(await get('/api/vision/detections/latest'))
        .to.deep.include(batchOf(2))
        .and.have.property('detector');
      const closed = once(later, 'close');
      later.send('x');
      expect((await closed)[0]).to.equal(1008);
      socket.terminate();
    });

    it('what comes into view is in the log', async () => {
      const record = await logged(node, 'svc-residual', 'boat comes into view', KEYED);
      expect(JSON.stringify(record)).to.include('vision.seen').and.to.include('"track_id":1');
    });

    it('a target holds the full picture until it is released', async () => {
      expect((await send('POST', '/api/video/profile', { profile: 'thumbnail' })).body).to.include({
        profile: 'thumbnail',
      });
      const { status, body } = await send('POST', '/api/vision/designate', {
        bbox: { x: 1, y: 2, width: 3, height: 4 },
        class_label: 'boat',
        confidence: 0.5,
        camera_id: 'main',
      });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body).to.deep.equal({ designated: true, track_id: 1, camera_id: 'main', lock_state: 'locked' });
      expect(stub.calls.at(-1)).to.deep.equal({
        bbox: { x: 1, y: 2, width: 3, height: 4 },
        class_label: 'boat',
      });
      const held = await profileWith(true);
      expect(held).to.include({ profile: 'hero', base_profile: 'thumbnail' });
      expect(
        (await send('POST', '/api/video/profile', { profile: 'thumbnail', holder: 'vision' })).status,
        'nobody else releases it',
      ).to.equal(422);

      expect((await send('POST', '/api/vision/designate', { release: true })).body).to.deep.equal({
        designated: false,
        track_id: null,
        camera_id: 'main',
        lock_state: null,
      });
      expect(await profileWith(false)).to.include({ profile: 'thumbnail' });
    });

    it('what the detector does not see is 404', async () => {
      expect((await send('POST', '/api/vision/designate', { track_id: 7 })).status).to.equal(404);
    });

    it('a token that is revoked hears no more', async () => {
      const { body } = await send('POST', '/api/mcp/tokens', { label: 'watcher', scopes: ['read'] });
      const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/vision/detections/ws`, {
        headers: { 'x-svc-mcp-token': String(body['token']) },
      });
      await once(socket, 'open');
      const closed = once(socket, 'close');
      await send('POST', '/api/mcp/revoke', { token_id: body['token_id'] });
      await closed;
    });

    const profileWith = async (vision: boolean): Promise<Record<string, unknown>> => {
      for (;;) {
        const body = await get('/api/video/profile');
        const leases = body['leases'] as readonly { readonly holder: string }[];
        if (leases.some(({ holder }) => holder === 'vision') === vision) return body;
        await new Promise(setImmediate);
      }
    };
  });
});
