import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { ModelMeta } from '../../shared/schemas/vision.ts';
import { modelFiles } from '../../shared/vision/model-files.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const KEYED = { 'x-svc-key': KEY } as const;
const METADATA = { id: 'mine', classes: ['marker'], head: 'yolov8', input_w: 320, input_h: 320 } as const;

type Answer = { status: number; body: Record<string, unknown> };

describe('models over HTTP', function () {
  this.timeout(90_000);
  let node: TestNode;
  let host: Server;
  let base: string;
  let marker: Buffer;
  let sha256: string;
  let lists = 0;
  let list: unknown;
  before(async () => {
    marker = await readFile(modelFiles('', 'marker').model);
    sha256 = createHash('sha256').update(marker).digest('hex');
    host = createServer((req, res) => {
      switch (req.url) {
        case '/list.json':
          lists++;
          res.writeHead(200, { etag: '"1"' }).end(JSON.stringify(list));
          return;
        case '/marker.onnx':
          res.end(marker);
          return;
        case '/moved':
          res.writeHead(302, { location: '/marker.onnx' }).end();
          return;
        case '/away':
          res.writeHead(302, { location: 'http://localhost:1/marker.onnx' }).end();
          return;
        case '/huge':
          res.writeHead(200, { 'content-length': 300 * 1024 * 1024 }).write('x');
          return;
        default:
          res.writeHead(404).end();
      }
    });
    host.listen(0, '127.0.0.1');
    await once(host, 'listening');
    base = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    list = { models: [{ id: 'marker-2', url: '/marker.onnx', sha256, metadata: METADATA }] };
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `vision:\n  registry: ${base}/list.json\n  models_max_mb: 1\n`,
    });
  });
  after(async () => {
    await node.stop();
    host.closeAllConnections();
    host.close();
  });

  const send = async (method: string, path: string, body?: unknown): Promise<Answer> =>
    node.json(path, {
      method,
      headers: { ...KEYED, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const upload = async (file: Uint8Array | null, metadata: unknown): Promise<Answer> => {
    const form = new FormData();
    if (metadata !== undefined)
      form.set('metadata', typeof metadata === 'string' ? metadata : JSON.stringify(metadata));
    if (file !== null) form.set('file', new Blob([new Uint8Array(file)]), 'model.onnx');
    const answer = await node.fetch('/api/vision/models', { method: 'POST', headers: KEYED, body: form });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const download = async (path: string, digest = sha256): Promise<Answer> =>
    send('POST', '/api/vision/models', {
      url: path.startsWith('/') ? `${base}${path}` : path,
      sha256: digest,
      metadata: { ...METADATA, id: 'fetched' },
    });
  const models = async (): Promise<Record<string, unknown>> => (await send('GET', '/api/vision/models')).body;
  const nothingNew = async (): Promise<void> => {
    expect((await models())['custom']).to.deep.equal([]);
    const left = await readdir(node.paths.models, { recursive: true });
    expect(left.filter((name) => name !== '.incoming')).to.deep.equal([]);
  };

  it('a node has those of the program, and shows what the list offers', async () => {
    const { installed, ...rest } = await models();
    expect((installed as ModelMeta[]).map(({ id, builtin }) => [id, builtin])).to.deep.equal([
      ['marker', true],
    ]);
    expect(rest).to.deep.equal({
      registry: [{ id: 'marker-2', url: `${base}/marker.onnx`, sha256, metadata: METADATA }],
      registry_error: null,
      custom: [],
      active: null,
      cache: { used_bytes: 0, max_bytes: 1e6, used_mb: 0, max_mb: 1 },
    });
    await models();
    expect(lists, 'kept for a minute').to.equal(1);
  });

  describe('is refused, and nothing is left:', () => {
    const noise = Buffer.from('this is no model at all');
    const REFUSED: readonly [string, () => Promise<Answer>, number, string][] = [
      ['a file that is not ONNX', async () => upload(noise, METADATA), 422, 'E_MODEL'],
      ['an empty file', async () => upload(Buffer.alloc(0), METADATA), 422, 'E_MODEL'],
      ['half a model', async () => upload(marker.subarray(0, 3000), METADATA), 422, 'E_MODEL'],
      [
        'another size than it says',
        async () => upload(marker, { ...METADATA, input_w: 640 }),
        422,
        'E_MODEL',
      ],
      ['another head than it says', async () => upload(marker, { ...METADATA, head: 'ssd' }), 422, 'E_MODEL'],
      ['one without metadata', async () => upload(marker, undefined), 422, 'E_INVALID_VALUE'],
      ['metadata that is no JSON', async () => upload(marker, '{'), 422, 'E_INVALID_VALUE'],
      ['a form without a file', async () => upload(null, METADATA), 400, 'E_BAD_REQUEST'],
      [
        'a name that leads elsewhere',
        async () => upload(marker, { ...METADATA, id: '../x' }),
        422,
        'E_INVALID_VALUE',
      ],
      [
        'the name of a model of the program',
        async () => upload(noise, { ...METADATA, id: 'marker' }),
        409,
        'E_MODEL_EXISTS',
      ],
      ['more than there is space for', async () => upload(Buffer.alloc(2e6), METADATA), 507, 'E_DISK_FULL'],
      [
        'an address of another host',
        async () => download('http://localhost:1/marker.onnx'),
        422,
        'E_INVALID_VALUE',
      ],
      ['an address that leads to another host', async () => download('/away'), 422, 'E_INVALID_VALUE'],
      ['an address with nothing there', async () => download('/none'), 502, 'E_UPSTREAM'],
      ['an address with too much', async () => download('/huge'), 507, 'E_DISK_FULL'],
      ['another SHA-256', async () => download('/marker.onnx', '0'.repeat(64)), 422, 'E_INVALID_VALUE'],
    ];
    for (const [what, work, status, code] of REFUSED) {
      it(what, async () => {
        const answer = await work();
        expect([answer.status, answer.body['code']], JSON.stringify(answer.body)).to.deep.equal([
          status,
          code,
        ]);
        await nothingNew();
      });
    }

    it('wrong metadata is pointed at, each member', async () => {
      const { body } = await upload(marker, { ...METADATA, head: 'x', colour: 1 });
      expect((body['errors'] as { path: string }[]).map(({ path }) => path).toSorted()).to.deep.equal([
        '/metadata/colour',
        '/metadata/head',
      ]);
    });
  });

  describe('that fit', () => {
    it('one is checked, stored, and the same again changes nothing', async () => {
      const first = await upload(marker, METADATA);
      expect(first.status, JSON.stringify(first.body)).to.equal(200);
      expect(first.body).to.deep.include({ ...METADATA, name: 'mine', sha256, size_bytes: marker.length });
      expect(first.body['inference_ms']).to.be.above(0);
      expect(await upload(marker, METADATA)).to.deep.equal(first);
      const { custom, cache } = await models();
      expect(custom).to.deep.equal(['mine']);
      expect(cache).to.include({ used_bytes: marker.length });
    });

    it('one is fetched from the host of the list, also over a redirect', async () => {
      const { status, body } = await download('/moved');
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body).to.include({ id: 'fetched', sha256 });
    });

    it('without video it is chosen, and svc-vision does not run; then it cannot be deleted until none is chosen', async () => {
      expect((await send('PUT', '/api/vision/detector', { model_id: 'mine' })).body).to.deep.equal({
        model_id: 'mine',
        enabled: false,
        restart: { pid_before: null, pid_after: null },
      });
      expect((await models())['active']).to.equal('mine');
      const { body } = await send('GET', '/api/vision/status');
      expect(body).to.include({ state: 'down', model_id: 'mine', fps: null });
      expect(body['last_error']).to.include('needs video');
      const refused = await send('DELETE', '/api/vision/models/mine');
      expect([refused.status, refused.body['code']]).to.deep.equal([409, 'E_MODEL_IN_USE']);
      expect((await send('DELETE', '/api/vision/detector')).body).to.include({
        model_id: null,
        enabled: false,
      });
      expect((await send('DELETE', '/api/vision/models/mine')).body).to.deep.equal({
        id: 'mine',
        deleted: true,
      });
      expect((await models())['custom']).to.deep.equal(['fetched']);
      expect((await send('DELETE', '/api/vision/models/marker')).status).to.equal(409);
    });
  });
});
