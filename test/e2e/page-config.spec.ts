/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { checkAxe, DESKTOP, noBrowser, openBrowser, openPage, watch } from '../support/browser.ts';
import { TestNode } from '../support/node.ts';

describe('the settings by topic', function () {
  this.timeout(180_000);
  let browser: Browser;
  let node: TestNode;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    [browser, node] = await Promise.all([
      openBrowser('chromium', { deaf: true }),
      TestNode.start({ config: 'video:\n  source: none\nupload:\n  max_kbit_s: 500\n' }),
    ]);
  });
  after(async () => {
    await Promise.all([browser?.close(), node?.stop()]);
  });

  const open = async (at: string, locale = 'en-GB'): Promise<Page> => {
    const page = await openPage(browser, DESKTOP, { locale });
    page.setDefaultTimeout(15_000);
    await page.goto(`${node.url}/#/node/config${at}`);
    await page.locator('[data-key]').first().waitFor();
    return page;
  };
  const row = (page: Page, key: string): Locator => page.locator(`[data-key="${key}"]`);
  const save = (page: Page): Locator => page.getByRole('button', { name: /^Save/ });
  const configOf = async (section: string): Promise<Record<string, unknown>> =>
    ((await (await node.fetch('/api/config')).json()) as Record<string, Record<string, unknown>>)[section] ??
    {};

  it('stores several at once, says at the field why one is refused, and restarts what must restart', async () => {
    const page = await open('');
    const seen = watch(page, node.url);
    await page.getByRole('link', { name: 'Radio and network', exact: true }).click();
    await page.getByLabel('Country of the radio', { exact: true }).fill('zz');
    await page.getByLabel('Channel', { exact: true }).fill('36');
    // Each is wrong with the old value of the other.
    await page.getByLabel('FEC: packets with video', { exact: true }).fill('20');
    await page.getByLabel('FEC: packets per block', { exact: true }).fill('30');
    await page
      .getByText('4 changes not saved. Restarts API and this page; Networks of this machine.')
      .waitFor();
    await checkAxe(page);
    await save(page).click();
    await row(page, 'radio.region').locator('.error', { hasText: 'does not have the right form' }).waitFor();
    await page.getByText('1 setting was not accepted. The reason is beside it.').waitFor();
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await page.getByRole('button', { name: 'Restart svc-control', exact: true }).click();
    await page.waitForFunction(() => document.querySelector('.schema-form__restarts') === null, undefined, {
      polling: 100,
    });
    expect(await configOf('radio')).to.include({ channel: 36, region: '00', fec_k: 20, fec_n: 30 });
    seen.check();
    await page.close();
  });

  it('knows bounds before it asks, units, what was changed from its default, and the way back', async () => {
    const page = await open('/storage');
    const size = row(page, 'logging.store.max_mb');
    await page.getByLabel('Size of the store', { exact: true }).fill('3');
    await size.getByText('Out of range: 8 to 65536.').waitFor();
    expect(await save(page).getAttribute('aria-disabled')).to.equal('true');
    await page.getByRole('button', { name: 'Reset to 256: Size of the store' }).click();
    await save(page).waitFor({ state: 'detached' });
    expect(await size.innerText()).to.include('MB');
    await page.getByLabel('Changed only').click();
    const rate = row(page, 'upload.max_kbit_s');
    await rate.getByText('Changed', { exact: true }).waitFor();
    expect(await page.locator('[data-key="logging.store.max_mb"]').count()).to.equal(0);
    await rate.getByRole('button', { name: 'Reset to 0: Rate of uploads' }).click();
    await save(page).click();
    await rate.waitFor({ state: 'detached' });
    expect(await configOf('upload')).to.include({ max_kbit_s: 0 });
    // A feature is on, off, or what the profile has.
    await page.goto(`${node.url}/#/node/config/advanced`);
    await page.getByLabel('Changed only').click();
    const vision = row(page, 'features.vision');
    await page.getByLabel('Object detection', { exact: true }).selectOption({ label: 'Off' });
    await save(page).click();
    await vision.getByText('Changed', { exact: true }).waitFor();
    expect(await configOf('features')).to.include({ vision: false });
    await vision.getByRole('button', { name: 'Reset to As the profile has it' }).click();
    await save(page).click();
    await vision.getByText('Changed', { exact: true }).waitFor({ state: 'detached' });
    expect(await configOf('features')).to.include({ vision: null });
    await page.close();
  });

  it('is searched by names, keys and words, in German too; keys and their plain values are behind a switch', async () => {
    const german = await open('', 'de-DE');
    await german.locator('input[type=search]').fill('Bodenstationen endpunkte');
    await german.getByLabel('Endpunkte für Bodenstationen', { exact: true }).waitFor();
    await german.locator('input[type=search]').fill('mavlink.endpoints');
    await german.getByLabel('Endpunkte für Bodenstationen', { exact: true }).waitFor();
    await german.locator('input[type=search]').fill('xyzzy');
    await german.getByText('Keine passenden Einstellungen.').waitFor();
    await german.close();
    const page = await open('/video');
    await page.getByLabel('Raw keys').click();
    await page.getByLabel('video.outputs', { exact: true }).fill('["rtp://192.0.2.1:5600"]');
    await save(page).click();
    await page.getByText('1 setting saved.').waitFor();
    expect(await configOf('video')).to.deep.include({ outputs: ['rtp://192.0.2.1:5600'] });
    await page.getByLabel('Raw keys').click();
    await page.getByLabel('Other cameras', { exact: true }).fill('[{');
    await row(page, 'video.cameras').getByText('Not valid JSON.').waitFor();
    await page.close();
  });

  it('locks what is guarded while the vehicle is armed, and says so', async () => {
    const page = await open('/network');
    const channel = page.getByLabel('Channel', { exact: true });
    expect(await channel.getAttribute('readonly')).to.equal(null);
    while ((await node.post('/api/command', { cmd: 'arm' })).body['status'] !== 'accepted');
    await row(page, 'radio.channel').getByText('Locked: the vehicle is armed.').waitFor();
    expect(await channel.getAttribute('readonly')).to.not.equal(null);
    await node.post('/api/command', { cmd: 'disarm' });
    await row(page, 'radio.channel').getByText('Locked while armed').waitFor();
    await page.close();
  });
});
