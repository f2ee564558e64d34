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

  /** The question has the focus, as whoever comes by keyboard or screen reader needs it. */
  const isAsked = async (text: string): Promise<void> => {
    await title(text);
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal(text);
  };
  /** Where what goes on ends, from the top. */
  const placeOf = async (name: string): Promise<number> => {
    const box = await button(name).boundingBox();
    return Math.round((box?.y ?? 0) + (box?.height ?? 0));
  };

  it('opens by itself at the pairing on a node that nobody set up, without navigation', async () => {
    await isAsked('Pair this node');
    await page.getByRole('progressbar', { name: 'Set-up', exact: true }).waitFor();
    expect(await page.locator('nav').count()).to.equal(0);
    await checkAxe(page);
    seen.check();
  });

  it('from where a credential is asked for, it offers to pair, and no sign-in with a key that does not exist', async () => {
    const far = await openPage(browser, PHONE);
    await far.route('**/api/pairing/info', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), entry: 'credential' } });
    });
    await far.goto(`${node.url}/`);
    await far.getByRole('button', { name: 'Pair', exact: true }).waitFor();
    expect(await far.locator('input[name=secret]').isVisible()).to.equal(false);
    await checkAxe(far);
    await far.context().close();
  });

  it('a name and a profile are set by keyboard alone, and the button stays where it is', async () => {
    const places = [await placeOf('Pair')];
    await button('Skip for now').press('Enter');
    await isAsked('Name this node');
    places.push(await placeOf('Continue'));
    await checkAxe(page);
    await page.keyboard.press('Tab');
    await page.keyboard.type('heron');
    await page.keyboard.press('Enter');
    await isAsked('Drone or ground station?');
    places.push(await placeOf('Continue'));
    await checkAxe(page);
    const config = (await (await node.fetch('/api/config')).json()) as { agent: { name: string } };
    expect(config.agent.name).to.equal('heron');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await isAsked('Set a PIN');
    places.push(await placeOf('Continue'));
    expect(new Set(places).size, places.join(', ')).to.equal(1);
    expect([await stateOf('name'), await stateOf('profile')]).to.deep.equal(['complete', 'complete']);
    seen.check();
  });

  it('what is skipped can be gone back to; what the node found by itself is passed over', async () => {
    await button('Skip for now').click();
    // The flight controller, no camera and the network are on the way, and need no answer.
    await title('All set');
    expect([await stateOf('pin'), await stateOf('fc')]).to.deep.equal(['skipped', 'complete']);
    await button('Back').click();
    await title('Set a PIN');
    seen.check();
  });

  it('a reload stays at the step; with the PIN this browser holds a session', async () => {
    await page.reload();
    await title('Set a PIN');
    await page.locator('input[name=pin]').fill('482913');
    await button('Continue').click();
    await title('All set');
    await button('Menu').click();
    await button('Sign out').waitFor();
    await button('Close').click();
    expect(await stateOf('pin')).to.equal('complete');
    seen.check();
  });

  it('shows the flight controller that was found, and takes it with one touch', async () => {
    await page.evaluate(() => {
      location.hash = '#/setup/fc';
    });
    await title('Flight controller');
    await page.getByText('ArduPilot').waitFor();
    await checkAxe(page);
    await button('Use it').click();
    await title('All set');
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
    await button('Continue').click();
    await title('All set');
    expect(await stateOf('pairing', key)).to.equal('complete');
    await page.getByRole('link', { name: /^Flight controller/ }).waitFor();
    await checkAxe(page);
    seen.check();
    await button('Fly').click();
    await page.waitForFunction(() => location.hash === '#/fly', undefined, { polling: 100 });
    expect(await stateOf('finish', key)).to.equal('complete');
  });
});
