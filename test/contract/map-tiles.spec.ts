import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { refuseForbidden } from '../../shared/auth/asked-address.ts';
import { listOf, recordOf } from '../../shared/member.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { plainPng } from '../support/pmtiles.ts';
import { TILE_KEY, type TileBehaviour, TileServer, tileOf } from '../support/tile-server.ts';

const KEYED = { 'x-svc-key': KEY } as const;
const PNG = { 'content-type': 'image/png' } as const;

/** A head that tells of more than a browser could hold. */
function gigantic(): Buffer {
  const png = Buffer.from(plainPng(1, [1, 2, 3]));
  png.writeUInt32BE(60_000, 16);
  png.writeUInt32BE(60_000, 20);
  return png;
}

/** What a server may do, and what a client is told of it. */
const BAD: readonly [id: string, TileBehaviour, status: number, words: RegExp][] = [
  ['absent', (_, res) => res.writeHead(404).end('<html>'), 404, /has no tile there/],
  ['gone', (_, res) => res.writeHead(410).end(), 404, /has no tile there/],
  ['broken', (_, res) => res.writeHead(500).end('<html>'), 502, /answered 500/],
  ['refusing', (_, res) => res.writeHead(403).end('wrong key'), 502, /answered 403/],
  ['busy', (_, res) => res.writeHead(429, { 'retry-after': '77' }).end(), 502, /answered 429/],
  ['page', (_, res) => res.writeHead(200, PNG).end('<!DOCTYPE html><p>sign in'), 502, /web page instead/],
  ['text', (_, res) => res.writeHead(200, PNG).end('hello'), 502, /no PNG, JPEG or WebP/],
  ['empty', (_, res) => res.writeHead(200, PNG).end(), 502, /sent nothing/],
  [
    'huge',
    (_, res) => void res.writeHead(200, { 'content-length': 2 ** 31 }).write('x'),
    502,
    /more than 1 MiB/,
  ],
  ['gigantic', (_, res) => res.writeHead(200, PNG).end(gigantic()), 502, /60000 by 60000 pixels/],
  ['cut', (_, res, tile) => res.writeHead(200, PNG).end(tile.subarray(0, -9)), 502, /ends in the middle/],
  [
    'short',
    (_, res, tile) => {
      res.writeHead(200, { 'content-length': tile.length }).write(tile.subarray(0, 20));
      setImmediate(() => res.destroy());
    },
    502,
    /connection broke/,
  ],
  [
    'endless',
    (_, res) => {
      const more = (): void => {
        while (!res.destroyed && res.write(Buffer.alloc(65_536)));
        if (!res.destroyed) res.once('drain', more);
      };
      res.writeHead(200, PNG);
      more();
    },
    502,
    /more than 1 MiB/,
  ],
  ['away', (_, res) => res.writeHead(302, { location: 'http://localhost:9/a' }).end(), 502, /another host/],
  [
    'inside',
    (_, res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    502,
    /another host/,
  ],
  ['file', (_, res) => res.writeHead(302, { location: 'file:///etc/passwd' }).end(), 502, /another host/],
  ['circle', (req, res) => res.writeHead(302, { location: req.url }).end(), 502, /again and again/],
  ['nonsense', (req) => req.socket.end('\0\0\0 no HTTP\r\n\r\n'), 502, /connection broke/],
  ['silent', () => undefined, 504, /did not answer in time/],
];

describe('tiles of the map through the node', function () {
  this.timeout(60_000);
  let server: TileServer;
  let node: TestNode;
  before(async () => {
    server = await TileServer.start();
    for (const [id, behaviour] of BAD) server.behaviours.set(id, behaviour);
    server.behaviours.set('fresh', (req, res, tile) => {
      if (req.headers['if-none-match'] === '"1"') res.writeHead(304).end();
      else res.writeHead(200, { etag: '"1"', 'cache-control': 'max-age=86400' }).end(tile);
    });
    server.behaviours.set('moved', (req, res, tile) => {
      if (req.url?.includes('again') === true) res.end(tile);
      else res.writeHead(301, { location: `${req.url}&again` }).end();
    });
    const more = [
      server.source('good'),
      server.source('fresh'),
      server.source('moved'),
      server.source('heights', { tile: 'terrain', min_zoom: 3, max_zoom: 12 }),
      server.source('metadata', { url: 'http://169.254.169.254/{z}/{x}/{y}' }),
      server.source('nobody', { url: 'http://127.0.0.1:9/{z}/{x}/{y}' }),
    ];
    // Sixteen are the most: the others are of a second node.
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mcp:\n  token_accept_enabled: true\nmaps:\n  sources: ${JSON.stringify(more)}\n`,
    });
  });
  after(async () => {
    await node.stop();
    await server.stop();
  });

  const get = async (path: string, headers: Record<string, string> = KEYED) =>
    node.fetch(`/api/maps/tiles/${path}`, { headers });
  const bytes = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());
  const cached = (id: string): string => join(node.paths.maps, 'tiles', id);
  const folderOf = async (id: string): Promise<string> =>
    (await readdir(join(node.paths.maps, 'tiles'))).find((name) => name.startsWith(`${id}-`)) ?? '';

  it('the list has the sources without their addresses', async () => {
    const { body } = await node.json('/api/maps', { headers: KEYED });
    expect((body['sources'] as unknown[])[0]).to.deep.equal({
      id: 'good',
      name: 'Source good',
      attribution: '© Somebody',
      min_zoom: 0,
      max_zoom: 18,
      tile: 'raster',
    });
    expect(body['cache']).to.include({ limit: 512e6 });
    expect(body['downloads']).to.deep.equal([]);
    expect(JSON.stringify(body)).to.not.include(TILE_KEY);
    const config = await node.json('/api/config', { headers: KEYED });
    expect(JSON.stringify(config.body)).to.include('Source good').and.not.include(TILE_KEY);
  });

  it('one is fetched once, and then comes from the disk; a browser need not load it again', async () => {
    const first = await get('good/5/3/4');
    expect([first.status, first.headers.get('content-type')]).to.deep.equal([200, 'image/png']);
    expect((await bytes(first)).equals(tileOf(5, 3, 4))).to.equal(true);
    expect(first.headers.get('cache-control')).to.match(/^private, max-age=86400$/);
    const second = await get('good/5/3/4');
    expect((await bytes(second)).equals(tileOf(5, 3, 4))).to.equal(true);
    expect(server.count('good')).to.equal(1);
    const etag = first.headers.get('etag') ?? '';
    const third = await get('good/5/3/4', { ...KEYED, 'if-none-match': etag });
    expect([third.status, await third.text()]).to.deep.equal([304, '']);
    const head = server.heads[server.asked.indexOf('/good/5/3/4')];
    expect(head?.['user-agent']).to.match(/^svc\/\d/);
    expect(head).to.not.have.any.keys('x-svc-key', 'cookie', 'referer', 'authorization');
  });

  it('many who want the same tile at once: one request', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.behaviours.set('good', (_, res, tile) => void promise.then(() => res.end(tile)));
    const before = server.count('good');
    const all = Array.from({ length: 20 }, async () => get('good/6/1/2').then(bytes));
    await get('heights/3/1/1'); // all twenty have come by then
    resolve();
    for (const each of await Promise.all(all)) expect(each.equals(tileOf(6, 1, 2))).to.equal(true);
    expect(server.count('good') - before).to.equal(1);
    server.behaviours.delete('good');
  });

  it('one that has become old is asked for by its ETag; without the server it is served all the same', async () => {
    await get('fresh/4/1/1');
    const path = join(cached(await folderOf('fresh')), '4/1/1');
    const age = async (): Promise<void> => {
      const file = await readFile(path, 'latin1');
      await writeFile(path, file.replace(/"fetchedAt":\d+/, '"fetchedAt":1000'), 'latin1');
    };
    await age();
    expect((await bytes(await get('fresh/4/1/1'))).equals(tileOf(4, 1, 1))).to.equal(true);
    expect(server.count('fresh')).to.equal(2);
    await get('fresh/4/1/1');
    expect(server.count('fresh'), 'it is good for another day').to.equal(2);
    await age();
    server.behaviours.set('fresh', (_, res) => res.writeHead(500).end());
    const old = await get('fresh/4/1/1');
    expect([old.status, old.headers.get('cache-control')]).to.deep.equal([200, 'private, max-age=60']);
    expect(server.count('fresh')).to.equal(3);
  });

  const spoil: readonly [string, (file: Buffer) => Buffer][] = [
    ['cut off', (file) => file.subarray(0, -5)],
    ['empty', () => Buffer.alloc(0)],
    ['zeros, as after a power cut', (file) => Buffer.alloc(file.length)],
    ['of another tile', (file) => Buffer.concat([file.subarray(0, file.indexOf(10) + 1), tileOf(1, 0, 0)])],
    ['gigantic', () => Buffer.alloc(3 * 1024 * 1024)],
  ];
  for (const [index, [what, spoilt]] of spoil.entries()) {
    it(`one that is ${what} on the disk is fetched again`, async () => {
      const before = server.count('good');
      await get(`good/7/${index}/1`);
      const path = join(cached(await folderOf('good')), `7/${index}/1`);
      await writeFile(path, spoilt(await readFile(path)));
      expect((await bytes(await get(`good/7/${index}/1`))).equals(tileOf(7, index, 1))).to.equal(true);
      expect(server.count('good') - before).to.equal(2);
    });
  }

  it('a process that is killed has lost none', async () => {
    await get('good/8/1/1');
    await writeFile(join(cached(await folderOf('good')), '8/1/.0123456789ab.tmp'), 'half');
    await node.killAndAwaitSuccessor('svc-residual');
    const before = server.count('good');
    expect((await bytes(await get('good/8/1/1'))).equals(tileOf(8, 1, 1))).to.equal(true);
    expect(server.count('good')).to.equal(before);
    const { body } = await node.json('/api/maps', { headers: KEYED });
    expect((body['cache'] as { bytes: number }).bytes).to.be.above(4095);
  });

  it('redirects within the host are followed', async () => {
    expect((await get('moved/3/1/1')).status).to.equal(200);
  });

  const refused: readonly [string, number, RegExp][] = [
    ['none/1/0/0', 404, /No map source none/],
    ['heights/2/0/0', 422, /zooms 3 to 12/],
    ['heights/13/0/0', 422, /zooms 3 to 12/],
    ['good/1/2/0', 422, /2 rows and columns/],
    ['good/1/0/2', 422, /2 rows and columns/],
    ['good/1/99999999/0', 422, /2 rows and columns/],
    ['good/-1/0/0', 400, /./],
    ['good/1.5/0/0', 400, /./],
    ['good/1e1/0/0', 400, /./],
    ['good/1/0/0.png', 400, /./],
    ['metadata/1/0/0', 502, /not asked for tiles/],
    ['nobody/1/0/0', 502, /cannot be reached/],
  ];
  for (const [path, status, words] of refused) {
    it(`${path} is ${status}`, async () => {
      const answer = await get(path);
      const body = recordOf(await answer.json());
      expect([answer.status, String(body['detail']).match(words)?.length]).to.deep.equal([status, 1]);
      for (const { path: at } of listOf(body['errors']).map(recordOf)) expect(at).to.match(/^\/[xyz]$/);
    });
  }

  it('without a credential nobody gets one; a token needs read', async () => {
    expect((await get('good/5/3/4', {})).status).to.equal(401);
    const token = async (scopes: string[]) =>
      String((await node.post('/api/mcp/tokens', { scopes }, KEYED)).body['token']);
    expect((await get('good/5/3/4', { 'x-svc-mcp-token': await token(['read']) })).status).to.equal(200);
    expect((await get('good/5/3/4', { 'x-svc-mcp-token': await token(['flight']) })).status).to.equal(403);
  });

  it('heights are no JPEG', async () => {
    server.behaviours.set('heights', (_, res) =>
      res.end(Buffer.from('ffd8ffc0000b080040004001011100ffd9', 'hex')),
    );
    const answer = await get('heights/5/1/1');
    expect([answer.status, await answer.text()].join(' ')).to.match(/^502 .*a JPEG, which has no heights/);
  });

  it('an address that leads to this machine, to the cable or to everybody is not asked', () => {
    for (const [address, isLocal, fits] of [
      ['93.184.216.34', false, true],
      ['192.168.1.5', false, true],
      ['fd12::1', false, true],
      ['127.0.0.1', true, true],
      ['::1', true, true],
      ['127.0.0.1', false, false],
      ['::1', false, false],
      ['::ffff:127.0.0.1', false, false],
      ['169.254.169.254', false, false],
      ['169.254.169.254', true, false],
      ['::ffff:169.254.169.254', false, false],
      ['64:ff9b::a9fe:a9fe', false, false],
      ['fd00:ec2::254', false, false],
      ['fe80::1', false, false],
      ['0.0.0.0', false, false],
      ['::', true, false],
      ['224.0.0.251', false, false],
      ['255.255.255.255', false, false],
      ['ff02::1', false, false],
    ] as const) {
      const judge = (): void => refuseForbidden(address, isLocal);
      if (fits) judge();
      else expect(judge, address).to.throw('not asked for tiles');
    }
  });

  describe('from servers that fail', () => {
    for (const half of [BAD.slice(0, 10), BAD.slice(10)]) {
      describe(half.map(([id]) => id).join(', '), () => {
        let other: TestNode;
        before(async () => {
          other = await TestNode.start({
            simulated: false,
            config: `maps:\n  sources: ${JSON.stringify(half.map(([id]) => server.source(id)))}\n`,
          });
        });
        after(async () => {
          expect(other.stderr).to.not.include(TILE_KEY);
          await other.stop();
        });

        for (const [id, , status, words] of half) {
          it(`${id}: ${status} in words, and it is left alone for a while`, async () => {
            const ask = async () => other.fetch(`/api/maps/tiles/${id}/3/1/1`);
            const answer = await ask();
            const body = await answer.text();
            expect(answer.status, body).to.equal(status);
            expect(body).to.match(words).and.not.include(TILE_KEY);
            expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 3600);
            const asked = server.count(id);
            expect([(await ask()).status, server.count(id)]).to.deep.equal([status, asked]);
            if (id === 'busy') expect(Number(answer.headers.get('retry-after'))).to.be.within(70, 77);
          });
        }
      });
    }
  });
});
