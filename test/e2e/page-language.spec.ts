/// <reference lib="dom" />
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import {
  checkAxe,
  DESKTOP,
  noBrowser,
  openBrowser,
  openPage,
  signIn,
  visit,
  watch,
} from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

describe('the language of the page', function () {
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

  const languageOf = async (page: Page): Promise<string> =>
    page.evaluate(() => document.documentElement.lang);
  const shows = async (page: Page, text: string): Promise<void> => {
    await page.getByText(text, { exact: true }).first().waitFor();
  };
  /** @param name of the language, in itself */
  const choose = async (page: Page, menu: string, name: string): Promise<void> => {
    await page.getByRole('button', { name: menu, exact: true }).click();
    await Promise.all([
      page.waitForEvent('load'),
      page.locator('select:has(option[value=de])').selectOption({ label: name }),
    ]);
    await page.waitForSelector('nav');
  };

  for (const { locale, lang, title } of [
    { locale: 'de-DE', lang: 'de', title: 'Fluggerät' },
    { locale: 'de-AT', lang: 'de', title: 'Fluggerät' },
    { locale: 'en-GB', lang: 'en', title: 'Vehicle' },
    { locale: 'fr-FR', lang: 'en', title: 'Vehicle' },
  ])
    it(`is ${lang} in a browser of ${locale}`, async () => {
      const page = await openPage(browser, DESKTOP, { locale });
      const seen = watch(page, node.url);
      await signIn(page, node.url, KEY);
      expect(await languageOf(page)).to.equal(lang);
      await shows(page, title);
      await visit(page, 'vehicle');
      await checkAxe(page);
      seen.check();
      await page.context().close();
    });

  it('is the one that was chosen, after a reload and against the browser', async () => {
    const page = await openPage(browser, DESKTOP, { locale: 'de-DE' });
    const seen = watch(page, node.url);
    await signIn(page, node.url, KEY);
    await choose(page, 'Menü', 'English');
    expect(await languageOf(page)).to.equal('en');
    await page.reload();
    await shows(page, 'Vehicle');
    await choose(page, 'Menu', 'Deutsch');
    expect(await languageOf(page)).to.equal('de');
    seen.check();
    await page.context().close();
  });

  it('is that of the reader of logs, too, which is no part of the page, and of figures', async () => {
    const page = await openPage(browser, DESKTOP, { locale: 'en-GB' });
    const seen = watch(page, node.url);
    await page.addInitScript(() => localStorage.setItem('svc-language', 'de'));
    await signIn(page, node.url, KEY);
    await visit(page, 'vehicle');
    await page
      .getByText(/^\d+,\d+\s*V$/)
      .first()
      .waitFor();
    const path = join(node.base, 'none.bin');
    await writeFile(path, Buffer.alloc(100_000, 7));
    await visit(page, 'vehicle/logs');
    await page.getByRole('link', { name: 'Logdatei öffnen', exact: true }).click();
    await page.locator('.drop input[type=file]').setInputFiles(path);
    await page.getByText('Diese Datei ist kein Log', { exact: false }).waitFor();
    seen.check();
    await page.context().close();
  });
});
