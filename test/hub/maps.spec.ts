/// <reference lib="dom" />
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import { stringify } from 'yaml';
import { topics } from '../../shared/fleet/topics.ts';
import { askAgain } from '../support/ask-again.ts';
import { noBrowser, openBrowser, openPage, watch } from '../support/browser.ts';
import { type EnrolledNode, TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { TILE_KEY, TileServer, tileOf } from '../support/tile-server.ts';

describe('what lies under the maps of the fleet', function () {
  this.timeout(120_000);
  let hub: TestHub;
  let server: TileServer;
  let node: EnrolledNode;
  let client: MqttClient;
  before(async function () {
    if (noMosquitto() !== null) return this.skip();
    server = await TileServer.start();
    hub = await TestHub.init();
    await appendFile(join(hub.folder, 'hub.yaml'), stringify({ maps: { sources: [server.source('osm')] } }));
    await hub.serve();
    node = await hub.enroll('kestrel');
    client = await hub.connect(node);
    const presence = {
      online: true,
      session: 'a',
      at: 1,
      version: '0.2.0',
      profile: 'drone',
      name: 'Kestrel',
    };
    await client.publishAsync(
      topics.told(node.enrolled.fleet, node.id, 'presence'),
      JSON.stringify(presence),
      {
        qos: 1,
        retain: true,
      },
    );
  });
  after(async () => {
    await client?.endAsync(true);
    await hub?.stop();
    await server?.stop();
  });

  const tile = async (where: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${hub.url}/v1/maps/${where}`, {
      headers: { authorization: `Bearer ${hub.operator}`, ...headers },
    });

  it('are the tile servers of hub.yaml, without their addresses', async () => {
    const { status, body } = await hub.call('GET', '/v1/maps');
    expect(status).to.equal(200);
    expect(body['sources']).to.deep.equal([
      {
        id: 'osm',
        name: 'Source osm',
        attribution: '© Somebody',
        min_zoom: 0,
        max_zoom: 18,
        tile: 'raster',
      },
    ]);
    expect(JSON.stringify(body)).to.not.include(TILE_KEY);
  });

  it('a tile is asked for once, and kept; nobody without a credential has one', async () => {
    const first = await tile('osm/tile?z=3&x=4&y=2');
    expect([first.status, first.headers.get('content-type')]).to.deep.equal([200, 'image/png']);
    expect(Buffer.from(await first.arrayBuffer()).equals(tileOf(3, 4, 2))).to.equal(true);
    const again = await tile('osm/tile?z=3&x=4&y=2', { 'if-none-match': first.headers.get('etag') ?? '' });
    expect(again.status).to.equal(304);
    expect(server.count('osm')).to.equal(1);
    for (const [where, status] of [
      ['nowhere/tile?z=3&x=4&y=2', 404],
      ['osm/tile?z=19&x=4&y=2', 422],
      ['osm/tile?z=3&x=8&y=2', 422],
      ['osm/tile?z=3&x=4', 422],
      ['osm/tile?z=3&x=4&y=north', 422],
    ] as const)
      expect((await tile(where)).status, where).to.equal(status);
    expect((await tile('osm/tile?z=3&x=4&y=2', { authorization: '' })).status).to.equal(401);
    expect((await hub.call('GET', '/v1/maps', { credential: null })).status).to.equal(401);
  });

  it('are drawn by the page', async function () {
    if (noBrowser() !== null) return this.skip();
    const browser = await openBrowser('chromium', { deaf: true });
    try {
      const page = await openPage(browser);
      const seen = watch(page, hub.url);
      await page.goto(`${hub.url}/`);
      await page.locator('input[name=secret]').fill(hub.operator);
      await page.locator('form button[type=submit]').click();
      await page.locator('.map-source', { hasText: '© Somebody' }).waitFor();
      await askAgain(
        'tiles are asked for',
        async () => server.count('osm'),
        (count) => count > 1,
      );
      seen.check();
    } finally {
      await browser.close();
    }
  });
});
