/// <reference lib="dom" />
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { plainPng, tinyMap } from '../support/pmtiles.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const RED = [200, 30, 30] as const;

describe('maps without internet', function () {
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
      openBrowser('chromium', { extra: ['--enable-unsafe-swiftshader'] }),
    ]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
    if (folder !== undefined) await removeDir(folder);
  });

  /** The colour in the middle of the map, as it is seen. */
  const middle = async (page: Page): Promise<readonly number[]> => {
    const map = page.locator('.map');
    const picture = (await map.screenshot()).toString('base64');
    return page.evaluate(async (png) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      const pen = canvas.getContext('2d');
      // Beside the vehicle, which is in the middle.
      pen?.drawImage(image, -Math.round(image.width * 0.3), -Math.round(image.height * 0.3));
      return [...(pen?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3);
    }, picture);
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
    await page.waitForSelector('.map canvas');
    for (
      let [r = 0, g = 0, b = 0] = await middle(page);
      r < 150 || g > 90 || b > 90;
      [r = 0, g = 0, b = 0] = await middle(page)
    );

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
});
