/// <reference lib="dom" />
import { type ChildProcess, spawn } from 'node:child_process';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { worksAtLast } from '../support/ask-again.ts';
import { checkAxe, noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { RealNetworkManager } from '../support/network/network-manager.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';

describe('modems and uplinks on the page', function () {
  this.timeout(180_000);
  let manager: RealNetworkManager;
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let door: ChildProcess;
  let url = '';

  before(async function () {
    if (noBrowser() !== null) this.skip();
    manager = await RealNetworkManager.start();
    await manager.startModems();
    await manager.addModem(0, { sim: 'pin', identifier: 'aa00' });
    node = await TestNode.start({
      pairing: { key: KEY },
      args: ['--helper'],
      env: manager.env,
      prefix: manager.prefix,
    });
    await node.knowsArmed();
    // The node is in a network namespace, the browser is not.
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const enter = `${manager.prefix.join(' ')} socat STDIO TCP:127.0.0.1:${node.port}`;
    door = spawn('socat', [`TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr,fork`, `EXEC:"${enter}"`]);
    await worksAtLast('the door is open', async () => fetch(url), 20_000);
    browser = await openBrowser('chromium', { deaf: true });
    page = await openPage(browser);
    await signIn(page, url, KEY);
  });
  after(async () => {
    await browser?.close();
    door?.kill();
    await node?.stop();
    await manager?.stop();
  });

  const says = async (pattern: RegExp): Promise<unknown> =>
    page.waitForFunction(
      (source: string) => new RegExp(source).test(document.body.innerText),
      pattern.source,
      { polling: 100 },
    );

  it('unlocks a SIM, connects, and shows the uplinks', async () => {
    const seen = watch(page, url);
    await visit(page, 'node/network');
    await says(/Modem QUALCOMM Mock[\s\S]*needs its PIN\. Tries left: 3/);
    await checkAxe(page);
    await page.getByRole('button', { name: 'Set up …', exact: true }).click();
    await page.getByRole('textbox', { name: 'Access point (APN)', exact: true }).fill('internet');
    await page.locator('input[name="pin"]').fill('9999');
    await page.getByRole('button', { name: 'Apply and connect', exact: true }).click();
    await says(/refuses this PIN/);
    await says(/Tries left: 2/);
    await checkAxe(page);
    await page.locator('input[name="pin"]').fill('1234');
    await page.getByRole('button', { name: 'Apply and connect', exact: true }).click();
    await says(/connected[\s\S]*Test Carrier[\s\S]*67 %[\s\S]*10\.64\.0\.2/);
    await says(/Uplinks[\s\S]*eth0[\s\S]*in use[\s\S]*cdc-wdm0[\s\S]*metered/);
    await checkAxe(page);
    expect((await manager.askedOfModems()).pins).to.deep.equal(['9999', '1234']);
    seen.check();
  });
});
