/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { checkAxe, noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, GROUND } from '../support/radios.ts';

const GS = '/api/v1/ground-station';
const [FIRST, SECOND] = ['0000000000d1', '0000000000d2'] as const;

describe('the page of a ground station', function () {
  this.timeout(120_000);
  let browser: Browser;
  let node: TestNode;
  let page: Page;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: 'agent:\n  profile: ground-station\nmavlink:\n  endpoints: []\n',
      prepare: bindTo(GROUND, boundPair(FIRST).atGround, boundPair(SECOND, GROUND, 1).atGround),
    });
    browser = await openBrowser('chromium', { deaf: true });
    page = await openPage(browser);
    await signIn(page, node.url, KEY);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  const pilot = async (): Promise<unknown> =>
    (await node.json(`${GS}/pic`, { headers: { 'x-svc-key': KEY } })).body['claimed_by'];
  const asAnother = async (what: string, body: object): Promise<number> =>
    (
      await node.json(`${GS}/pic/${what}`, {
        method: 'POST',
        headers: { 'x-svc-key': KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ client_id: 'tablet', ...body }),
      })
    ).status;

  it('is pilot in command on every page while it is open, until another takes over', async () => {
    const seen = watch(page, node.url);
    await visit(page, 'ground');
    await page.getByRole('button', { name: 'Take command', exact: true }).click();
    await page.getByRole('button', { name: 'Release', exact: true }).waitFor();
    const mine = await pilot();
    expect(mine).to.match(/^page-/);
    expect(await page.innerText('main'), 'an id that says nothing').to.not.match(/page-[0-9a-f]/);
    await visit(page, 'node/update');
    // Longer than a claim lives without a heartbeat: three of them arrive.
    for (let beats = 0; beats < 3; beats++)
      await page.waitForResponse((response) => response.url().endsWith('/pic/heartbeat'));
    expect(await pilot()).to.equal(mine);
    expect(await asAnother('claim', {})).to.equal(409);
    expect(await asAnother('claim', { take_over: true })).to.equal(200);
    await page.waitForFunction(() => /no longer in command/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    await visit(page, 'ground');
    await page.waitForFunction(() => /tablet/.test(document.body.innerText), undefined, { polling: 100 });
    await page.getByRole('button', { name: 'Take over (hold)', exact: true }).waitFor();
    seen.check();
  });

  it('makes another drone the active one', async () => {
    await visit(page, 'ground');
    await page.getByRole('button', { name: `Select: ${SECOND}`, exact: true }).click();
    await page.getByRole('button', { name: `Select: ${FIRST}`, exact: true }).waitFor();
    const { body } = await node.json(`${GS}/drones`, { headers: { 'x-svc-key': KEY } });
    expect(body['active']).to.equal(SECOND);
  });

  it('opens the pages of a drone through the radio, and comes back', async () => {
    await visit(page, 'ground');
    await page.getByRole('button', { name: `Open its page: ${FIRST}`, exact: true }).click();
    await page.waitForFunction(() => location.hash === '#/fly', undefined, { polling: 100 });
    const asked = page.waitForRequest((request) =>
      request.url().endsWith(`/relay-proxy/${FIRST}/api/version`),
    );
    await visit(page, 'node/update');
    await asked;
    await page.getByRole('button', { name: 'Back to the ground station', exact: true }).click();
    await page.waitForSelector('main[data-page=ground] .ground__pilot');
  });

  it('asks for the device id before a factory reset, and can be used by everybody', async () => {
    await visit(page, 'ground');
    await page.getByText('Start from scratch').click();
    await page.waitForFunction(() => /Type the device ID first/.test(document.body.innerText), undefined, {
      polling: 100,
    });
    await checkAxe(page);
    // Of the same kind as before, as another one would load the page anew.
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).to.be.at.most(0);
    await checkAxe(page);
  });
});
