/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { DESKTOP, noBrowser, openBrowser, PHONE } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { checkPicture, openStill, type Theme } from '../support/pictures-kept.ts';

const SIZES = { desktop: DESKTOP, phone: PHONE } as const;

interface Shown {
  readonly view: string;
  readonly state: string;
  readonly sizes: readonly (keyof typeof SIZES)[];
  readonly themes: readonly Theme[];
  /** Selectors of what changes by itself. */
  readonly live?: readonly string[];
  readonly open: (page: Page, origin: string) => Promise<unknown>;
}

const TABLE: readonly Shown[] = [
  {
    view: 'sign-in',
    state: 'empty',
    sizes: ['phone'],
    themes: ['light'],
    open: async (page, origin) => {
      await page.goto(`${origin}/`);
      await page.waitForSelector('input[name=secret]');
    },
  },
];

describe('the page looks as it was kept', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([
      TestNode.start({ pairing: { key: KEY }, simulated: false, config: 'agent:\n  name: kite\n' }),
      openBrowser(),
    ]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  for (const { view, state, sizes, themes, live = [], open } of TABLE)
    for (const size of sizes)
      for (const theme of themes)
        it(`${view}, ${state}: ${size}, ${theme}`, async () => {
          const page = await openStill(browser, SIZES[size], theme);
          await open(page, node.url);
          await checkPicture(page, `${view}-${state}-${size}-${theme}`, { live });
          await page.context().close();
        });
});
