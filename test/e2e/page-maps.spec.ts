/// <reference lib="dom" />
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import { parseJson, recordOf } from '../../shared/member.ts';
import { askAgain } from '../support/ask-again.ts';
import {
  checkAxe,
  noBrowser,
  openBrowser,
  openPage,
  PHONE,
  signIn,
  visit,
  watch,
} from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { plainPng, tinyMap } from '../support/pmtiles.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { TileServer } from '../support/tile-server.ts';

const RED = [200, 30, 30] as const;
const HOSTILE = '<img src=x onerror="document.title=1">';

type Colour = readonly [number, number, number];
const isRed = ([r, g, b]: Colour): boolean => r > 150 && g < 90 && b < 90;

/** The colour of the map, as it is seen, beside the vehicle, which is in the middle. */
async function colour(page: Page): Promise<Colour> {
  const picture = (await page.locator('.map').screenshot()).toString('base64');
  return page.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    const pen = canvas.getContext('2d');
    pen?.drawImage(image, -Math.round(image.width * 0.3), -Math.round(image.height * 0.3));
    const [r = 0, g = 0, b = 0] = pen?.getImageData(0, 0, 1, 1).data ?? [];
    return [r, g, b] as const;
  }, picture);
}

/** Without a picture the map is the large one, as soon as the page knows that there is none. */
async function largeMap(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Layers' }).waitFor();
}

/** Where a part of the map is drawn, px from the map's corner. */
async function placeOf(page: Page, selector: string): Promise<{ x: number; y: number }> {
  return page.locator('.map').evaluate((map, wanted) => {
    const [box, own] = [map.querySelector(wanted)?.getBoundingClientRect(), map.getBoundingClientRect()];
    if (box === undefined) throw new Error(`no ${wanted} on the map`);
    return { x: box.x + box.width / 2 - own.x, y: box.y + box.height / 2 - own.y };
  }, selector);
}

