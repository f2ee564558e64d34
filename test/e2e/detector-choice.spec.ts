import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { modelFiles } from '../../shared/vision/model-files.ts';
import type { TestNode } from '../support/node.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

type Body = Record<string, unknown>;

describe('the choice of a detector', function () {
  this.timeout(120_000);
  let node: TestNode;
  before(async () => {
    node = await startVideoNode();
  });
  after(async () => node.stop());

  const send = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await node.json(path, {
      method,
      headers: { ...KEYED, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  };
  const status = async (): Promise<Body> => send('GET', '/api/vision/status');
  const firstWith = (model: string, socket: WebSocket): Promise<Body> =>
    new Promise((resolve, reject) => {
      socket.on('message', (data: Buffer) => {
        const batch = JSON.parse(data.toString()) as Body & { detections: unknown[] };
        if (batch['model_id'] === model && batch.detections.length > 0) resolve(batch);
      });
      socket.once('close', (code, why) => reject(new Error(`closed: ${code} ${why.toString()}`)));
      socket.once('error', reject);
    });
  const open = (): WebSocket =>
    new WebSocket(`${node.url.replace('http', 'ws')}/api/vision/detections/ws`, { headers: KEYED });

  it('starts a process that was not there, changes what it looks with, and ends it', async () => {
    expect(node.services.map(({ name }) => name)).to.not.include('svc-vision');
    const chosen = await send('PUT', '/api/vision/detector', { model_id: 'marker' });
    expect(chosen).to.deep.include({ model_id: 'marker', enabled: true });
    expect(chosen['restart']).to.include({ pid_before: null });
    const socket = open();
    expect(await firstWith('marker', socket)).to.include({ source: 'svc-vision', camera_id: 'main' });
    while ((await status())['state'] !== 'running') await once(socket, 'message');
    expect(await status()).to.include({ model_id: 'marker', last_error: null });

    const form = new FormData();
    form.set(
      'metadata',
      JSON.stringify({ id: 'mine', classes: ['thing'], head: 'yolov8', input_w: 320, input_h: 320 }),
    );
    form.set('file', new Blob([new Uint8Array(await readFile(modelFiles('', 'marker').model))]));
    const stored = await node.fetch('/api/vision/models', { method: 'POST', headers: KEYED, body: form });
    expect(stored.status, await stored.text()).to.equal(200);
    const next = firstWith('mine', socket);
    const pid = (chosen['restart'] as Body)['pid_after'];
    expect((await send('PUT', '/api/vision/detector', { model_id: 'mine' }))['restart']).to.include({
      pid_before: pid,
    });
    expect(JSON.stringify(await next)).to.include('"thing"');
    socket.removeAllListeners();

    const closed = once(socket, 'close');
    expect(await send('DELETE', '/api/vision/detector')).to.deep.include({ model_id: null, enabled: false });
    await node.until((services) => !services.some(({ name }) => name === 'svc-vision'));
    expect((await closed)[0]).to.equal(1011);
    expect(await status()).to.include({ state: 'off', model_id: null, fps: null });
    await send('DELETE', '/api/vision/models/mine');
  });
});
