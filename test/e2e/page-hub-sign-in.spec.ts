/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { askAgain } from '../support/ask-again.ts';
import { checkAxe, DESKTOP, noBrowser, openBrowser, openPage } from '../support/browser.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { RealProvider, useProvider } from '../support/oidc.ts';

const missing = noBrowser() ?? noMosquitto();

describe(`signing in at a provider, on the hub's page${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(120_000);
  let hub: TestHub;
  let provider: RealProvider;
  let browser: Browser;
  let page: Page;
  before(async function () {
    if (missing !== null) return this.skip();
    hub = await TestHub.init();
    const address = `https://localhost:${hub.httpsPort}/`;
    provider = await RealProvider.start({ ada: ['fleet-admins'], eve: [] }, [address]);
    await useProvider(hub, provider.issuer, { scopes: ['openid', 'profile', 'groups'] });
    [browser] = await Promise.all([openBrowser('chromium', { deaf: true }), hub.serve()]);
    page = await openPage(browser, DESKTOP, { ignoreHTTPSErrors: true });
  });
  after(async () => {
    await browser?.close();
    await hub?.stop();
    await provider?.stop();
  });

  const button = () => page.getByRole('button', { name: 'Sign in with Example login' });
  const atProvider = async (who: string): Promise<void> => {
    await button().click();
    await page.locator('input[name=login]').fill(who);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.locator('button[type=submit]', { hasText: 'Continue' }).click();
  };
  const toHub = (more = '') => `https://localhost:${hub.httpsPort}/${more}`;

  it('leads to where the person was, stays in the tab, and ends at the hub with the sign-out', async () => {
    await page.goto(toHub('#/access'));
    await button().waitFor();
    await checkAxe(page);
    await atProvider('ada');
    await page.getByText('Name of ada').waitFor();
    expect(page.url()).to.equal(toHub('#/access'));
    await page.getByText('signed in, from group fleet-admins').waitFor();
    expect(await page.getByRole('button', { name: 'Add a person' }).count()).to.equal(0);
    await page.reload();
    await page.getByText('Name of ada').waitFor();
    const [{ id } = { id: '' }] = (await hub.sql('SELECT id FROM sign_ins')) as readonly { id: string }[];
    expect(id).to.match(/^op_/);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await button().waitFor();
    const open = async () => hub.sql('SELECT id FROM sign_ins WHERE ended_at IS NULL');
    await askAgain('it ends at the hub', open, ({ length }) => length === 0);
    expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).to.be.lessThan(2);
  });

  it('says why somebody may not come in, and takes an answer from nowhere else', async () => {
    await page.context().clearCookies();
    await page.goto(toHub());
    await atProvider('eve');
    await page.getByText('None of your groups may do anything at this hub.').waitFor();
    expect(page.url()).to.equal(toHub());
    await page.goto(toHub('?code=of-an-attacker&state=theirs'));
    await page.getByText('This sign-in was not begun in this browser').waitFor();
    expect(page.url()).to.equal(toHub());
  });

  it('is begun only at the address to which the provider sends people back', async () => {
    await page.goto(`${hub.url}/`);
    const link = page.getByRole('link', { name: `Sign in with Example login at localhost:${hub.httpsPort}` });
    expect(await link.getAttribute('href')).to.equal(toHub());
  });
});
