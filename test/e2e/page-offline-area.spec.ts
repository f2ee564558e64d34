import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
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
import { TileServer } from '../support/tile-server.ts';

/** Names that a provider, or somebody who writes a config, may have. */
const HOSTILE = '<img src=x onerror="document.title=1">';

describe('an offline area on the page', function () {
  this.timeout(120_000);
  let server: TileServer;
  let node: TestNode;
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    server = await TileServer.start();
    const sources = [
      server.source('aerial', { name: 'Aerial pictures' }),
      server.source('heights', { name: HOSTILE, attribution: HOSTILE, tile: 'terrain' }),
    ];
    [node, browser] = await Promise.all([
      TestNode.start({ pairing: { key: KEY }, config: `maps:\n  sources: ${JSON.stringify(sources)}\n` }),
      openBrowser('chromium', { deaf: true }),
    ]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
    await server?.stop();
  });

  const tab = async (screen = PHONE): Promise<Page> => {
    const page = await openPage(browser, screen);
    await signIn(page, node.url, KEY);
    await visit(page, 'node/maps');
    return page;
  };
  const maps = async () => {
    const { body } = await node.json('/api/maps', { headers: { 'X-SVC-Key': KEY } });
    return (body['maps'] as { name: string }[]).map(({ name }) => name);
  };

  it('is drawn up around the vehicle, its size is told, it is made and listed; only the node is asked', async () => {
    const page = await tab();
    const seen = watch(page, node.url);
    await page.getByText('Aerial pictures').first().waitFor();
    await page.locator('button:not([aria-disabled=true])', { hasText: 'At the vehicle' }).click();
    await page.getByLabel('Radius, km').fill('0.5');
    await page.getByLabel('Name').fill('field');
    await page.getByText(/^\d+ tiles, about/).waitFor();
    expect(server.asked).to.deep.equal([]);
    await checkAxe(page);
    await page.getByRole('button', { name: 'Download area' }).click();
    await page.getByText('field.pmtiles is ready.').waitFor();
    await page.locator('.node__items strong', { hasText: /^field$/ }).waitFor();
    expect(await maps()).to.deep.equal(['field.pmtiles']);
    seen.check();
    expect(await page.title()).to.not.equal('1');
    await page.close();
  });

  it('one that is being made is seen by whoever comes later, who can stop it', async () => {
    server.behaviours.set('aerial', () => undefined);
    const page = await tab();
    await page.getByLabel('Centre').fill('10, 20');
    await page.getByLabel('Name').fill('far');
    await page.locator('button:not([aria-disabled=true])', { hasText: 'Download area' }).click();
    const other = await tab();
    await other.getByText('far.pmtiles').waitFor();
    await checkAxe(other);
    await other.getByRole('button', { name: 'Stop: far.pmtiles' }).click();
    await other.getByRole('button', { name: 'Stop: far.pmtiles' }).waitFor({ state: 'detached' });
    await page.getByText('It was stopped before it was done.').waitFor();
    expect(await maps()).to.deep.equal(['field.pmtiles']);
  });

  it('what is no place, no name or too large is said before anything begins', async () => {
    const page = await tab();
    await page.getByLabel('Centre').fill('north of here');
    await page.getByText('Enter latitude and longitude').waitFor();
    await page.getByLabel('Name').fill('../x');
    await page.getByText('Use only letters, digits').waitFor();
    await page.getByLabel('Centre').fill('47, 8');
    await page.getByLabel('Radius, km').fill('200');
    await page.getByText(/and 200000 are the most/).waitFor();
  });
});