describe('the map of the page', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  let folder: string;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    folder = await tempDir();
    [node, browser] = await Promise.all([
      TestNode.start({ pairing: { key: KEY } }),
      // There is no graphics card here: WebGL by software.
      openBrowser('chromium', { extra: ['--enable-unsafe-swiftshader'], deaf: true }),
    ]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
    if (folder !== undefined) await removeDir(folder);
  });

  /** A page of Fly with the map large and the vehicle on it. */
  const flyMap = async (
    prepare: (page: Page) => Promise<unknown> = async () => undefined,
    screen = { width: 1280, height: 800 },
  ): Promise<Page> => {
    const page = await openPage(browser, screen);
    await prepare(page);
    await signIn(page, node.url, KEY);
    await visit(page, 'fly');
    await largeMap(page);
    await page.waitForSelector('.live-vehicle');
    return page;
  };

  it('a file that is chosen on the page is stored, drawn under the vehicle, and deleted; nobody else is asked', async () => {
    const file = join(folder, 'field.pmtiles');
    await writeFile(file, tinyMap('The field', plainPng(256, RED), 0));
    const page = await openPage(browser);
    const seen = watch(page, node.url);
    await signIn(page, node.url, KEY);
    await visit(page, 'node/maps');
    await page.locator('input[type=file]').setInputFiles(file);
    await page.waitForFunction(() => document.body.innerText.includes('The field'), undefined, {
      polling: 100,
    });
    const { body } = await node.json('/api/maps', { headers: { 'X-SVC-Key': KEY } });
    expect((body['maps'] as { name: string }[]).map(({ name }) => name)).to.deep.equal(['field.pmtiles']);

    await visit(page, 'fly');
    await askAgain('the file is drawn', async () => colour(page), isRed);
    // A context of WebGL is lost whenever a phone's browser needs its memory: the outline remains.
    await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.base canvas');
      canvas?.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext();
    });
    await page.waitForSelector('.map .base', { state: 'detached' });
    expect(isRed(await colour(page))).to.equal(false);
    expect(await page.locator('.map-source').textContent()).to.equal('Natural Earth');

    await visit(page, 'node/maps');
    const button = await page.waitForSelector('.node__items .button.danger');
    await button?.hover();
    await page.mouse.down();
    await page.waitForFunction(() => !document.body.innerText.includes('The field'), undefined, {
      polling: 100,
    });
    await page.mouse.up();
    const { body: after } = await node.json('/api/maps', { headers: { 'X-SVC-Key': KEY } });
    expect(after['maps']).to.deep.equal([]);
    seen.check();
  });

  it('without any map, and without WebGL, there are land and sea from afar, and ground with a grid from near', async () => {
    const plain = await openBrowser('chromium', {
      extra: ['--disable-webgl', '--disable-webgl2'],
      deaf: true,
    });
    try {
      const page = await openPage(plain);
      const seen = watch(page, node.url);
      await signIn(page, node.url, KEY);
      await visit(page, 'fly');
      await largeMap(page);
      await page.waitForSelector('.live-vehicle');
      /** How many colours there are along the middle of what is drawn. */
      const colours = async (): Promise<number> =>
        page.evaluate(() => {
          const canvas = document.querySelector<HTMLCanvasElement>('canvas.outline');
          const line = canvas
            ?.getContext('2d')
            ?.getImageData(0, Math.round(canvas.height / 2), canvas.width, 1).data;
          const found = new Set<string>();
          for (let at = 0; at < (line?.length ?? 0); at += 4)
            found.add((line ?? []).slice(at, at + 3).join());
          return found.size;
        });
      await askAgain('ground and lines from near', colours, (count) => count >= 2);
      await page.locator('.map').focus();
      for (let n = 0; n < 14; n++) await page.keyboard.press('-');
      // Land, sea, the coast between them, the graticule over both.
      await askAgain('land and sea from afar', colours, (count) => count >= 4);
      expect(await page.locator('.map-source').textContent()).to.equal('Natural Earth');
      expect(await page.$('.map .base')).to.equal(null);
      seen.check();
    } finally {
      await plain.close();
    }
  });

  it('imagery comes through the node, with the page’s credential; a tile that is none leaves the outline in sight and the page alone', async () => {
    let tile: { status: number; contentType: string; body: Buffer } = {
      status: 200,
      contentType: 'image/png',
      body: plainPng(256, RED),
    };
    const headers: Record<string, string>[] = [];
    const page = await flyMap(async (opened) => {
      await opened.route('**/api/maps', async (route) => {
        const answer = await route.fetch();
        const source = {
          id: 'img',
          name: HOSTILE,
          attribution: `© ${HOSTILE}Somebody`,
          min_zoom: 0,
          max_zoom: 19,
          tile: 'raster',
        };
        await route.fulfill({
          response: answer,
          json: { ...recordOf(await answer.json()), sources: [source] },
        });
      });
      await opened.route('**/api/maps/tiles/img/**', async (route) => {
        headers.push(route.request().headers());
        await route.fulfill(tile);
      });
    });
    const seen = watch(page, node.url);
    await askAgain('imagery', async () => colour(page), isRed);
    expect(
      headers.every((each) => each['x-svc-key'] === KEY || each['x-svc-dashboard-session'] !== undefined),
    ).to.equal(true);
    expect(await page.locator('.map-source').textContent()).to.equal('© Somebody');
    const huge = plainPng(1, RED);
    huge.writeUInt32BE(30_000, 16);
    huge.writeUInt32BE(30_000, 20);
    for (const [name, hostile] of [
      ['not found', { status: 404, contentType: 'application/json', body: Buffer.from('{}') }],
      ['a failing source', { status: 502, contentType: 'application/json', body: Buffer.from('{}') }],
      ['HTML', { status: 200, contentType: 'text/html', body: Buffer.from('<h1>Sign in to the hotel</h1>') }],
      ['a picture that claims 900 megapixels', { status: 200, contentType: 'image/png', body: huge }],
      [
        'a broken picture',
        { status: 200, contentType: 'image/png', body: plainPng(256, RED).subarray(0, 60) },
      ],
    ] as const) {
      tile = hostile;
      const asked = headers.length;
      // Another place: tiles that are not there yet.
      await page.locator('.map').focus();
      for (let n = 0; n < 30; n++) await page.keyboard.press('ArrowRight');
      await askAgain(
        `${name}: asked`,
        async () => headers.length,
        (count) => count > asked,
      );
      await askAgain(
        `${name}: the ground is in sight`,
        async () => colour(page),
        (now) => !isRed(now),
      );
      expect(await page.locator('.live-vehicle').count(), name).to.equal(1);
    }
    await page.getByRole('button', { name: 'Layers' }).click();
    const choice = page.getByRole('radio', { name: HOSTILE });
    expect(await choice.isChecked()).to.equal(true);
    expect(await page.title()).to.not.equal('1');
    await page.getByRole('radio', { name: 'Outline of the world' }).check();
    await page.waitForSelector('.map .base', { state: 'detached' });
    seen.check();
    await page.context().close();
  });

  it('a source of the configuration is the ground by itself, with whom it is from, also when its server is gone', async () => {
    const tiles = await TileServer.start();
    tiles.behaviours.set('field', (_, res) =>
      res.writeHead(200, { 'content-type': 'image/png' }).end(plainPng(256, RED)),
    );
    const config = `maps:\n  sources: ${JSON.stringify([tiles.source('field')])}\n`;
    const own = await TestNode.start({ config });
    try {
      const page = await openPage(browser);
      const seen = watch(page, own.url);
      // A file of Zürich is no ground for a vehicle in Canberra.
      const far = tinyMap('Zürich', plainPng(256, [30, 30, 200]), 0);
      const { status } = await fetch(`${own.url}/api/maps/far.pmtiles`, {
        method: 'PUT',
        body: new Uint8Array(far),
      });
      expect(status).to.be.oneOf([200, 201]);
      await page.goto(`${own.url}/#/fly`);
      await page.waitForSelector('.live-vehicle');
      await askAgain('imagery', async () => colour(page), isRed);
      expect(await page.locator('.map-source').textContent()).to.equal('© Somebody');
      await tiles.stop();
      await page.reload();
      await page.waitForSelector('.live-vehicle');
      await askAgain('imagery of the cache', async () => colour(page), isRed);
      seen.check();
    } finally {
      await tiles.stop();
      await own.stop();
    }
  });

  it('follows the vehicle until it is moved away, and again by one button; with the way ahead up the vehicle is lower', async () => {
    const page = await flyMap();
    /** px from that part of what nothing lies over, across and down. */
    const off = async (across: number, down: number): Promise<number> => {
      const at = await placeOf(page, '.live-vehicle');
      const middle = await page.locator('.map').evaluate(
        (map, [x, y]) => {
          const style = getComputedStyle(map);
          const [top, right, bottom, left] = ['top', 'right', 'bottom', 'left'].map((edge) =>
            Number.parseFloat(style.getPropertyValue(`--map-${edge}`)),
          );
          return {
            x: (left ?? 0) + (map.clientWidth - (left ?? 0) - (right ?? 0)) * x,
            y: (top ?? 0) + (map.clientHeight - (top ?? 0) - (bottom ?? 0)) * y,
          };
        },
        [across, down] as const,
      );
      return Math.hypot(at.x - middle.x, at.y - middle.y);
    };
    const press = async (name: string): Promise<void> =>
      page.getByRole('button', { name, exact: true }).click();
    const pressed = async (name: string): Promise<string | null> =>
      page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed');
    await askAgain(
      'in the middle',
      async () => off(0.5, 0.5),
      (px) => px < 4,
    );
    await page.locator('.map').focus();
    await page.keyboard.press('ArrowRight');
    await askAgain(
      'it is let go',
      async () => pressed('Follow'),
      (state) => state === 'false',
    );
    await askAgain(
      'moved away',
      async () => off(0.5, 0.5),
      (px) => px > 60,
    );
    await press('Zoom in');
    expect(await pressed('Follow')).to.equal('false');
    await press('Follow');
    await askAgain(
      'in the middle again',
      async () => off(0.5, 0.5),
      (px) => px < 4,
    );
    await press('Zoom out');
    expect(await pressed('Follow'), 'nearer or farther is no moving away').to.equal('true');
    await press('Heading up');
    await askAgain(
      'lower',
      async () => off(0.5, 0.68),
      (px) => px < 4,
    );
    const turned = async (): Promise<string> =>
      page.locator('.live-vehicle svg').evaluate((shape) => shape.style.transform);
    await askAgain('its way is up', turned, (text) => Math.abs(Number.parseFloat(text.slice(7))) < 1);
    await press('Heading up');
    await askAgain(
      'in the middle, north up',
      async () => off(0.5, 0.5),
      (px) => px < 4,
    );
    await page.reload();
    await page.context().close();
  });

  it('on a turned map, the ground stays under one finger that moves and between two that part', async () => {
    const page = await flyMap(undefined, PHONE);
    const client = await page.context().newCDPSession(page);
    const touch = async (
      type: 'touchStart' | 'touchMove' | 'touchEnd',
      ...points: readonly [number, number][]
    ) => client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
    await page.getByRole('button', { name: 'Heading up' }).click();
    const box = await page.locator('.map').boundingBox();
    const [x, y] = [(box?.x ?? 0) + 150, (box?.y ?? 0) + 120];
    const before = await placeOf(page, '.marker.home');
    await touch('touchStart', [x, y]);
    for (let n = 1; n <= 6; n++) await touch('touchMove', [x - 10 * n, y - 10 * n]);
    await touch('touchEnd');
    await askAgain(
      'home has moved as the finger has',
      async () => placeOf(page, '.marker.home'),
      (now) => Math.hypot(now.x - before.x + 60, now.y - before.y + 60) < 3,
    );
    const follow = page.getByRole('button', { name: 'Follow', exact: true });
    expect(await follow.getAttribute('aria-pressed')).to.equal('false');
    // Two fingers on both sides of home, which is not moved; twice as far apart is twice as large.
    const home = await placeOf(page, '.marker.home');
    const [hx, hy] = [home.x + (box?.x ?? 0), home.y + (box?.y ?? 0)];
    const perPixel = async (): Promise<number> =>
      page.locator('.scale').evaluate((bar) => Number.parseFloat(bar.textContent ?? '') / bar.clientWidth);
    const scale = await perPixel();
    await touch('touchStart', [hx - 40, hy], [hx + 40, hy]);
    for (let n = 1; n <= 4; n++) await touch('touchMove', [hx - 40 - 10 * n, hy], [hx + 40 + 10 * n, hy]);
    await touch('touchEnd');
    await askAgain('twice as large', perPixel, (now) => Math.abs(scale / now - 2) < 0.1);
    const after = await placeOf(page, '.marker.home');
    expect(Math.hypot(after.x - home.x, after.y - home.y)).to.be.below(4);
    await page.context().close();
  });

  it('measures, and takes a tap as a place to go to that can be dragged', async () => {
    const page = await flyMap();
    const map = page.locator('.map');
    await page.getByRole('button', { name: 'Measure' }).click();
    await map.click({ position: { x: 200, y: 200 } });
    await map.click({ position: { x: 300, y: 200 } });
    const bar = page.getByRole('status').filter({ hasText: '· 090°' });
    await bar.waitFor();
    const metres = Number.parseFloat((await bar.textContent()) ?? '');
    const scale = await page.evaluate(() => {
      const ruled = document.querySelector<HTMLElement>('.scale');
      return Number.parseFloat(ruled?.textContent ?? '') / Number.parseFloat(ruled?.style.width ?? '');
    });
    expect(metres / (100 * scale)).to.be.closeTo(1, 0.05);
    await map.click({ position: { x: 300, y: 260 } });
    await page.getByText('Total').waitFor();
    await page.getByRole('button', { name: 'Remove last point' }).click();
    await page.getByText('Total').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Stop measuring' }).click();
    expect(await page.$('.marker.ruler')).to.equal(null);

    // Where nothing lies over it once it is tapped.
    await map.click({ position: { x: 850, y: 350 } });
    await page.waitForSelector('.marker.target');
    const before = await placeOf(page, '.marker.target');
    expect(Math.hypot(before.x - 850, before.y - 350)).to.be.below(4);
    const box = await map.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 850, (box?.y ?? 0) + 350);
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 930, (box?.y ?? 0) + 400, { steps: 4 });
    await page.mouse.up();
    await askAgain(
      'dragged',
      async () => placeOf(page, '.marker.target'),
      ({ x, y }) => Math.hypot(x - 930, y - 400) < 6,
    );
    const label = await page.locator('.map-label').allTextContents();
    expect(label.some((text) => /^[\d.]+ k?m · \d{3}°$/.test(text))).to.equal(true);
    await page.context().close();
  });

  it('other aircraft have their heading, how much higher they are, and a name that is only a name', async () => {
    const tell = (route: WebSocketRoute): void => {
      const server = route.connectToServer();
      server.onMessage((message) => {
        const body = recordOf(parseJson(String(message)));
        const { lat, lon, alt_msl: height } = recordOf(body['position']);
        if (typeof lat !== 'number') return route.send(message);
        const ages = { ...recordOf(body['ages']), traffic: 0 };
        const other = {
          icao: 'abc123',
          callsign: HOSTILE,
          lat: lat + 0.0005,
          lon: Number(lon),
          alt_m: Number(height) + 120,
        };
        const vehicles = [{ ...other, heading_deg: 90, climb_mps: 3, distance_m: 55, age_s: 1 }];
        route.send(JSON.stringify({ ...body, ages, traffic: { vehicles } }));
      });
    };
    const page = await flyMap(async (opened) => opened.routeWebSocket(/telemetry/, tell));
    const aircraft = page.locator('.marker.traffic');
    await aircraft.waitFor();
    expect(await aircraft.locator('text').allTextContents()).to.deep.equal([
      HOSTILE.slice(0, 10),
      '+120 m ↑',
    ]);
    expect(await aircraft.locator('g').getAttribute('transform')).to.match(/^rotate\(90\)/);
    expect(await aircraft.getAttribute('class')).to.include('near');
    await page.context().close();
  });

  it('what is shown is remembered, says where the vehicle is, and has no barrier that axe knows of', async () => {
    const page = await flyMap(undefined, PHONE);
    await page.getByRole('button', { name: 'Layers' }).click();
    await page.getByRole('checkbox', { name: 'Mission' }).uncheck();
    await page.locator('.segmented label', { hasText: 'Speed' }).click();
    await checkAxe(page);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.marker.waypoint', { state: 'detached' });
    await checkAxe(page);
    await askAgain(
      'where the vehicle is',
      async () =>
        page
          .locator('.map')
          .evaluate(
            (map) => document.getElementById(map.getAttribute('aria-describedby') ?? '')?.textContent,
          ),
      (text) => /^The vehicle is (?:at home|[\d.]+ k?m [a-z-]+ of home)/.test(text ?? ''),
    );
    await page.reload();
    await page.waitForSelector('nav');
    await largeMap(page);
    await page.getByRole('button', { name: 'Layers' }).click();
    expect(await page.getByRole('checkbox', { name: 'Mission' }).isChecked()).to.equal(false);
    expect(await page.getByRole('radio', { name: 'Speed' }).isChecked()).to.equal(true);
    await page.context().close();
  });
});
