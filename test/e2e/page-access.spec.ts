/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { checkAxe, noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { FakeHub } from '../support/fake-hub.ts';
import { TestNode } from '../support/node.ts';

const withKey = { 'x-svc-key': KEY };

describe('the page of who may use the node', function () {
  this.timeout(120_000);
  let browser: Browser;
  let node: TestNode;
  let page: Page;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    browser = await openBrowser('chromium', { deaf: true });
    page = await openPage(browser);
    await signIn(page, node.url, KEY);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  const verify = async (pin: string): Promise<string> => {
    const { body } = await node.json('/api/dashboard/pin/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pin }),
    });
    return String(body['session']);
  };

  it('sets a PIN that the node then takes, and ends a session that was opened with it', async () => {
    const seen = watch(page, node.url);
    await visit(page, 'access/people');
    await page.locator('input[name=pin]').fill('4821');
    await page.locator('input[name=repeat]').fill('4821');
    await page.getByRole('button', { name: 'Set the PIN', exact: true }).click();
    await page.waitForFunction(() => /PIN changed/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    const session = await verify('4821');
    await visit(page, 'node/update');
    await visit(page, 'access/people');
    await page.getByText('Chrome, Linux', { exact: true }).waitFor();
    await page.getByText('unknown device', { exact: true }).waitFor();
    await page.locator('button[aria-label^="Sign out"]').first().click();
    // The one of the change itself, then ours.
    await page.waitForFunction(
      () => document.querySelectorAll('button[aria-label^="Sign out"]').length === 1,
      undefined,
      { polling: 100 },
    );
    await page.locator('button[aria-label^="Sign out"]').click();
    await page.waitForFunction(() => /Nobody signed in/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    const { status } = await node.json('/api/status', {
      headers: { 'x-svc-dashboard-session': session },
    });
    expect(status).to.equal(401);
    seen.check();
  });

  it('a tab that signed in with the PIN stays signed in after a reload; another tab is not', async () => {
    const context = await browser.newContext();
    const tab = await context.newPage();
    await signIn(tab, node.url, '4821');
    await tab.reload();
    await tab.waitForSelector('nav');
    expect(await tab.$('main.sign-in')).to.equal(null);
    const other = await context.newPage();
    await other.goto(`${node.url}/`);
    await other.waitForSelector('main.sign-in');
    await context.close();
  });

  it('joins a fleet by a code, says whether its hub hears it, and leaves it when that is held', async () => {
    const hub = await FakeHub.start();
    const seen = watch(page, node.url);
    await visit(page, 'access/fleet');
    await page.locator('input[name=hub]').fill(hub.url);
    await page.locator('input[name=code]').fill(`svc1-${'0'.repeat(32)}-${'0'.repeat(32)}`);
    await page.getByRole('button', { name: 'Join the fleet', exact: true }).click();
    await page.waitForSelector('.note.bad');
    const code = hub.code();
    await page.locator('input[name=code]').fill(code);
    await page.getByRole('button', { name: 'Join the fleet', exact: true }).click();
    await page.waitForFunction(
      (wanted) => document.body.innerText.includes(wanted),
      `Part of the fleet f-test at ${hub.url}.`,
      { polling: 100 },
    );
    await page.waitForFunction(() => document.body.innerText.includes('not connected'), undefined, {
      polling: 100,
    });
    await checkAxe(page);
    const leave = page.getByRole('button', { name: 'Leave the fleet (hold)', exact: true });
    await leave.click({ delay: 1300 });
    await page.waitForFunction(() => document.body.innerText.includes('Not part of a fleet'), undefined, {
      polling: 100,
    });
    seen.check();
    await hub.stop();
  });

  it('makes a token that is shown once, with the line for an AI client, and revokes it', async () => {
    await visit(page, 'access');
    await page.getByRole('button', { name: 'Connect an AI client', exact: true }).click();
    await checkAxe(page);
    await page.locator('input[name=label]').fill('laptop');
    await page.getByRole('button', { name: 'Create token', exact: true }).click();
    const token = await page.inputValue('dialog input[aria-label=Token]');
    const line = await page.inputValue('dialog input[aria-label="Claude Code"]');
    expect(line).to.include(`SVC_MCP_TOKEN=${token}`);
    const listed = async () =>
      (await node.json('/api/mcp/status', { headers: withKey })).body['tokens'] as {
        readonly label: string;
        readonly scopes: readonly string[];
        readonly revoked: boolean;
      }[];
    expect((await listed())[0]).to.deep.include({ label: 'laptop', scopes: ['read'], revoked: false });
    await checkAxe(page);
    await page.keyboard.press('Escape');
    await visit(page, 'access/programs');
    await page.getByRole('button', { name: 'Revoke laptop', exact: true }).click();
    await page.getByText('Revoked and expired (1)').click();
    await page.getByText('revoked', { exact: true }).waitFor();
    expect((await listed())[0]).to.deep.include({ revoked: true });
    expect(await page.content()).to.not.include(token);
  });

  it('shows who did what, finds it by words, and checks that the record is whole', async () => {
    await visit(page, 'access/audit');
    // In words, with the route beside them for who looks for it.
    await page.getByText('Created a token', { exact: true }).waitFor();
    await page.getByText(/Pairing key · .* · POST \/api\/mcp\/tokens/).waitFor();
    await page.getByText('Set the PIN', { exact: true }).waitFor();
    await page.getByLabel('What', { exact: true }).fill('revoke');
    await page.waitForFunction(() => !/POST \/api\/mcp\/tokens/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    await page.waitForFunction(() => /The audit log is intact/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    for (const tab of ['overview', 'people', 'programs', 'connection', 'fleet', 'audit']) {
      await visit(page, `access/${tab}`);
      await checkAxe(page);
    }
  });
});
