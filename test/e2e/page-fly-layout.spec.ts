/// <reference lib="dom" />
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { noBrowser, openBrowser, signIn } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { EASY_HERO, KEYED, startVideoNode, TEST_CAMERA } from '../support/video-node.ts';

/** Phones both ways, tablet, desks; the smaller ones are also what 200 % leaves of 1280×800 and 1920×1080. */
const SIZES: readonly (readonly [width: number, height: number])[] = [
  [320, 568],
  [390, 844],
  [844, 390],
  [640, 400],
  [768, 1024],
  [960, 540],
  [1280, 800],
  [1920, 1080],
];

/** What lies over the picture or the map, each in a place of its own. */
const THINGS: Readonly<Record<string, string>> = {
  top: '.top',
  navigation: '.rail',
  banner: '.banner',
  chips: '.strip__strip > *',
  cards: '.notices__notices > *, .fly__cameras',
  instruments: '.fly__instruments',
  dock: '.dock__dock',
  said: '.outcome .note, .fly__said .toasts .note',
  tape: '.instruments__tape',
  inset: '.fly__inset-place',
  tools: '.fly__tools-place, .map-buttons > *',
};

/**
 * What overlaps, is cut off by the window, or is wider than its place, in words; a thing that scrolls counts as far as it is seen.
 */
async function collisions(page: Page): Promise<readonly string[]> {
  return page.evaluate((things) => {
    type Box = { left: number; top: number; right: number; bottom: number };
    const meet = (a: Box, b: Box): Box => ({
      left: Math.max(a.left, b.left),
      top: Math.max(a.top, b.top),
      right: Math.min(a.right, b.right),
      bottom: Math.min(a.bottom, b.bottom),
    });
    const isThere = (box: Box): boolean => box.right - box.left > 1 && box.bottom - box.top > 1;
    const found: { name: string; element: Element; box: Box }[] = [];
    const wrong: string[] = [];
    for (const [name, selector] of Object.entries(things))
      for (const element of document.querySelectorAll(selector)) {
        if (!element.checkVisibility({ visibilityProperty: true })) continue;
        const whole: Box = element.getBoundingClientRect();
        if (!isThere(whole)) continue;
        let box = whole;
        let scrolls = false;
        let isFixed = getComputedStyle(element).position === 'fixed';
        for (let above = element.parentElement; above !== null && !isFixed; above = above.parentElement) {
          const { overflowX, overflowY, position } = getComputedStyle(above);
          isFixed = position === 'fixed';
          if (overflowX === 'visible' && overflowY === 'visible') continue;
          scrolls ||= /auto|scroll/.test(overflowY) && above.tagName !== 'MAIN';
          box = meet(box, above.getBoundingClientRect());
        }
        const words = (element.getAttribute('aria-label') ?? element.textContent).trim().slice(0, 24);
        const id = `${name} (${words})`;
        const edge = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
        const seen = scrolls ? box : whole;
        if (
          isThere(seen) &&
          (seen.left < -1 || seen.top < -1 || seen.right > edge.right + 1 || seen.bottom > edge.bottom + 1)
        )
          wrong.push(`${id} is cut off`);
        if (isThere(box)) found.push({ name: id, element, box });
      }
    for (const [at, one] of found.entries())
      for (const other of found.slice(at + 1)) {
        if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
        if (isThere(meet(one.box, other.box))) wrong.push(`${one.name} over ${other.name}`);
      }
    // The button of the card must not have to be scrolled to.
    const go = document.querySelector('.notices__notices .button.hold[aria-disabled="false"]');
    const { left = 0, right = 0, top = 0, bottom = 0 } = go?.getBoundingClientRect() ?? {};
    if (go !== null && !go.contains(document.elementFromPoint((left + right) / 2, bottom - 4)))
      wrong.push(`${go.textContent} ends at ${bottom}, from ${top}, and is not seen`);
    for (const field of document.querySelectorAll<HTMLInputElement>('.notices__notices input'))
      if (field.checkVisibility() && field.scrollWidth > field.clientWidth)
        wrong.push(`${field.value} is cut off`);
    for (const text of document.querySelectorAll(
      '.dock__dock span, .instruments__key-figures dd, .instruments__key-figures dt',
    ))
      if (
        text.checkVisibility() &&
        text.scrollWidth > text.clientWidth + 1 &&
        getComputedStyle(text).display !== 'inline'
      )
        wrong.push(`${text.textContent} is cut off`);
    return wrong;
  }, THINGS);
}

describe('on the page to fly by nothing lies over anything else', function () {
  this.timeout(180_000);
  let browser: Browser;
  let page: Page;
  let node: TestNode;
  let empty: TestNode;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [browser, node, empty] = await Promise.all([
      openBrowser(),
      startVideoNode({ simulated: true, config: TEST_CAMERA + EASY_HERO }),
      TestNode.start({ simulated: false, pairing: { key: KEY } }),
    ]);
    page = await browser.newPage();
  });
  after(async () => {
    await browser?.close();
    await Promise.all([node?.stop(), empty?.stop()]);
  });

  const check = async (state: string): Promise<void> => {
    const wrong: string[] = [];
    for (const theme of ['dark', 'sun'])
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        await page.evaluate((name) => (document.documentElement.dataset['theme'] = name), theme);
        // Something is said in passing meanwhile; with the card, which it shortens for as long, it is not.
        await page.evaluate(() =>
          document.querySelector<HTMLElement>('.fly__stage:not(:has(.going)) .strip__chip.chip')?.click(),
        );
        // Two frames: what is measured moves what is measured by it.
        await page.evaluate(
          async () =>
            new Promise((resolve) => {
              requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50)));
            }),
        );
        const pictures = process.env['SVC_KEEP_LAYOUTS'];
        if (pictures !== undefined)
          await page.screenshot({
            path: join(pictures, `${state}-${theme}-${width}x${height}.png`.replaceAll(' ', '-')),
          });
        wrong.push(...(await collisions(page)).map((what) => `${width}×${height} ${theme}: ${what}`));
      }
    expect(wrong, state).to.deep.equal([]);
  };
  const command = async (cmd: string, ...args: (string | number)[]): Promise<void> => {
    const { status, body } = await node.post('/api/command', { cmd, args }, KEYED);
    expect([status, body['status']]).to.deep.equal([200, 'accepted']);
  };

  it('without a vehicle', async () => {
    await signIn(page, empty.url, KEY);
    await page.getByText('No vehicle heard yet.').first().waitFor();
    await check('no vehicle');
  });

  it('disarmed, with the picture large and with the map large', async () => {
    await signIn(page, node.url, KEY);
    await page.waitForSelector('.picture-shown');
    await page.getByText('Ready to arm', { exact: true }).first().waitFor({ state: 'attached' });
    await check('disarmed picture');
    await page.keyboard.press('m');
    await page.waitForSelector('.map-large');
    await check('disarmed map');
  });

  it('flying with a place to go to, and just landed, with what is said then', async () => {
    await command('takeoff', 10, 1);
    await telemetry(node, ({ position }) => (position as { alt_rel: number }).alt_rel > 9, KEYED);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'More commands', exact: true }).click();
    await page.getByRole('button', { name: 'Go to …', exact: true }).click();
    await page.getByLabel('Latitude (°)', { exact: true }).fill('-35.3629312');
    await page.getByLabel('Longitude (°)', { exact: true }).fill('149.1648713');
    await check('flying, Go card');
    await command('land');
    await telemetry(node, ({ armed }) => armed === false, KEYED);
    await check('just landed');
  });
});
