/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { checkAxe, noBrowser, openBrowser, openPage, watch } from '../support/browser.ts';
import { TestNode } from '../support/node.ts';

describe('the form of the configuration', function () {
  this.timeout(120_000);
  let browser: Browser;
  let node: TestNode;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    [browser, node] = await Promise.all([
      openBrowser(),
      TestNode.start({ config: 'video:\n  source: none\n' }),
    ]);
  });
  after(async () => {
    await Promise.all([browser?.close(), node?.stop()]);
  });

  it('stores a value, says at the field why another is refused, and restarts what must restart', async () => {
    const page = await openPage(browser);
    page.setDefaultTimeout(15_000);
    const seen = watch(page, node.url);
    await page.goto(`${node.url}/#/node/config`);
    await page.locator('input[type=search]').fill('radio.');
    await page.getByLabel('radio.region', { exact: true }).fill('zz');
    await page.getByRole('button', { name: 'Save radio.region', exact: true }).click();
    await page.waitForFunction(
      () =>
        document
          .querySelector('.schema-form__leaf .error')
          ?.textContent.includes('does not have the right form'),
      undefined,
      { polling: 100 },
    );
    await checkAxe(page);
    await page.getByLabel('radio.channel', { exact: true }).fill('36');
    await page.getByRole('button', { name: 'Save radio.channel', exact: true }).click();
    await page.getByRole('button', { name: 'Restart svc-control', exact: true }).click();
    await page.waitForFunction(() => document.querySelector('.schema-form__restarts') === null, undefined, {
      polling: 100,
    });
    const { radio } = (await (await node.fetch('/api/config')).json()) as {
      radio: { channel: number; region: string };
    };
    expect(radio).to.include({ channel: 36, region: '00' });
    seen.check();
  });
});
