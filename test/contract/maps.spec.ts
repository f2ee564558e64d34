import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { FetchSource, PMTiles } from 'pmtiles';
import { Maps } from '../../residual/app/maps/maps.ts';
import { KEY } from '../support/edge.ts';
import { folderHas } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { tinyMap as mapOf } from '../support/pmtiles.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const KEYED = { 'x-svc-key': KEY } as const;
const TILE = Buffer.from('a picture of the whole world');

const tinyMap = (name = 'Tiny'): Buffer => mapOf(name, TILE);

describe('maps', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
  });
  after(async () => node.stop());

  const list = async () => (await node.json('/api/maps', { headers: KEYED })).body;
  const put = async (
    name: string,
    body: Uint8Array,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const answer = await node.fetch(`/api/maps/${name}`, {
      method: 'PUT',
      headers: KEYED,
      body: new Uint8Array(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const remove = async (name: string) => node.json(`/api/maps/${name}`, { method: 'DELETE', headers: KEYED });

  it('a node has none at first', async () => {
    const { maps, free_bytes: free, problem } = await list();
    expect(maps).to.deep.equal([]);
    expect(free).to.be.above(0);
    expect(problem).to.equal(null);
  });

  it('one is stored, described, read by range as a map reads it, replaced and deleted', async () => {
    const { status, body } = await put('alps.pmtiles', tinyMap());
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      name: 'alps.pmtiles',
      size_bytes: tinyMap().length,
      tile_type: 'png',
      min_zoom: 0,
      max_zoom: 5,
      bounds: [8.5, 47.1, 8.75, 47.5],
      center: [8.6, 47.3, 3],
      name_of_map: 'Tiny',
    });
    expect((await list())['maps']).to.deep.equal([body]);

    const map = new PMTiles(new FetchSource(`${node.url}/api/maps/alps.pmtiles`, new Headers(KEYED)));
    expect(Buffer.from((await map.getZxy(0, 0, 0))?.data ?? new ArrayBuffer(0))).to.deep.equal(TILE);
    const part = await node.fetch('/api/maps/alps.pmtiles', { headers: { ...KEYED, range: 'bytes=0-6' } });
    expect([part.status, await part.text()]).to.deep.equal([206, 'PMTiles']);
    expect(part.headers.get('content-type')).to.equal('application/vnd.pmtiles');
    const size = Number(part.headers.get('content-range')?.split('/')[1]);
    for (const [range, wanted] of [
      [`bytes=0-${'9'.repeat(20)}`, [206, size]],
      [`bytes=-${size + 1}`, [206, size]],
      ['bytes=-2', [206, 2]],
      ['bytes=5-2', [200, size]],
      [`bytes=${size}-`, [416, null]],
      ['bytes=-0', [416, null]],
    ] as const) {
      const answer = await node.fetch('/api/maps/alps.pmtiles', { headers: { ...KEYED, range } });
      const { byteLength } = await answer.arrayBuffer();
      expect([answer.status, wanted[1] === null ? null : byteLength], range).to.deep.equal(wanted);
    }

    expect((await put('alps.pmtiles', tinyMap('Newer'))).body).to.include({ name_of_map: 'Newer' });
    expect((await remove('alps.pmtiles')).body).to.deep.equal({ name: 'alps.pmtiles', deleted: true });
    expect((await remove('alps.pmtiles')).status).to.equal(404);
    expect((await list())['maps']).to.deep.equal([]);
  });

  it('one that was copied into the folder appears; what is no map is said and not served as one', async () => {
    await mkdir(node.paths.maps, { recursive: true });
    await writeFile(join(node.paths.maps, 'by-hand.pmtiles'), tinyMap());
    await writeFile(join(node.paths.maps, 'half.pmtiles'), tinyMap().subarray(0, 200));
    await writeFile(join(node.paths.maps, 'readme.txt'), 'not a map');
    await symlink(node.paths.config, join(node.paths.maps, 'link.pmtiles'));
    const { maps, problem } = await list();
    expect((maps as { name: string }[]).map(({ name }) => name)).to.deep.equal(['by-hand.pmtiles']);
    expect(problem).to.match(/half\.pmtiles: it has 200 bytes of \d+; link\.pmtiles: No map/);
    for (const name of ['link.pmtiles', 'readme.txt', 'none.pmtiles'])
      expect((await node.json(`/api/maps/${name}`, { headers: KEYED })).status, name).to.equal(404);
  });

  const refused: readonly [string, string, Uint8Array, number, RegExp][] = [
    ['another kind of file', 'x.pmtiles', Buffer.alloc(5000, 0x50), 422, /no PMTiles file/],
    ['an empty one', 'x.pmtiles', Buffer.alloc(0), 422, /no PMTiles file/],
    ['version 2', 'x.pmtiles', Buffer.from(tinyMap()).fill(2, 7, 8), 422, /version 2, and 3 is needed/],
    ['one that was cut off', 'x.pmtiles', tinyMap().subarray(0, -1), 422, /bytes of/],
    ['a name without the ending', 'x.zip', tinyMap(), 400, /ends in \.pmtiles/],
  ];
  for (const [name, file, body, status, why] of refused) {
    it(`${name} is not stored`, async () => {
      const answer = await put(file, body);
      expect(answer.status).to.equal(status);
      expect(answer.body['detail']).to.match(why);
      expect((await readdir(node.paths.maps)).filter((entry) => entry.includes(file))).to.deep.equal([]);
    });
  }

  it('a client that hangs up in the middle leaves nothing, and what was there stays', async () => {
    await put('kept.pmtiles', tinyMap());
    const upload = request(`${node.url}/api/maps/kept.pmtiles`, {
      method: 'PUT',
      headers: { ...KEYED, 'content-length': '100000' },
    });
    upload.on('error', () => undefined);
    upload.write(tinyMap('Other'));
    const isTemporary = (name: string): boolean => name.startsWith('.');
    await folderHas(node.paths.maps, (names) => names.some(isTemporary));
    upload.destroy();
    await folderHas(node.paths.maps, (names) => !names.some(isTemporary));
    expect(await readFile(join(node.paths.maps, 'kept.pmtiles'))).to.deep.equal(tinyMap());
  });

  it('what is larger than the limit is refused by its head', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const upload = request(`${node.url}/api/maps/big.pmtiles`, {
      method: 'PUT',
      headers: { ...KEYED, 'content-length': String(8 * 1024 ** 3 + 1) },
    });
    upload.on('response', ({ statusCode = 0 }) => resolve(statusCode)).on('error', () => undefined);
    upload.flushHeaders();
    expect(await promise).to.equal(413);
    upload.destroy();
  });

  it('a disk that is full enough takes none', async () => {
    const folder = await tempDir();
    try {
      const maps = new Maps(folder, Infinity);
      const error: unknown = await maps
        .store('x.pmtiles', Readable.from([tinyMap()]), null)
        .catch((cause: unknown) => cause);
      expect(error).to.include({ code: 'E_DISK_FULL', status: 507 });
      expect(await readdir(folder)).to.deep.equal([]);
    } finally {
      await removeDir(folder);
    }
  });
});
