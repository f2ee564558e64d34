/// <reference lib="dom" />
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
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
import { withSdk } from '../support/extensions.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { TEST_CAMERA } from '../support/video-node.ts';

const TOKENS = 'mcp:\n  token_accept_enabled: true\n';
const SEER = 'org.example.seer';
const BOAT = '<b>boat</b> 87 % · #7';
/** Two things in a picture of 640x360, five times a second: a quarter of the picture in its middle, and one in its corner. */
const SEER_CODE = `
const thing = (x, y, width, height, class_label, track_id) => ({
  bbox: { x, y, width, height }, class_label, confidence: 0.87, track_id,
});
setInterval(() => svc.publishDetections({
  ts_ms: Date.now(), frame_width: 640, frame_height: 360,
  detections: [thing(160, 90, 320, 180, '<b>boat</b>', 7), thing(0, 0, 64, 36, 'gull', null)],
}), 200);`;

describe('what is seen, on the page', function () {
  this.timeout(120_000);
  let browser: Browser;
  let plugins: PluginNode;
  let page: Page;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    plugins = await PluginNode.start({ simulated: false, config: `${TEST_CAMERA}${TOKENS}` });
    await plugins.until(
      'the camera runs',
      async () => plugins.done('GET', '/api/video'),
      ({ state }) => state === 'running',
    );
    browser = await openBrowser();
    page = await openPage(browser);
    await signIn(page, plugins.node.url, PluginNode.headers['x-svc-key']);
  });
  after(async () => {
    await browser?.close();
    await plugins?.node.stop();
  });

  const BOX = '.fly__pane:not(.small) .fly__box';
  const designated = async (wanted: (value: unknown) => boolean, withinMs?: number): Promise<unknown> =>
    askAgain(
      'designated',
      async () => (await plugins.done('GET', '/api/vision/status'))['designated'],
      wanted,
      withinMs,
    );
  interface Target {
    readonly track_id: number;
    readonly lock_state: 'locked' | 'uncertain' | 'lost';
  }
  const untilText = async (selector: string, text: string): Promise<void> => {
    await page.waitForFunction(
      ([where, wanted]) =>
        [...document.querySelectorAll(where)].some((each) => each.textContent.includes(wanted)),
      [selector, text] as const,
      { polling: 100 },
    );
  };

  it('asks for no detections while nobody looks for anything', async () => {
    const tickets: string[] = [];
    page.on('request', (request) => {
      if (request.postData()?.includes('"vision"') === true) tickets.push(request.url());
    });
    const asked = page.waitForResponse((response) =>
      response.url().endsWith('/api/vision/detections/latest'),
    );
    await visit(page, 'fly');
    await untilText('#video-state', 'live');
    await asked;
    expect(await page.$('.fly__boxes')).to.equal(null);
    expect(tickets).to.deep.equal([]);
  });

  it('what an extension sees lies where it is in the picture, as text, and cannot be followed', async () => {
    const seen = watch(page, plugins.node.url);
    await plugins.run({
      id: SEER,
      agent: ['entrypoint: agent/main.mjs', 'runtime: node', 'permissions: [vision.detection.publish]'],
      grants: ['vision.detection.publish'],
      files: await withSdk(SEER_CODE),
    });
    await untilText(BOX, BOAT);
    expect(await page.$(`button${BOX.slice(BOX.lastIndexOf('.'))}`)).to.equal(null);
    // A wide stage and a tall one: the picture is cut above and below, then at its sides.
    for (const viewport of [
      { width: 1280, height: 500 },
      { width: 1000, height: 1200 },
    ]) {
      await page.setViewportSize(viewport);
      const { box, picture } = await page.$eval(
        `${BOX}[data-track="7"]`,
        (element, video) => {
          const shown = document.querySelector<HTMLVideoElement>(video);
          if (shown === null) throw new Error('no video');
          const { x, y, width, height } = element.getBoundingClientRect();
          const frame = shown.getBoundingClientRect();
          const fills = getComputedStyle(shown).objectFit === 'cover';
          const scale = (fills ? Math.max : Math.min)(
            frame.width / shown.videoWidth,
            frame.height / shown.videoHeight,
          );
          const size = { width: shown.videoWidth * scale, height: shown.videoHeight * scale };
          return {
            box: [x, y, width, height],
            picture: [
              frame.x + (frame.width - size.width) / 2,
              frame.y + (frame.height - size.height) / 2,
              size.width,
              size.height,
            ],
          };
        },
        '.fly__pane:not(.small) video',
      );
      const [left = 0, top = 0, width = 0, height = 0] = picture;
      const wanted = [left + width / 4, top + height / 4, width / 2, height / 2];
      for (const [at, value] of box.entries()) expect(value).to.be.closeTo(wanted[at] ?? Number.NaN, 2);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await plugins.done('POST', `/api/plugins/${SEER}/disable`, {});
    await page.waitForFunction(() => document.querySelector('.fly__box') === null, undefined, {
      polling: 100,
    });
    seen.check();
  });

  it('the detector is chosen on the page of the node', async () => {
    const seen = watch(page, plugins.node.url);
    await visit(page, 'node/video');
    await page.getByRole('button', { name: 'Use Marker of the test picture', exact: true }).click();
    await untilText('body', 'Marker of the test picture is now the detector.');
    await untilText('.badge', 'in use');
    await page.waitForFunction(() => /Detection rate\s*[0-9]/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    seen.check();
  });

  it('a box is followed by a click, and let go by the keyboard', async () => {
    const seen = watch(page, plugins.node.url);
    await visit(page, 'fly');
    await untilText(BOX, 'marker 100 %');
    // A busy machine looks so seldom that the tracker may lose what moves, before the click arrives or after it: then it is
    // pointed at again.
    let pressed: string | null = null;
    while (pressed === null) {
      await page
        .locator(`button${BOX.slice(BOX.lastIndexOf('.'))}`)
        .first()
        .click();
      const target = await designated((value) => value !== null, 5000).catch(() => null);
      if (target === null) continue;
      const { track_id: track } = target as Target;
      const end = await plugins.until(
        'followed, or lost',
        async () => ({
          lost: ((await designated(() => true)) as Target | null)?.lock_state !== 'locked',
          words: await page.$$eval(`${BOX}, .fly__picture-target`, (all) =>
            all.map((each) => each.textContent).join(),
          ),
        }),
        ({ lost, words }) =>
          lost || (words.includes(`#${track} · tracking`) && words.includes(`Target #${track}: tracking`)),
      );
      if (end.lost) continue;
      pressed = await page.evaluate(() => {
        const locked = document.querySelector<HTMLElement>('.fly__box.locked');
        locked?.focus();
        return locked?.getAttribute('aria-pressed') ?? null;
      });
    }
    expect(pressed).to.equal('true');
    await page.keyboard.press('Enter');
    await designated((value) => value === null);
    await page.waitForFunction(
      () => document.querySelector('.fly__box.locked, .fly__picture-target') === null,
      undefined,
      {
        polling: 100,
      },
    );
    seen.check();
  });

  it('can be used by everybody: in the dark, and on a phone', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: PHONE.width, height: PHONE.height },
    ]) {
      await page.setViewportSize(viewport);
      for (const where of ['fly', 'node/video']) {
        await visit(page, where);
        await untilText(where === 'fly' ? BOX : 'main', where === 'fly' ? 'marker' : 'Add a model');
        await checkAxe(page);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(wider, where).to.be.at.most(0);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: null });
  });

  it('a model is uploaded with what it is, refused with the node’s words, and deleted', async () => {
    const seen = watch(page, plugins.node.url);
    await visit(page, 'node/video');
    await page.locator('input[type=file]').setInputFiles(join(ROOT, 'shared/vision/builtin/marker.onnx'));
    const fill = async (name: string, text: string): Promise<void> =>
      page.locator(`[name=${name}]`).fill(text);
    await fill('id', 'own-marker');
    await fill('width', '640');
    await fill('height', '320');
    await fill('classes', 'stripe');
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.waitForSelector('form .note.bad');
    expect((await plugins.done('GET', '/api/vision/models'))['custom']).to.deep.equal([]);
    await fill('width', '320');
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await untilText('main', 'own-marker · ');
    expect((await plugins.done('GET', '/api/vision/models'))['custom']).to.deep.equal(['own-marker']);
    const remove = await page.waitForSelector('button[aria-label="Delete (hold): own-marker"]');
    await remove?.focus();
    await page.keyboard.down('Space');
    await untilText('body', 'own-marker deleted.');
    await page.keyboard.up('Space');
    expect((await plugins.done('GET', '/api/vision/models'))['custom']).to.deep.equal([]);
    seen.check();
  });

  it('a token that only reads sees the detector, and no button', async () => {
    const { token } = await plugins.done('POST', '/api/mcp/tokens', { scopes: ['read'] });
    const reader = await openPage(browser);
    await signIn(reader, plugins.node.url, String(token), 'node/video');
    await reader.waitForFunction(
      () => /Marker of the test picture/.test(document.body.innerText),
      undefined,
      {
        polling: 100,
      },
    );
    for (const name of ['Stop detecting', 'Upload', 'Use Marker of the test picture'])
      expect(await reader.getByRole('button', { name, exact: true }).count(), name).to.equal(0);
    await reader.close();
  });

  it('stopped, nothing is drawn any more', async () => {
    await visit(page, 'node/video');
    await page.getByRole('button', { name: 'Stop detecting', exact: true }).click();
    await untilText('body', 'Detection is off.');
    await visit(page, 'fly');
    await untilText('#video-state', 'live');
    expect(await page.$('.fly__box')).to.equal(null);
  });
});

describe('the page of a node without vision', function () {
  this.timeout(120_000);
  before(function () {
    if (noBrowser() !== null) this.skip();
  });

  it('does not speak of it, and asks for nothing', async () => {
    const node = await TestNode.start({
      simulated: false,
      config: `${TEST_CAMERA}features:\n  vision: false\n`,
    });
    const browser = await openBrowser();
    try {
      const page = await openPage(browser);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.goto(`${node.url}/#/fly`);
      await page.waitForFunction(
        () => document.querySelector('#video-state')?.textContent === 'live',
        undefined,
        {
          polling: 100,
        },
      );
      await visit(page, 'node/video');
      await page.waitForSelector('.stats');
      expect(await page.$eval('main', (main) => main.innerText)).to.not.include('Vision');
      expect(asked.filter((path) => path.startsWith('/api/vision'))).to.deep.equal([]);
    } finally {
      await browser.close();
      await node.stop();
    }
  });
});
