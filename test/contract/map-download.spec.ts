import { mkdir, readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { Compression, FetchSource, PMTiles, TileType } from 'pmtiles';
import { AreaDownload } from '../../residual/app/maps/area-download.ts';
import { Maps } from '../../residual/app/maps/maps.ts';
import { OfflineTiles } from '../../residual/app/maps/offline-tiles.ts';
import { chunksOf } from '../../shared/async/chunks.ts';
import { readEvents } from '../../shared/http/event-reader.ts';
import { writePmtiles } from '../../shared/maps/pmtiles-writer.ts';
import { listOf, recordOf } from '../../shared/member.ts';
import { TileCache } from '../../shared/tiles/tile-cache.ts';
import { type SourceConfig, TileSource } from '../../shared/tiles/tile-source.ts';
import { Tiles } from '../../shared/tiles/tiles.ts';
import { KEY } from '../support/edge.ts';
import { folderHas } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { TileServer, tileOf } from '../support/tile-server.ts';

type Json = Record<string, unknown>;
const KEYED = { 'x-svc-key': KEY } as const;
/** Around Zürich: 1 tile of zoom 8, 4 of zoom 10 and so on. */
const AREA = {
  source: 'good',
  bbox: [8.5, 47.3, 8.6, 47.4],
  min_zoom: 8,
  max_zoom: 13,
  name: 'field.pmtiles',
};

describe('an offline area', function () {
  this.timeout(60_000);
  let server: TileServer;
  let node: TestNode;
  before(async () => {
    server = await TileServer.start();
    server.behaviours.set('absent', (_, res) => res.writeHead(404).end());
    server.behaviours.set('broken', (_, res) => res.writeHead(403).end());
    const sources = ['good', 'slow', 'absent', 'broken', 'sea'].map((id) => server.source(id));
    const heights = server.source('heights', { tile: 'terrain', min_zoom: 3 });
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mcp:\n  token_accept_enabled: true\nmaps:\n  sources: ${JSON.stringify([...sources, heights])}\n`,
    });
  });
  after(async () => {
    await node.stop();
    await server.stop();
  });

  const make = async (more: Json = {}, headers: Record<string, string> = KEYED) =>
    node.post('/api/maps/download', { ...AREA, ...more }, headers);
  const list = async () => (await node.json('/api/maps', { headers: KEYED })).body;
  const remove = async (name: string) => node.json(`/api/maps/${name}`, { method: 'DELETE', headers: KEYED });
  const files = async (): Promise<readonly string[]> =>
    readdir(node.paths.maps).then((names) => names.filter((name) => name !== 'tiles'));

  /** Asks with events, and leaves after the first progress. */
  async function leave(more: Json): Promise<void> {
    const asking = request(`${node.url}/api/maps/download`, {
      method: 'POST',
      headers: { ...KEYED, 'content-type': 'application/json', accept: 'text/event-stream' },
    });
    asking.on('error', () => undefined).end(JSON.stringify({ ...AREA, ...more }));
    const found = Promise.withResolvers<AsyncIterable<Buffer>>();
    asking.on('response', (answer) => found.resolve(chunksOf(answer)));
    for await (const { event } of readEvents(await found.promise)) if (event === 'progress') break;
    asking.destroy();
  }

  /** Answers of this source wait until they are let go. */
  function held(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    let first = true;
    server.behaviours.set('slow', (_, res, tile) => {
      if (first) res.end(tile);
      else void promise.then(() => res.end(tile));
      first = false;
    });
    return resolve;
  }

  it('is counted before it is made, and nothing is fetched for that', async () => {
    const { status, body } = await make({ dry_run: true });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ attribution: '© Somebody', missing: 0, map: null });
    expect(body['tiles']).to.be.within(20, 60);
    expect(body['estimated_bytes']).to.equal(Number(body['tiles']) * 25_000);
    expect(body['free_bytes']).to.be.above(0);
    expect(server.count('good')).to.equal(0);
    expect((await list())['maps']).to.deep.equal([]);
  });

  it('becomes a map file with every tile, its progress is shown, and its tiles are there without the server', async () => {
    const answer = await node.fetch('/api/maps/download', {
      method: 'POST',
      headers: { ...KEYED, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(AREA),
    });
    const events = [];
    if (answer.body === null) throw new Error('no body');
    for await (const event of readEvents(answer.body as unknown as AsyncIterable<Buffer>)) events.push(event);
    const { status, body } = (events.at(-1)?.data ?? {}) as { status: number; body: Json };
    expect([status, events[0]?.event], JSON.stringify(body)).to.deep.equal([200, 'progress']);
    expect(body['map']).to.deep.include({
      name: 'field.pmtiles',
      tile_type: 'png',
      tile: 'raster',
      source: 'good',
      attribution: '© Somebody',
      name_of_map: 'field',
      min_zoom: 8,
      max_zoom: 13,
      bounds: AREA.bbox,
    });
    expect(server.count('good')).to.equal(body['tiles']);
    const map = new PMTiles(new FetchSource(`${node.url}/api/maps/field.pmtiles`, new Headers(KEYED)));
    const tile = await map.getZxy(13, 4290, 2868);
    expect(Buffer.from(tile?.data ?? new ArrayBuffer(0)).equals(tileOf(13, 4290, 2868))).to.equal(true);
    expect((await list())['maps']).to.deep.equal([body['map']]);

    // The source fails from now on, and its cache is gone.
    server.behaviours.set('good', (_, res) => res.writeHead(500).end());
    await removeDir(join(node.paths.maps, 'tiles'));
    const served = await node.fetch('/api/maps/tiles/good/13/4290/2868', { headers: KEYED });
    expect(Buffer.from(await served.arrayBuffer()).equals(tileOf(13, 4290, 2868))).to.equal(true);
    server.behaviours.delete('good');
  });

  it('of heights says so', async () => {
    const { body } = await make({ source: 'heights', name: 'heights.pmtiles', max_zoom: 9 });
    expect(body['map']).to.include({ tile: 'terrain', source: 'heights' });
  });

  it('is not made over a map that is there', async () => {
    const { status, body } = await make();
    expect([status, body['code']]).to.deep.equal([409, 'E_MAP_EXISTS']);
  });

  it('goes on without its client, is seen by others, is the only one, and can be stopped; then nothing is left', async () => {
    const release = held();
    await leave({ source: 'slow', name: 'slow.pmtiles' });
    const [running] = (await list())['downloads'] as Json[];
    expect(running).to.include({ name: 'slow.pmtiles', source: 'slow' });
    expect(running?.['done']).to.be.below(Number(running?.['total']));
    const second = await make({ name: 'other.pmtiles' });
    expect([second.status, second.body['code']]).to.deep.equal([409, 'E_BUSY']);
    expect((await make({ name: 'other.pmtiles', dry_run: true })).status).to.equal(200);
    expect((await remove('slow.pmtiles')).body).to.deep.equal({ name: 'slow.pmtiles', deleted: true });
    release();
    expect((await list())['downloads']).to.deep.equal([]);
    expect((await files()).filter((name) => name.includes('slow'))).to.deep.equal([]);
    expect((await remove('slow.pmtiles')).status).to.equal(404);
  });

  it('who waits for one that is stopped is told so', async () => {
    const release = held();
    const waiting = make({ source: 'slow', name: 'slow2.pmtiles', bbox: [20, 10, 20.1, 10.1] });
    await folderHas(node.paths.maps, (names) => names.some((name) => name.startsWith('.slow2')));
    await remove('slow2.pmtiles');
    release();
    const { status, body } = await waiting;
    expect([status, body['code']]).to.deep.equal([409, 'E_STOPPED']);
  });

  it('a process that is killed in the middle leaves nothing; the next attempt asks only for the rest', async () => {
    server.behaviours.delete('slow');
    const area = { source: 'slow', name: 'kill.pmtiles', bbox: [30, 10, 30.1, 10.1] };
    const { promise: stuck, resolve } = Promise.withResolvers<void>();
    let answered = 0;
    server.behaviours.set('slow', (_, res, tile) => {
      if (answered++ < 10) res.end(tile);
      else resolve();
    });
    await leave(area);
    await stuck;
    await node.killAndAwaitSuccessor('svc-residual');
    expect((await files()).filter((name) => name.includes('kill'))).to.deep.equal([]);
    server.behaviours.delete('slow');
    const before = server.count('slow');
    const { status, body } = await make(area);
    expect([status, body['missing']], JSON.stringify(body)).to.deep.equal([200, 0]);
    expect(server.count('slow') - before).to.be.within(1, Number(body['tiles']) - 8);
  });

  it('what the source does not have is counted, not awaited', async () => {
    server.behaviours.set('sea', (req, res, tile) => {
      if (req.url?.includes('/13/') === true) res.writeHead(404).end();
      else res.end(tile);
    });
    const { status, body } = await make({ source: 'sea', name: 'sea.pmtiles' });
    expect(status).to.equal(200);
    expect(body['missing']).to.be.above(0).and.below(Number(body['tiles']));
    expect(body['map']).to.include({ max_zoom: 12 });
  });

  it('without any tile there is no map', async () => {
    const { status, body } = await make({ source: 'absent', name: 'absent.pmtiles', max_zoom: 9 });
    expect([status, body['code'], body['detail']]).to.deep.equal([
      404,
      'E_NOT_FOUND',
      'Source absent has no tile there.',
    ]);
    expect(await files()).to.satisfy((names: string[]) => !names.some((name) => name.includes('absent')));
  });

  const refused: readonly [string, Json, number, RegExp][] = [
    ['a source that is not there', { source: 'none' }, 404, /No map source none/],
    ['south above north', { bbox: [8.5, 47.4, 8.6, 47.3] }, 422, /south/],
    ['no height at all', { bbox: [8.5, 47.3, 8.6, 47.3] }, 422, /south/],
    ['a latitude beyond the pole', { bbox: [8, 47, 9, 91] }, 422, /90/],
    ['a longitude beyond', { bbox: [8, 47, 181, 48] }, 422, /180/],
    ['three numbers', { bbox: [8, 47, 9] }, 422, /4 entries/],
    ['no number', { bbox: [8, 47, null, 48] }, 422, /number/],
    ['zooms the wrong way round', { min_zoom: 9, max_zoom: 8 }, 422, /less than min_zoom/],
    ['a zoom that the source does not have', { max_zoom: 19 }, 422, /zooms 0 to 18/],
    ['a zoom of heights that are not there', { source: 'heights', min_zoom: 2 }, 422, /zooms 3 to 18/],
    ['the whole world', { bbox: [-180, -90, 180, 90], min_zoom: 0, max_zoom: 18 }, 422, /200000/],
    [
      'more than 200 000, over the antimeridian',
      { bbox: [10, -80, 9, 80], min_zoom: 9, max_zoom: 9 },
      422,
      /200000/,
    ],
    ['a name that leads elsewhere', { name: '../field.pmtiles' }, 422, /right form/],
    ['a name with a zero', { name: 'a\0.pmtiles' }, 422, /right form/],
    ['a hidden name', { name: '.pmtiles' }, 422, /right form/],
    ['another ending', { name: 'field.txt' }, 422, /right form/],
    ['more than is known here', { force: true }, 422, /not known/],
  ];
  for (const [what, more, status, words] of refused) {
    it(`${what}: ${status}, also for a dry run`, async () => {
      for (const dry of [true, false]) {
        const answer = await make({ name: 'refused.pmtiles', ...more, dry_run: dry });
        expect([answer.status, String(answer.body['detail'])].join(' ')).to.match(words);
        expect(answer.status).to.equal(status);
        for (const { path } of listOf(answer.body['errors']).map(recordOf))
          expect(path).to.match(/^(?:\/|$)/);
      }
      expect(await files()).to.satisfy((names: string[]) => !names.some((name) => name.includes('refused')));
    });
  }

  it('200 000 tiles are allowed, over the antimeridian too', async () => {
    const { status, body } = await make({
      bbox: [179, -20, -179, -18],
      min_zoom: 0,
      max_zoom: 14,
      dry_run: true,
    });
    expect(status).to.equal(200);
    expect(body['tiles']).to.be.within(5000, 200_000);
  });

  it('needs admin', async () => {
    const token = async (scopes: string[]) =>
      String((await node.post('/api/mcp/tokens', { scopes }, KEYED)).body['token']);
    expect((await make({ dry_run: true }, {})).status).to.equal(401);
    for (const scopes of [['read'], ['read', 'flight'], ['destructive']])
      expect((await make({ dry_run: true }, { 'x-svc-mcp-token': await token(scopes) })).status).to.equal(
        403,
      );
    expect((await make({ dry_run: true }, { 'x-svc-mcp-token': await token(['admin']) })).status).to.equal(
      200,
    );
  });

  describe('in a process of its own', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await tempDir();
    });
    afterEach(async () => removeDir(folder));

    const parts = (reserve: number, limitBytes: number) => {
      const source = new TileSource(server.source('own') as unknown as SourceConfig);
      const maps = new Maps(join(folder, 'maps'), reserve);
      const cache = new TileCache({
        directory: join(folder, 'maps', 'tiles'),
        limitBytes,
        folders: [source.folder],
        reserveBytes: 0,
        onProblem: (problem) => {
          throw new Error(problem);
        },
      });
      const tiles = new Tiles([source], cache, new OfflineTiles(maps.files, () => undefined));
      return { tiles, cache, download: new AreaDownload(tiles, maps) };
    };
    const here = new AbortController().signal;

    it('a disk that is full enough takes none, and nothing is fetched', async () => {
      const { download, tiles } = parts(Infinity, 1e6);
      const before = server.count('own');
      const error: unknown = await download
        .make({ ...AREA, source: 'own' }, () => undefined)
        .catch((cause: unknown) => cause);
      expect(error).to.include({ code: 'E_DISK_FULL', status: 507 });
      expect(server.count('own')).to.equal(before);
      await tiles.stop();
    });

    it('the cache keeps to its bound: what was not used for longest goes; an area takes only what is free', async () => {
      const { tiles, cache, download } = parts(0, 10 * 4096);
      tiles.start();
      await cache.stop(); // it has looked
      for (let x = 0; x < 12; x++) {
        await tiles.get('own', { z: 4, x, y: 0 }, here);
        await tiles.get('own', { z: 4, x: 0, y: 0 }, here);
      }
      expect(cache.bytes).to.equal(10 * 4096);
      const asked = server.count('own');
      await tiles.get('own', { z: 4, x: 0, y: 0 }, here);
      expect(server.count('own'), 'used again and again').to.equal(asked);
      await tiles.get('own', { z: 4, x: 1, y: 0 }, here);
      expect(server.count('own'), 'the oldest').to.equal(asked + 1);
      await download.make({ ...AREA, source: 'own', max_zoom: 9 }, () => undefined);
      await tiles.get('own', { z: 4, x: 0, y: 0 }, here);
      expect(server.count('own') - asked).to.equal(
        1 + server.asked.filter((path) => /\/own\/[89]\//.test(path)).length,
      );
      await tiles.stop();

      const again = parts(0, 10 * 4096);
      again.tiles.start();
      await again.cache.stop();
      expect(again.cache.bytes, 'found again').to.equal(10 * 4096);
      const smaller = parts(0, 3 * 4096);
      smaller.tiles.start();
      await smaller.cache.stop();
      expect(smaller.cache.bytes, 'a smaller bound').to.equal(3 * 4096);
    });

    it('a file that says it is of a source serves what is a picture, and nothing else', async () => {
      await mkdir(join(folder, 'maps'));
      const about = {
        tileType: TileType.Png,
        tileCompression: Compression.None,
        bounds: [-180, -85, 180, 85],
        metadata: { svc_source: 'own', encoding: '<b>', attribution: '<script>a</script>&copy; b' },
      } as const;
      await writePmtiles(join(folder, 'maps', 'evil.pmtiles'), about, [
        { z: 1, x: 0, y: 0, data: Buffer.from('<!DOCTYPE html><script>') },
        { z: 1, x: 0, y: 1, data: tileOf(9, 9, 9) },
      ]);
      const { tiles } = parts(0, 1e6);
      const at = async (y: number) => (await tiles.get('own', { z: 1, x: 0, y }, here)).bytes;
      expect((await at(0)).equals(tileOf(1, 0, 0)), 'from the server').to.equal(true);
      expect((await at(1)).equals(tileOf(9, 9, 9)), 'from the file').to.equal(true);
      const [map] = (await new Maps(join(folder, 'maps'), 0).list()).maps;
      expect(map).to.include({ attribution: 'a© b', tile: 'raster' });
      await tiles.stop();
    });

    it('a client that goes while its tile waits for a turn is not waited for; one that others want is', async () => {
      const { tiles } = parts(0, 1e6);
      const { promise, resolve } = Promise.withResolvers<void>();
      const busy = Promise.withResolvers<void>();
      let asked = 0;
      server.behaviours.set('own', (_, res, tile) => {
        if (++asked === 4) busy.resolve();
        void promise.then(() => res.end(tile));
      });
      const begun = Array.from({ length: 4 }, async (_, x) => tiles.get('own', { z: 5, x, y: 0 }, here));
      await busy.promise;
      const gone = new AbortController();
      const left = tiles.get('own', { z: 5, x: 9, y: 0 }, gone.signal);
      const shared = [gone.signal, here].map(async (signal) =>
        tiles.get('own', { z: 5, x: 10, y: 0 }, signal),
      );
      gone.abort(new Error('gone'));
      for (const each of [left, shared[0]]) expect(await each?.catch(String)).to.equal('Error: gone');
      resolve();
      await Promise.all(begun);
      expect((await shared[1])?.bytes.equals(tileOf(5, 10, 0))).to.equal(true);
      expect(server.asked).to.include('/own/5/10/0').and.not.include('/own/5/9/0');
      server.behaviours.delete('own');
      await tiles.stop();
    });
  });
});
