/// <reference lib="dom" />
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { RpcServer } from '../../shared/rpc/rpc.ts';
import type { UpdateStatus } from '../../shared/schemas/update.ts';
import { checkAxe, noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const IDLE: UpdateStatus = { running: '1.0.0', previous: null, step: 'idle', percent: null, error: null };

describe('the page updates the node', function () {
  this.timeout(60_000);
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let helper: RpcServer;
  let status = IDLE;
  const started: unknown[] = [];
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([
      TestNode.start({
        pairing: { key: KEY },
        // In place of svc-helper.
        prepare: async (paths) => {
          helper = new RpcServer({
            path: paths.helperSocket,
            methods: {
              update_status: () => status,
              update_start: (params) => {
                started.push(params);
                status = { ...IDLE, step: 'unpacking', percent: 40 };
                return { done: true };
              },
            },
            onError: (error) => {
              throw error;
            },
          });
          await helper.start();
        },
      }),
      openBrowser('chromium', { deaf: true }),
    ]);
    page = await openPage(browser);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
    await helper?.stop();
  });
  const shows = async (words: string): Promise<unknown> =>
    page.waitForFunction((text: string) => document.body.innerText.includes(text), words, { polling: 100 });

  it('a chosen file goes to the node; its steps are shown, how it ends, and in words why', async () => {
    const seen = watch(page, node.url);
    await signIn(page, node.url, KEY);
    await visit(page, 'node/update');
    await shows('Running version 1.0.0');
    const file = join(node.base, 'next.svcup');
    await writeFile(file, 'the bundle');
    await page.locator('input[type=file]').setInputFiles(file);
    await shows('Unpacking');
    expect(await readFile(node.paths.updateUpload, 'utf8')).to.equal('the bundle');
    expect(started).to.deep.equal([{ force: false }]);
    await checkAxe(page);
    status = { ...IDLE, step: 'returned', error: 'Version 1.1.0 did not come up as it should.' };
    await shows('Version 1.1.0 did not come up as it should.');
    status = { ...IDLE, running: '1.1.0', previous: '1.0.0', step: 'done' };
    await shows('Version 1.1.0 installed.');
    await shows('Previous version, still installed: 1.0.0.');
    seen.check();
  });
});
