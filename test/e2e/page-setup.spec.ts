/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { checkAxe, noBrowser, openBrowser, openPage, PHONE, type Watch, watch } from '../support/browser.ts';
import { TestNode } from '../support/node.ts';

describe('the page of the set-up', function () {
  this.timeout(120_000);
  let browser: Browser;
  let node: TestNode;
  let page: Page;
  let seen: Watch;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    [browser, node] = await Promise.all([
      openBrowser(),
      TestNode.start({ config: 'video:\n  source: none\n' }),
    ]);
    page = await openPage(browser, PHONE);
    page.setDefaultTimeout(15_000);
    seen = watch(page, node.url);
    await page.goto(`${node.url}/`);
  });
  after(async () => {
    await Promise.all([browser?.close(), node?.stop()]);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const title = async (text: string): Promise<void> => {
    await page.getByRole('heading', { name: text, exact: true }).waitFor();
  };
  const stateOf = async (id: string, key: string | null = null): Promise<string | undefined> => {
    const answer = await node.fetch(
      '/api/setup/status',
      key === null ? {} : { headers: { 'x-svc-key': key } },
    );
    const { steps } = (await answer.json()) as { steps: { id: string; state: string }[] };
    return steps.find((step) => step.id === id)?.state;
  };

  it('opens by itself on a node that nobody set up; a name and a profile are set, and a step is skipped', async () => {
    await title('Name this node');
    await checkAxe(page);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('heron');
    await button('Set and continue').click();
    await title('Drone or ground station?');
    const config = (await (await node.fetch('/api/config')).json()) as { agent: { name: string } };
    expect(config.agent.name).to.equal('heron');
    await button('Set and continue').click();
    await title('Set a PIN');
    expect([await stateOf('name'), await stateOf('profile')]).to.deep.equal(['complete', 'complete']);
    await button('Skip').click();
    await title('Flight controller');
    expect(await stateOf('pin')).to.equal('skipped');
    await button('Back').click();
    await button('Do it now').click();
    await page.getByRole('heading', { name: 'Set a PIN', exact: true }).waitFor();
    await page.waitForFunction(
      () => document.querySelector('.setup__one-step .badge')?.textContent === 'to do',
    );
    expect(await stateOf('pin')).to.equal('needs_action');
    seen.check();
  });

  it('a reload stays at the step; with the PIN this browser holds a session', async () => {
    await page.reload();
    await title('Set a PIN');
    for (const name of ['pin', 'again']) await page.locator(`input[name=${name}]`).fill('482913');
    await button('Set and continue').click();
    await page.waitForFunction(() => document.querySelector('.menu .card button') !== null);
    await page.locator('.menu summary').click();
    await button('Sign out').waitFor();
    await page.locator('.menu summary').click();
    expect(await stateOf('pin')).to.equal('complete');
    seen.check();
  });

  it('the key of the pairing is shown once, and nothing goes on before it is stored', async () => {
    await page.evaluate(() => {
      location.hash = '#/setup/pairing';
    });
    await title('Pair this node');
    await page.locator('input[name=user]').fill('Ada');
    await button('Pair').click();
    const key = await page.inputValue('.copyable input');
    expect(key).to.match(/^svc_[A-Za-z0-9_-]{43}$/);
    await page.evaluate(() => {
      location.hash = '#/setup/name';
    });
    await page.waitForSelector('.copyable input');
    await checkAxe(page);
    await page.getByRole('checkbox', { name: 'I have saved it', exact: true }).click();
    await page.locator('.setup__one-step .button.primary').click();
    await page.waitForFunction(() => document.querySelector('.copyable') === null);
    expect(await stateOf('pairing', key)).to.equal('complete');
    seen.check();

    await page.evaluate(() => {
      location.hash = '#/setup/finish';
    });
    await button('Finish set-up').click();
    await page.waitForFunction(() => location.hash === '#/fly');
    expect(await stateOf('finish', key)).to.equal('complete');
  });
});
