/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { checkAxe, noBrowser, openBrowser, openPage, PHONE, visit, watch } from '../support/browser.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

/** A gamepad that the test moves: `window.pad`. */
const GAMEPAD = (): void => {
  const pad = {
    index: 0,
    id: 'Test Pad (Vendor: 0000)',
    connected: true,
    axes: [0, 0, 0, 0],
    buttons: Array.from({ length: 4 }, () => ({ pressed: false })),
  };
  Object.assign(window, { pad });
  Object.defineProperty(navigator, 'getGamepads', { value: () => (pad.connected ? [pad] : [null]) });
};

describe('flying by hand, on the page', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([TestNode.start(), openBrowser('chromium', { deaf: true })]);
    await armable(node);
    for (const [cmd, ...args] of [['mode', 'GUIDED'], ['arm'], ['takeoff', 10]] as const) {
      const { body } = await node.post('/api/command', { cmd, args });
      expect(body['status'], cmd).to.equal('accepted');
    }
    await telemetry(node, ({ position }) => (position as { alt_rel: number }).alt_rel > 9);
    expect((await node.post('/api/command', { cmd: 'mode', args: ['LOITER'] })).status).to.equal(200);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });
  beforeEach(async () => {
    page = await openPage(browser);
    await page.addInitScript(GAMEPAD);
    await page.goto(`${node.url}/#/fly`);
  });
  afterEach(async () => page?.close());

  const says = async (text: string): Promise<void> => {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 50 });
  };
  const open = async (): Promise<void> => {
    await page.getByRole('button', { name: 'More commands', exact: true }).click();
    await page.getByRole('button', { name: 'Fly by hand', exact: true }).click();
  };
  const choosePad = async (): Promise<void> => {
    await open();
    const source = await page.waitForSelector('select:has(option[value="0"])');
    await source?.selectOption('0');
  };
  const take = async (): Promise<void> => {
    if (!(await page.getByRole('button', { name: 'Take the sticks', exact: true }).isVisible())) await open();
    await page.getByRole('button', { name: 'Take the sticks', exact: true }).hover();
    await page.mouse.down();
    await page.getByRole('button', { name: 'Let go of the sticks', exact: true }).waitFor();
    await page.mouse.up();
  };
  const speed = async (fits: (speed: number) => boolean): Promise<void> => {
    await telemetry(node, ({ velocity }) => fits((velocity as { groundspeed: number }).groundspeed));
  };
  const move = async (...axes: number[]): Promise<void> =>
    page.evaluate((to) => {
      (window as unknown as { pad: { axes: number[] } }).pad.axes = to;
    }, axes);

  it('two thumbs on the screen: the vehicle goes where they push, and stops when they are lifted', async () => {
    const seen = watch(page, node.url);
    await take();
    await says('Your sticks fly the vehicle.');
    const stick = await page.waitForSelector('[aria-label="Right stick"]');
    const box = (await stick?.boundingBox()) ?? expect.fail();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 2);
    await speed((now) => now > 2);
    await page.mouse.up();
    await speed((now) => now < 0.3);
    await page.getByRole('button', { name: 'Let go of the sticks', exact: true }).click();
    await says('Nothing is sent.');
    seen.check();
  });

  it('a gamepad: it must rest first, its buttons change the mode, and pulled out in a turn it ends', async () => {
    await choosePad();
    await move(0, 0, 1, 0);
    await take();
    await says('Centre the sticks to take control');
    await move(0.02, 0, -0.03, 0.01); // it jitters
    await says('Your sticks fly the vehicle.');
    await move(0, 0, 1, 0);
    await speed((now) => now > 2);
    await page.evaluate(() => {
      (window as unknown as { pad: { connected: boolean } }).pad.connected = false;
    });
    await says('The gamepad is gone.');
    await speed((now) => now < 0.3);
  });

  it('one that has a button for a mode gives it once', async () => {
    await choosePad();
    await page.getByText('Sticks and buttons', { exact: true }).click();
    const button = page.getByLabel('Button 2', { exact: true });
    await button.selectOption('ALT_HOLD');
    await take();
    await says('Your sticks fly the vehicle.');
    const orders: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/command')) orders.push(request.postData() ?? '');
    });
    await page.evaluate(() => {
      const [, second] = (window as unknown as { pad: { buttons: { pressed: boolean }[] } }).pad.buttons;
      if (second !== undefined) second.pressed = true;
    });
    await telemetry(node, ({ mode }) => mode === 'ALT_HOLD');
    expect(orders).to.deep.equal([JSON.stringify({ cmd: 'mode', args: ['ALT_HOLD'] })]);
    expect(await page.evaluate(() => localStorage.getItem('svc.sticks'))).to.include('ALT_HOLD');
    await node.post('/api/command', { cmd: 'mode', args: ['LOITER'] });
  });

  it('whoever goes to another page lets go', async () => {
    await take();
    await says('Your sticks fly the vehicle.');
    await visit(page, 'plan');
    await visit(page, 'fly');
    await open();
    await says('Nothing is sent.');
  });

  it('can be used by everybody, on a phone too', async () => {
    await page.setViewportSize(PHONE);
    await take();
    await page.waitForSelector('[aria-label="Left stick"]');
    await checkAxe(page);
    await open();
    await page.getByText('Sticks and buttons', { exact: true }).click();
    await checkAxe(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).to.be.at.most(0);
  });
});
