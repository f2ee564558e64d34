/// <reference lib="dom" />
import { expect } from 'chai';
import { common } from 'node-mavlink';
import type { Browser, Page } from 'playwright-core';
import { encodeAs } from '../link/mavlink-samples.ts';
import { PeerVehicle } from '../link/peer-vehicle.ts';
import {
  checkAxe,
  noBrowser,
  openBrowser,
  openPage,
  PHONE,
  signIn,
  visit,
  watch,
} from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

/** Of the PeerVehicle. */
const SYSTEM = 5;
/** MAV_COMP_ID_ODID_TXRX_1 */
const TRANSMITTER = 236;
const FOLLOW = { name: 'Send this device’s position as the operator’s', exact: true };

describe('Remote ID on the page', function () {
  this.timeout(120_000);
  let browser: Browser;
  let node: TestNode;
  let page: Page;
  let seen: ReturnType<typeof watch>;
  const vehicle = new PeerVehicle();
  /** What the transmitter says against flying; empty: nothing. */
  let wanting = 'missing OP_LOC';
  let timer: NodeJS.Timeout;

  before(async function () {
    if (noBrowser() !== null) return this.skip();
    const port = await vehicle.start();
    let seq = 0;
    timer = setInterval(() => {
      const status = { status: wanting === '' ? 0 : 1, error: wanting };
      const message = Object.assign(new common.OpenDroneIdArmStatus(), status);
      vehicle.write(encodeAs(message, 'v2', seq++ & 0xff, SYSTEM, TRANSMITTER));
    }, 200);
    const config = `mavlink:\n  source: tcp:127.0.0.1:${port}\n  endpoints: []\n`;
    [node, browser] = await Promise.all([
      TestNode.start({ simulated: false, pairing: { key: KEY }, config }),
      openBrowser('chromium', { deaf: true }),
    ]);
  });
  after(async () => {
    clearInterval(timer);
    await browser?.close();
    await node?.stop();
    vehicle.stop();
  });
  beforeEach(async () => {
    wanting = 'missing OP_LOC';
    page = await openPage(browser, PHONE);
    seen = watch(page, node.url);
  });
  afterEach(async () => {
    seen.check();
    await page.context().close();
  });

  const says = async (text: string): Promise<void> => {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 100 });
  };
  const press = async (name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();
  /** Bodies that the page sends as the operator's place. */
  const sentPlaces = (): Record<string, number>[] => {
    const bodies: Record<string, number>[] = [];
    page.on('request', (asked) => {
      if (asked.method() === 'PUT' && asked.url().endsWith('/api/remote-id/operator-place'))
        bodies.push(JSON.parse(asked.postData() ?? '{}') as Record<string, number>);
    });
    return bodies;
  };

  it('is told before arming on the page Fly, in the transmitter’s own words', async () => {
    await signIn(page, node.url, KEY);
    await says('Remote ID: missing OP_LOC');
    wanting = '';
    await page.waitForFunction(() => !document.body.innerText.includes('Remote ID:'), undefined, {
      polling: 100,
    });
  });

  it('takes a place that is typed in, and says what is not set', async () => {
    await signIn(page, node.url, KEY);
    await visit(page, 'vehicle/link/remote-id');
    await says('The transmitter says: missing OP_LOC');
    await says('No operator number is set: none is sent.');
    const name = 'Operator’s position (latitude, longitude, altitude)';
    const field = page.getByRole('textbox', { name, exact: true });
    await field.fill('91, 11');
    await says('Not a position. Enter latitude, longitude');
    await field.fill('48.137, -11.575, 520');
    await checkAxe(page);
    const bodies = sentPlaces();
    await press('Send this position');
    await says('The position given here is sent as the operator’s.');
    expect(bodies).to.deep.equal([{ lat: 48.137, lon: -11.575, alt: 520 }]);
    wanting = '';
    await says('transmitter ready');
  });

  it('sends the place of the device, again when it moves, on whatever page; not one that is too vague', async () => {
    await page.context().grantPermissions(['geolocation'], { origin: node.url });
    await page.context().setGeolocation({ latitude: 48.1, longitude: 11.5, accuracy: 400 });
    await signIn(page, node.url, KEY);
    await visit(page, 'vehicle/link/remote-id');
    const bodies = sentPlaces();
    await page.getByRole('checkbox', FOLLOW).click();
    await says('knows its position only to 400 m');
    expect(bodies).to.deep.equal([]);
    await page.context().setGeolocation({ latitude: 48.1, longitude: 11.5, accuracy: 8 });
    await says('accurate to 8 m.');
    expect(bodies).to.deep.equal([{ lat: 48.1, lon: 11.5, accuracy_m: 8 }]);
    await says('This device’s position is being sent.');
    await checkAxe(page);
    await visit(page, 'fly');
    const moved = page.waitForResponse((answer) => answer.url().endsWith('/api/remote-id/operator-place'));
    const from = await page.evaluate(() => performance.now());
    // Not more often than each 5 s.
    await page.waitForFunction((since) => performance.now() - since > 5000, from, { polling: 100 });
    await page.context().setGeolocation({ latitude: 48.101, longitude: 11.5, accuracy: 8 });
    expect((await moved).status()).to.equal(200);
    expect(bodies.at(-1)).to.deep.equal({ lat: 48.101, lon: 11.5, accuracy_m: 8 });
  });

  it('sends the place again each minute, also of a device that stays where it is', async () => {
    await page.addInitScript(() => {
      const [every, now] = [setInterval, performance.now.bind(performance)];
      Object.assign(window, {
        skipped: 0,
        setInterval: (act: () => void, ms: number) => every(act, ms === 60_000 ? 300 : ms),
      });
      performance.now = () => now() + (window as unknown as { skipped: number }).skipped;
    });
    await page.context().grantPermissions(['geolocation'], { origin: node.url });
    await page.context().setGeolocation({ latitude: 48.1, longitude: 11.5, accuracy: 8 });
    await signIn(page, node.url, KEY);
    await visit(page, 'vehicle/link/remote-id');
    const bodies = sentPlaces();
    await page.getByRole('checkbox', FOLLOW).click();
    await says('accurate to 8 m.');
    const again = page.waitForResponse((answer) => answer.url().endsWith('/api/remote-id/operator-place'));
    expect(bodies).to.have.length(1);
    await page.evaluate(() => Object.assign(window, { skipped: 60_000 }));
    await again;
    expect(bodies).to.have.length(2);
  });

  it('says why the device is not asked, or does not tell', async () => {
    await page.addInitScript(() => {
      Object.defineProperty(window, 'isSecureContext', { value: false });
    });
    await signIn(page, node.url, KEY);
    await visit(page, 'vehicle/link/remote-id');
    await says('Browsers share their position only with a page opened over HTTPS.');
    expect(await page.getByRole('checkbox', FOLLOW).count()).to.equal(0);
    const other = await page.context().newPage();
    await page.close();
    page = other;
    await signIn(page, node.url, KEY);
    await visit(page, 'vehicle/link/remote-id');
    const session = await page.context().newCDPSession(page);
    await session.send('Browser.setPermission', {
      permission: { name: 'geolocation' },
      setting: 'denied',
      origin: node.url,
    });
    await page.getByRole('checkbox', FOLLOW).click();
    await says('The browser does not share this device’s position with this page.');
    expect(await page.$eval('input[type=checkbox]:checked', () => true).catch(() => false)).to.equal(false);
  });
});
