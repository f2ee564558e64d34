/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import {
  checkAxe,
  DESKTOP,
  noBrowser,
  openBrowser,
  openPage,
  PHONE,
  signIn,
  visit,
  watch,
} from '../support/browser.ts';
import { KEY, withKey } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const PIN = '271828';
const OTHER_PIN = '314159';
const PAGES = ['fly', 'plan', 'vehicle', 'node', 'extensions', 'access', 'setup'] as const;
// Of the first load, without the map.
const MAX_GZIP_BYTES = 250_000;

async function says(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 100 });
}

for (const name of ['chromium', 'firefox'] as const) {
  describe(`the page in ${name}`, function () {
    this.timeout(120_000);
    let node: TestNode;
    let browser: Browser;
    before(async function () {
      if (noBrowser(name) !== null) return this.skip();
      [node, browser] = await Promise.all([
        TestNode.start({ pairing: { key: KEY } }),
        openBrowser(name, { deaf: true }),
      ]);
      await node.post('/api/dashboard/pin/set', { pin: PIN }, { [withKey[0]]: KEY });
    });
    after(async () => {
      await browser?.close();
      await node?.stop();
    });

    it('opens every page without an error, a refused script or a word to another host', async () => {
      const page = await openPage(browser);
      const seen = watch(page, node.url);
      await signIn(page, node.url, PIN);
      for (const where of PAGES) {
        await visit(page, where);
      }
      await visit(page, 'fly');
      await page.waitForFunction(() => /STABILIZE/i.test(document.body.innerText), undefined, {
        polling: 100,
      });
      seen.check();
      await page.context().close();
    });

    it('asks again when the credential is gone, and goes on where it was', async () => {
      const page = await openPage(browser);
      await signIn(page, node.url, PIN);
      await visit(page, 'node');
      const headers = { [withKey[0]]: KEY };
      await node.post('/api/dashboard/pin/set', { pin: OTHER_PIN }, headers);
      await page.waitForSelector('input[name=secret]', { timeout: 20_000 });
      await says(page, 'Sign in again');
      await page.locator('input[name=secret]').fill(OTHER_PIN);
      await page.locator('form button[type=submit]').click();
      await page.waitForSelector('nav a.to-node[aria-current]');
      await page.context().close();
    });
  });
}

describe('the page', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([
      TestNode.start({ pairing: { key: KEY } }),
      openBrowser('chromium', { deaf: true }),
    ]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  it('needs less than 250 kB for its first page', async () => {
    const page = await openPage(browser);
    const client = await page.context().newCDPSession(page);
    await client.send('Network.enable');
    let received = 0;
    client.on('Network.loadingFinished', ({ encodedDataLength }) => (received += encodedDataLength));
    await page.goto(`${node.url}/`);
    await page.waitForSelector('input[name=secret]');
    await page.locator('input[name=secret]').fill(KEY);
    await page.locator('form button[type=submit]').click();
    await page.waitForSelector('main[data-page=fly] > h1 + :not(.first)');
    expect(received).to.be.within(5000, MAX_GZIP_BYTES);
    await page.context().close();
  });

  it('opens at an address that nobody has encoded', async () => {
    const page = await openPage(browser);
    await page.goto(`${node.url}/#/vehicle/%E0%A4%A`);
    await page.locator('input[name=secret]').fill(KEY);
    await page.locator('form button[type=submit]').click();
    await page.waitForSelector('main[data-page=vehicle]');
    await page.context().close();
  });

  it('says that the node is away, and shows it again when it is back', async () => {
    const page = await openPage(browser);
    await signIn(page, node.url, KEY);
    const flying = (): Promise<unknown> =>
      page.waitForFunction(() => /STABILIZE/i.test(document.body.innerText), undefined, { polling: 100 });
    await flying();
    const front = node.pid('svc-control');
    process.kill(front, 'SIGSTOP');
    // Counted from its last word, not from when a closing handshake that never comes is given up: that would be later.
    await page.waitForFunction(
      () => Number(/No answer from the node for (\d+) s/.exec(document.body.innerText)?.[1]) >= 5,
      undefined,
      { polling: 100 },
    );
    // Before the supervisor replaces it, which is after 15 s.
    expect(node.service('svc-control').pid).to.equal(front);
    process.kill(front, 'SIGCONT');
    await node.until((all) => all.some(({ name, state }) => name === 'svc-control' && state === 'running'));
    await page.waitForFunction(
      () => !document.body.innerText.includes('No answer from the node for'),
      undefined,
      { polling: 100 },
    );
    const pid = node.pid('svc-control');
    process.kill(pid, 'SIGKILL');
    await node.until((services) =>
      services.some((each) => each.name === 'svc-control' && each.state === 'running' && each.pid !== pid),
    );
    await flying();
    await page.context().close();
  });

  it('keeps a session for the next visit only where that is asked for', async () => {
    await node.post('/api/dashboard/pin/set', { pin: PIN }, { [withKey[0]]: KEY });
    const context = await browser.newContext();
    const again = async (): Promise<boolean> => {
      const page = await context.newPage();
      await page.goto(`${node.url}/`);
      await page.waitForSelector('nav, input[name=secret]');
      const inside = (await page.$('nav')) !== null;
      await page.close();
      return inside;
    };
    await signIn(await context.newPage(), node.url, PIN);
    expect(await again(), 'a session is of its tab').to.equal(false);
    const asked = await context.newPage();
    await asked.goto(`${node.url}/`);
    await asked.locator('input[type=checkbox]').click();
    await asked.locator('input[name=secret]').fill(PIN);
    await asked.locator('form button[type=submit]').click();
    await asked.waitForSelector('nav');
    expect(await again()).to.equal(true);
    await context.close();
  });

  for (const theme of ['light', 'dark'] as const)
    for (const [size, viewport] of Object.entries({
      desktop: DESKTOP,
      phone: PHONE,
      narrow: { width: 320, height: 640 },
    }))
      it(`can be used by everybody: axe finds nothing, ${theme}, ${size}`, async () => {
        const page = await openPage(browser, viewport, { colorScheme: theme });
        await signIn(page, node.url, KEY);
        for (const where of PAGES) {
          await visit(page, where);
          await checkAxe(page);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          expect(wide, `${where} is wider than the screen`).to.be.at.most(0);
        }
        await page.context().close();
      });
});
