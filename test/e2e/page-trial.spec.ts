/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { SimProcess } from '../sim/sim-process.ts';
import { askAgain } from '../support/ask-again.ts';
import {
  DESKTOP,
  noBrowser,
  openBrowser,
  openPage,
  PHONE,
  type Screen,
  type Watch,
  watch,
} from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { Stranger } from '../support/stranger.ts';
import { svc } from '../support/svc.ts';

/** Steps that each job takes today (docs/design.md, Trial). More: the page has become worse. */
const BUDGET = { firstFlight: 12, whyNot: 4, survey: 13, dip: 6, client: 6 } as const;

const headers = { 'x-svc-key': KEY };

/** Five jobs of somebody who has never seen the page, from its first address on, by what stands on it. */
describe('the trial: a stranger', function () {
  this.timeout(240_000);
  let browser: Browser;
  let node: TestNode | null = null;
  let seen: Watch;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    browser = await openBrowser('chromium', { deaf: true });
  });
  after(async () => browser?.close());
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
    await node?.stop();
    node = null;
  });

  /** At the first address of a node. */
  const arrives = async ({ url }: TestNode, screen: Screen): Promise<Stranger> => {
    const page = await openPage(browser, screen);
    page.setDefaultTimeout(30_000);
    seen = watch(page, url);
    await page.goto(`${url}/`);
    return new Stranger(page);
  };
  const signsIn = async (stranger: Stranger): Promise<void> => {
    await stranger.fill('Pairing key or token', KEY);
    await stranger.tap('Sign in');
  };
  const order = async (to: TestNode, cmd: string, ...args: (string | number)[]): Promise<void> => {
    const { body } = await to.post('/api/command', { cmd, args }, headers);
    expect(body, cmd).to.include({ status: 'accepted' });
  };

  it('sets up an unpaired node on a phone, flies it for the first time, and lands', async () => {
    node = await TestNode.start();
    const stranger = await arrives(node, PHONE);
    await stranger.sees('Pair this node');
    await stranger.tap('Pair');
    await stranger.sees('This is the pairing key, shown only once.');
    await stranger.tap('I have saved it', 'checkbox');
    await stranger.tap('Continue');
    await stranger.sees('Name this node');
    await stranger.fill('Name', 'heron');
    await stranger.tap('Continue');
    await stranger.sees('Drone or ground station?');
    await stranger.tap('Continue');
    await stranger.sees('Set a PIN');
    await stranger.fill('PIN', '482913');
    await stranger.tap('Continue');
    await stranger.sees('All set');
    await stranger.tap('Fly');
    await stranger.sees('Ready to arm');
    await stranger.tap('Take off');
    await stranger.slide('Arm and take off to 10 m');
    await stranger.sees('Arm and take off to 10 m: accepted.');
    await stranger.sees('Flying');
    await stranger.sees(/^(?:9\.\d|10\.\d) m$/);
    await stranger.hold('Land');
    await stranger.sees('Land: accepted.');
    await stranger.sees('Disarmed', 60_000);
    seen.check();
    stranger.ends('firstFlight', BUDGET.firstFlight);
  });

  it('finds on a phone why the vehicle does not arm, what to do, and where', async () => {
    await using sim = await SimProcess.start('--arm-refuse', 'Compass not calibrated');
    const config = `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`;
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config });
    const stranger = await arrives(node, PHONE);
    await signsIn(stranger);
    await stranger.sees('Not ready to arm');
    const { page } = stranger;
    const ask = page.getByRole('button', { name: 'Ask the vehicle why', exact: true });
    await ask.or(page.getByText('PreArm: Compass not calibrated')).first().waitFor();
    if (await ask.isVisible()) await stranger.tap('Ask the vehicle why');
    await stranger.sees('PreArm: Compass not calibrated');
    await stranger.sees('Move away from metal and cars. If that does not help, calibrate the compass.');
    await stranger.tap('Calibrate', 'link');
    await stranger.sees('Rotate the vehicle around all axes, away from metal and cars.');
    await page.getByRole('button', { name: 'Start: Compass', exact: true }).waitFor();
    seen.check();
    stranger.ends('whyNot', BUDGET.whyNot);
    await node.stop();
    node = null;
  });

  it('plans a survey of a field, looks at its checks, uploads it, and flies it to its end', async () => {
    await using sim = await SimProcess.start('--speedup', '3');
    const config = `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`;
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config });
    await armable(node, headers);
    const stranger = await arrives(node, DESKTOP);
    await signsIn(stranger);
    await stranger.tap('Plan', 'link');
    await stranger.sees('Same as on the vehicle.');
    await stranger.tap('Survey');
    await stranger.sees('Tap the corners of the area.');
    await stranger.tapMap(/^Map of the plan/, [456, 248], [556, 248], [556, 348], [456, 348]);
    // It is there with its last corner: six steps.
    await stranger.sees('Photos');
    await stranger.sees('Different from the vehicle: Mission.');
    stranger.within(2 + 1 + 1 + 4); // the first two sign in
    await stranger.tap('No problems found');
    await stranger.sees(/^Checked: take-off and landing, fence, height/);
    await stranger.tap('Close');
    await stranger.tap('Upload');
    await stranger.sees('Same as on the vehicle.');
    await stranger.tap('Fly it');
    await stranger.slide('Arm and fly the mission');
    await stranger.sees('Arm and fly the mission: accepted.');
    await stranger.sees('Flying');
    const { body } = await node.json('/api/mission', { headers });
    const items = body['items'] as readonly { readonly seq: number; readonly command: number }[];
    // DO_SET_CAM_TRIGG_DIST
    const photos = items.filter(({ command }) => command === 206).map(({ seq }) => seq);
    expect(photos.length).to.be.at.least(2);
    await telemetry(
      node,
      ({ mission }) => (mission as { current: number }).current > Math.max(...photos),
      headers,
    );
    await stranger.sees('Disarmed', 120_000);
    seen.check();
    stranger.ends('survey', BUDGET.survey);
    await node.stop();
    node = null;
  });

  it('finds the voltage dip of a flight, with its value and its time, marked in the plot', async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    const full = async (value: number): Promise<void> => {
      const { status } = await (node ?? expect.fail()).post(
        '/api/params/SIM_BATT_VOLTAGE',
        { value, force: true },
        headers,
      );
      expect(status).to.equal(200);
    };
    const volts = async (fits: (now: number) => boolean): Promise<void> => {
      await telemetry(
        node ?? expect.fail(),
        ({ battery }) => fits((battery as { voltage: number }).voltage),
        headers,
      );
    };
    await armable(node, headers);
    await order(node, 'mode', 'GUIDED');
    await order(node, 'arm');
    await order(node, 'takeoff', 5);
    await telemetry(node, ({ position }) => (position as { alt_rel: number }).alt_rel > 4, headers);
    await full(10.9);
    await volts((now) => now < 10.9);
    await full(12.6);
    await volts((now) => now > 11.5);
    await order(node, 'land');
    await telemetry(node, ({ armed }) => armed === false, headers);

    const stranger = await arrives(node, DESKTOP);
    await signsIn(stranger);
    await stranger.tap('Vehicle', 'link');
    await stranger.tap('Logs', 'tab');
    const card = stranger.page.getByRole('region', { name: 'Flight 1', exact: true });
    for (const figure of ['Duration', 'Distance', 'Highest', 'Lowest voltage', 'Battery used'])
      await card
        .locator('.stat', { hasText: new RegExp(`^${figure}\\d`) })
        .first()
        .waitFor();
    await card.getByRole('img', { name: 'Track of Flight 1' }).waitFor();
    // The list, the card and its report say the same.
    const length = await card.locator('.stat dd').first().textContent();
    expect(await card.locator('header p').textContent()).to.equal(`Flight 1, ${length}`);
    await card.getByText('Report', { exact: true }).click();
    await card.getByText(/^\d+\.\d\d V after 0:\d\d$/).waitFor();
    await stranger.tap(/^Plot Flight \d+$/, 'link');
    const words = /^Lowest voltage: (\d+\.\d\d) V at 0:\d\d$/;
    await stranger.sees(words);
    const { page } = stranger;
    const [, lowest] = words.exec((await page.getByText(words).textContent()) ?? '') ?? [];
    expect(Number(lowest)).to.be.within(9.8, 10.9);
    await stranger.tap(words);
    await stranger.sees(/^At 0:\d\d\.\d\d, /);
    // The field as the log has it, where the cursor is.
    const field = page.getByText(/^SYS_STATUS 1\/1\.voltage_battery: \d+ mV/);
    const [, millivolts] = / (\d+) mV/.exec((await field.textContent()) ?? '') ?? [];
    expect(Number(millivolts)).to.be.closeTo(Number(lowest) * 1000, 5);
    const marked = await page
      .getByRole('figure', { name: 'Plot 1', exact: true })
      .locator('canvas')
      .evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
        const bytes = data ?? new Uint8ClampedArray();
        let red = 0;
        for (let at = 0; at < bytes.length; at += 4)
          if ((bytes[at] ?? 0) > 140 && (bytes[at + 1] ?? 0) < 60 && (bytes[at + 2] ?? 0) < 60) red++;
        return red;
      });
    expect(marked, 'pixels of the ring').to.be.above(20);
    seen.check();
    stranger.ends('dip', BUDGET.dip);
  });

  it('gives an AI client the right to read, and only that', async function () {
    if (process.getuid?.() !== 0) this.skip(); // svc mcp enable
    node = await TestNode.start({ pairing: { key: KEY } });
    const { paths } = node;
    const stranger = await arrives(node, DESKTOP);
    const { page } = stranger;
    await signsIn(stranger);
    await stranger.tap('Access', 'link');
    await stranger.tap('Connect an AI client');
    await stranger.sees('Tokens are switched off. Turn them on as root on the node:');
    const dialog = page.getByRole('dialog');
    const command = dialog.getByLabel('Command on the node', { exact: true });
    expect(await command.inputValue()).to.equal('sudo svc mcp enable');
    await stranger.elsewhere('svc mcp enable on the node', svc(paths, 'mcp', 'enable'));
    await command.waitFor({ state: 'detached' });
    expect(await page.getByRole('radio', { name: /^View only/ }).isChecked()).to.equal(true);
    await stranger.tap('Create token');
    await stranger.sees('Shown only once.');
    const token = await page.getByRole('textbox', { name: 'Token', exact: true }).inputValue();
    await dialog.getByRole('listitem', { name: 'view status, telemetry and logs', exact: true }).waitFor();
    const own = { 'x-svc-mcp-token': token };
    const read = await askAgain(
      'the token reads',
      async () => (node ?? expect.fail()).json('/api/telemetry', { headers: own }),
      ({ status }) => status === 200,
    );
    expect(read.body).to.include({ armed: false });
    const { status, body } = await node.post('/api/command', { cmd: 'arm' }, own);
    expect([status, body['code']]).to.deep.equal([403, 'E_SCOPE']);
    expect((await node.json('/api/telemetry', { headers })).body).to.include({ armed: false });
    seen.check();
    stranger.ends('client', BUDGET.client);
  });
});
