/// <reference lib="dom" />
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openLogDatabase } from '../../residual/app/logs/log-database.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { checkAxe, noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { DeviceTree } from '../support/device-tree.ts';
import { KEY } from '../support/edge.ts';
import type { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

/** Eight minutes of a battery that falls for one second, as version 1.0 has written them. */
function dip(logStore: string): void {
  const { db } = openLogDatabase(logStore, Date.now(), createLogger('test', 'silent'));
  db.exec("INSERT INTO metric_names (name) VALUES ('battery.voltage')");
  const add = db.prepare(
    "INSERT INTO metrics (metric, ts_us, value) SELECT id, ?, ? FROM metric_names WHERE name = 'battery.voltage'",
  );
  const begin = Math.floor(Date.now() / 1000) - 600;
  db.exec('BEGIN');
  for (let second = 0; second < 500; second++) add.run((begin + second) * 1e6, second === 250 ? 5.25 : 12.5);
  db.exec('COMMIT');
  db.close();
}

describe('the page of the node itself', function () {
  this.timeout(120_000);
  let browser: Browser;
  let node: TestNode;
  let page: Page;
  let base = '';
  let tree: DeviceTree;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    base = await tempDir();
    tree = new DeviceTree(base);
    const usb = await tree.usb('1-1', {
      idVendor: '1209',
      idProduct: '5740',
      product: 'Pixhawk1',
      serial: '7',
    });
    await tree.usbSerial('ttyACM0', usb, null);
    node = await startVideoNode({
      simulated: true,
      env: tree.env,
      prepare: async ({ logStore }) => dip(logStore),
    });
    browser = await openBrowser();
    page = await openPage(browser);
    await signIn(page, node.url, KEY);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
    if (base !== '') await removeDir(base);
  });

  const text = async (): Promise<string> => page.$eval('main', (main) => main.innerText);

  it('restarts a service with proof: the process before and the one after', async () => {
    const seen = watch(page, node.url);
    await visit(page, 'node/overview');
    const before = node.pid('svc-video');
    await page.getByRole('button', { name: 'Restart svc-video', exact: true }).click();
    await page.waitForFunction(() => /svc-video restarted/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    const after = node.pid('svc-video');
    expect(after).to.not.equal(before);
    expect(await text()).to.include(`svc-video restarted (PID ${before} → ${after}).`);
    seen.check();
  });

  it('gives a support bundle to whoever helps', async () => {
    const seen = watch(page, node.url);
    await visit(page, 'node/update');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Support bundle', exact: true }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).to.match(/^svc-support.*\.zip$/);
    expect((await readFile(await download.path())).subarray(0, 4).toString()).to.equal('PK\x03\x04');
    seen.check();
  });

  it('shows what is connected and who uses it, and what was unplugged', async () => {
    const seen = watch(page, node.url);
    await visit(page, 'node/overview');
    const shows = async (words: string): Promise<unknown> =>
      page.waitForFunction((wanted) => document.body.innerText.includes(wanted), words, { polling: 100 });
    await shows('Serial port ttyACM0 of Generic Pixhawk1');
    await shows('Flight controller over USB');
    await shows(`${join(tree.dev, 'ttyACM0')} · driver cdc_acm`);
    await tree.unplugSerial('ttyACM0', null);
    await page.getByRole('button', { name: 'Scan now', exact: true }).click();
    await shows('Unplugged: 1');
    seen.check();
  });

  it('shows the refusal of the armed guard, and goes over it only by a button that is held', async () => {
    const command = async (cmd: string): Promise<unknown> =>
      (
        await node.json('/api/command', {
          method: 'POST',
          headers: { ...KEYED, 'content-type': 'application/json' },
          body: JSON.stringify({ cmd }),
        })
      ).body['status'];
    while ((await command('arm')) !== 'accepted');
    await visit(page, 'node/overview');
    const before = node.pid('svc-link');
    const over = page.getByRole('button', { name: 'Do it while armed (hold)', exact: true });
    await page.getByRole('button', { name: 'Restart svc-link', exact: true }).click();
    await over.click();
    expect(node.pid('svc-link')).to.equal(before);
    await over.focus();
    await page.keyboard.down('Enter');
    await page.waitForFunction(() => /svc-link restarted/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    await page.keyboard.up('Enter');
    expect(node.pid('svc-link')).to.not.equal(before);
  });

  it('follows the log, and finds words in it', async () => {
    await visit(page, 'node/log');
    await page.waitForFunction(
      () => /svc-link/.test(document.querySelector('.log__log')?.textContent ?? ''),
      undefined,
      { polling: 100 },
    );
    await page.locator('input[type=search]').fill('nothing-says-this');
    await page.waitForFunction(() => /No matching entries/.test(document.body.innerText), undefined, {
      polling: 100,
    });
  });

  it('stores a picture that the API then has, shows it, and deletes it', async () => {
    await visit(page, 'node/video');
    await page.getByRole('button', { name: 'Take snapshot', exact: true }).click();
    const shown = await page.waitForSelector('button[aria-label^="Show: "]');
    const names = async (): Promise<readonly string[]> =>
      (
        (await node.json('/api/video/recordings', { headers: KEYED })).body['recordings'] as {
          readonly name: string;
        }[]
      ).map(({ name }) => name);
    expect(await names()).to.have.length(1);
    await shown?.click();
    await page.waitForFunction(
      () => (document.querySelector<HTMLImageElement>('dialog img')?.naturalWidth ?? 0) > 0,
      undefined,
      { polling: 100 },
    );
    await page.keyboard.press('Escape');
    const remove = await page.waitForSelector('button[aria-label^="Delete (hold): "]');
    await remove?.focus();
    await page.keyboard.down('Space');
    await page.waitForFunction(() => /Nothing here yet/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    await page.keyboard.up('Space');
    expect(await names()).to.deep.equal([]);
  });

  it('the history shows a dip of one second in the mean of a minute and of an hour', async () => {
    await visit(page, 'node/overview');
    await visit(page, 'node/metrics');
    for (const range of ['1 hour', '7 days']) {
      await page.getByText(range, { exact: true }).click();
      await page.waitForFunction(
        () => /Battery voltage: [0-9.]+ now, lowest 5.25, highest [0-9.]+\sV/.test(document.body.innerText),
        undefined,
        { polling: 100 },
      );
    }
  });

  it('can be used by everybody, also on a phone', async () => {
    // Of the same kind as before, as another one would load the page anew.
    await page.setViewportSize({ width: 320, height: 640 });
    // Five tabs; what was a tab of its own is found at its old address.
    const TABS = {
      Overview: ['overview'],
      Connections: ['network', 'radio'],
      Video: ['video'],
      'Log and history': ['log', 'metrics'],
      Settings: ['config', 'maps', 'update'],
    };
    const places = Object.entries(TABS).flatMap(([name, sections]) =>
      sections.map((tab) => [name, tab] as const),
    );
    for (const [name, tab] of places) {
      await visit(page, `node/${tab}`);
      await page.getByRole('tab', { name, exact: true, selected: true }).waitFor();
      expect(await page.getByRole('tab').count()).to.equal(5);
      await checkAxe(page);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wider, tab).to.be.at.most(0);
    }
  });
});
