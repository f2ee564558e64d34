/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { noBrowser, openBrowser, openPage, PHONE } from '../support/browser.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const UP_M = 60;

/** The simulated copter, whose pilot's radio is switched off, in the air. */
describe('a mode that needs sticks, in the air', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser | undefined;
  before(async () => {
    node = await TestNode.start();
    if (noBrowser() === null) browser = await openBrowser('chromium', { deaf: true });
    await armable(node);
    expect((await node.post('/api/params/SIM_RC_FAIL', { value: 1 })).status).to.equal(200);
    await telemetry(node, ({ rc }) => (rc as { channels: unknown }).channels === null);
    const up = await node.post('/api/command', { cmd: 'takeoff', args: [UP_M, 1] });
    expect(up.body['status'], JSON.stringify(up.body)).to.equal('accepted');
    await telemetry(node, ({ position }) => (position as { alt_rel: number }).alt_rel > UP_M - 5);
  });
  after(async () => {
    await browser?.close();
    await node.stop();
  });

  it('is refused at the API and in a terminal, with what to do', async () => {
    for (const mode of ['STABILIZE', 'LOITER', 'alt_hold']) {
      const { status, body } = await node.post('/api/command', { cmd: 'mode', args: [mode] });
      expect([status, body['code']], mode).to.deep.equal([409, 'E_STICKS']);
      expect(body['override']).to.deep.equal({ body: { manual: true } });
    }
    const said = await svc(node.paths, 'cmd', 'mode', 'STABILIZE');
    expect(said.code).to.not.equal(0);
    expect(`${said.stdout}${said.stderr}`).to.include('needs sticks').and.to.include('--manual');
    const { body } = await node.json('/api/telemetry');
    expect(body['mode']).to.equal('GUIDED');
  });

  it('is asked for once more on the page; then it is sent, and the copter falls as without a throttle', async function () {
    if (browser === undefined) return this.skip();
    const page = await openPage(browser, PHONE);
    await page.goto(`${node.url}/#/fly`);
    await page.getByRole('button', { name: 'Mode', exact: true }).click();
    await page.waitForSelector('dialog[open]');
    const hold = async (name: string): Promise<void> => {
      const button = page.getByRole('button', { name, exact: true });
      await button.focus();
      await page.keyboard.down('Enter');
      await page.waitForResponse((answer) => answer.url().endsWith('/api/command'));
      await page.keyboard.up('Enter');
    };
    await hold('Switch to STABILIZE');
    await page
      .getByText(/no pilot’s radio is heard/)
      .first()
      .waitFor();
    const fallen = telemetry(
      node,
      ({ mode, velocity }) => mode === 'STABILIZE' && (velocity as { climb: number }).climb < -5,
    );
    fallen.catch(() => undefined); // it is awaited below
    await hold('A pilot holds a radio: STABILIZE');
    await fallen;
  });
});
