/// <reference lib="dom" />
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { askAgain } from '../support/ask-again.ts';
import { noBrowser, openBrowser, openPage, signIn, visit } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const PIN = '271828';
const withKey = { 'x-svc-key': KEY };
/** How long the page is only looked at, ms. */
const LOOKED_AT_MS = 10_000;

interface Recorded {
  readonly route: string | null;
  readonly outcome: string;
}

/** Every record of the node's audit. */
function audited(node: TestNode): readonly Recorded[] {
  return globSync(join(node.paths.auditDir, '*.ndjson'))
    .flatMap((path) => readFileSync(path, 'utf8').trim().split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded);
}

async function kept(page: Page): Promise<string> {
  return page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
}

describe('a tab and its session', function () {
  this.timeout(120_000);
  let browser: Browser;
  let node: TestNode;
  let context: BrowserContext;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    browser = await openBrowser('chromium', { deaf: true });
  });
  beforeEach(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    context = await browser.newContext();
  });
  afterEach(async () => {
    await context?.close();
    await node?.stop();
  });
  after(async () => browser?.close());

  const sessions = async () =>
    (await node.json('/api/dashboard/sessions', { headers: withKey })).body['sessions'] as readonly unknown[];

  it('a tab that signed in with the key stays signed in after a reload, keeps no key, and asks for it where only that will do', async () => {
    const page = await context.newPage();
    const connect = async (): Promise<void> =>
      page.getByRole('button', { name: 'Connect an AI client', exact: true }).click();
    await signIn(page, node.url, KEY, 'access/programs');
    await connect();
    await page.waitForSelector('input[name=label]');
    expect(await kept(page)).to.not.include(KEY);
    // Whose clock is wrong, the browser's or the node's, is not the page's to say.
    await page.clock.setFixedTime('2099-01-01');
    await page.reload();
    await page.waitForSelector('nav');
    expect(await page.$('main.sign-in')).to.equal(null);
    await connect();
    await page.waitForSelector('input[name=key]');
    expect(await page.$('input[name=label]'), 'a session makes no token').to.equal(null);
    await page.locator('input[name=key]').fill(`${KEY}x`);
    await page.getByRole('button', { name: 'Use key', exact: true }).click();
    await page.waitForFunction(
      () => document.body.innerText.includes('Wrong PIN, key or token.'),
      undefined,
      { polling: 100 },
    );
    expect(await page.$('nav'), 'a wrong key does not end the session').to.not.equal(null);
    await page.locator('input[name=key]').fill(KEY);
    await page.getByRole('button', { name: 'Use key', exact: true }).click();
    await page.waitForSelector('input[name=label]');
    expect(await kept(page)).to.not.include(KEY);
    expect(await sessions()).to.have.length(1);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Connect an AI client', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForSelector('input[name=secret]');
    expect(await sessions()).to.have.length(0);
    await page.reload();
    await page.waitForSelector('input[name=secret]');
  });

  it('a change of the PIN in the tab of the key leaves it signed in, also after a reload', async () => {
    const page = await context.newPage();
    await signIn(page, node.url, KEY, 'access/people');
    await page.locator('input[name=pin]').fill(PIN);
    await page.locator('input[name=repeat]').fill(PIN);
    await page.getByRole('button', { name: 'Set the PIN', exact: true }).click();
    await page.waitForFunction(() => /PIN changed/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    await page.reload();
    await page.waitForSelector('nav');
    expect(await page.$('main.sign-in')).to.equal(null);
  });

  it('opening the page asks for nothing that is refused, and what it then asks by itself is no news to the audit', async () => {
    await node.post('/api/dashboard/pin/set', { pin: PIN }, withKey);
    const page = await context.newPage();
    const wrong: string[] = [];
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
    page.on(
      'response',
      (answer) => answer.status() >= 400 && wrong.push(`${answer.status()} ${answer.url()}`),
    );
    const settled = (): readonly Recorded[] => audited(node).filter(({ outcome }) => outcome !== 'announced');
    // An outcome is written down beside the answer.
    const recorded = async (): Promise<readonly Recorded[]> => settled();
    const { length: before } = await askAgain('the PIN is recorded', recorded, (all) =>
      all.some(({ route, outcome }) => route === 'POST /api/dashboard/pin/set' && outcome === 'done'),
    );
    const lines = node.stderr.split('\n').length;
    await page.goto(`${node.url}/`);
    await page.waitForSelector('input[name=secret]');
    await new Promise((resolve) => setTimeout(resolve, LOOKED_AT_MS));
    expect(settled().slice(before)).to.deep.equal([]);
    await signIn(page, node.url, PIN);
    await page.waitForFunction(() => /STABILIZE/i.test(document.body.innerText), undefined, { polling: 100 });
    for (const where of ['plan', 'vehicle', 'node', 'fly']) await visit(page, where);
    await page.reload();
    await page.waitForFunction(() => /STABILIZE/i.test(document.body.innerText), undefined, { polling: 100 });
    await new Promise((resolve) => setTimeout(resolve, LOOKED_AT_MS));
    expect(wrong).to.deep.equal([]);
    expect(
      settled()
        .slice(before)
        .map(({ route, outcome }) => `${String(route)} ${outcome}`),
    ).to.deep.equal(['POST /api/dashboard/pin/verify done']);
    expect(node.stderr.split('\n').length - lines).to.be.below(20);
  });
});

describe('the page of a node that nobody has set up', function () {
  this.timeout(120_000);
  let browser: Browser;
  let node: TestNode;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([TestNode.start(), openBrowser('chromium', { deaf: true })]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  it('a link that is opened in the first second goes where it says; without one it opens at the set-up', async () => {
    const page = await openPage(browser);
    const held: (() => void)[] = [];
    await page.route('**/api/setup/status', (route) => held.push(() => void route.continue()));
    await page.goto(`${node.url}/`);
    await page.locator('nav a.to-plan').click();
    await page.waitForSelector('main[data-page=plan]');
    expect(held).to.have.length(1);
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/setup/status'));
    for (const go of held.splice(0)) go();
    await answered;
    await page.waitForFunction(() => document.querySelector('main .first') === null, undefined, {
      polling: 100,
    });
    expect(new URL(page.url()).hash).to.equal('#/plan');
    await page.unrouteAll();
    const other = await openPage(browser);
    await other.goto(`${node.url}/`);
    await other.waitForSelector('main[data-page=setup]');
  });

  it('pairing in the page leaves the tab signed in after a reload, without the key', async () => {
    const page = await openPage(browser);
    await page.goto(`${node.url}/#/setup/pairing`);
    await page.locator('input[name=user]').fill('alice');
    await page.getByRole('button', { name: 'Pair', exact: true }).click();
    const key = await page.inputValue('input[aria-label="Pairing key"]');
    expect(key).to.match(/^svc_/);
    await page.waitForFunction(() => sessionStorage.length > 0, undefined, { polling: 50 });
    expect(await kept(page)).to.not.include(key);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.waitForSelector('main[data-page=setup]');
    expect(await page.$('main.sign-in')).to.equal(null);
    expect((await node.fetch('/api/status')).status, 'paired').to.equal(401);
  });
});
