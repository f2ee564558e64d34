/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { SimProcess } from '../sim/sim-process.ts';
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

/** Sticks at rest with the throttle down, of a radio that is not quite what an autopilot takes for granted; then switches. */
const REST = [1504, 1496, 1012, 1500, 1165, 1000];
const LOW = [1010, 1012, 985, 1011, 1165, 1000];
const HIGH = [1990, 1988, 1985, 1987, 1815, 1000];

describe('the radio on the page of the vehicle', function () {
  this.timeout(120_000);
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    browser = await openBrowser('chromium', { deaf: true });
  });
  after(async () => browser?.close());

  /** A vehicle of this simulator with a page on its set-up. */
  async function open(section: 'radio' | 'modes', ...args: string[]) {
    const sim = await SimProcess.start('--param-rate', '4000', ...args);
    const node = await TestNode.start({
      simulated: false,
      pairing: { key: KEY },
      config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
    });
    const page = await openPage(browser, PHONE);
    const seen = watch(page, node.url);
    await signIn(page, node.url, KEY);
    await visit(page, `vehicle/setup/${section}`);
    return {
      sim,
      page,
      move: async (radio: readonly number[]) => sim.fault({ radio }),
      param: async (name: string) => {
        const { body } = await node.json(`/api/params/${name}`, { headers: { 'x-svc-key': KEY } });
        return body['value'];
      },
      arm: async () => {
        const { status } = await node.json('/api/command', {
          method: 'POST',
          headers: { 'x-svc-key': KEY, 'content-type': 'application/json' },
          body: JSON.stringify({ cmd: 'arm' }),
        });
        expect(status).to.equal(200);
      },
      async [Symbol.asyncDispose]() {
        seen.check();
        await page.context().close();
        await node.stop();
        await sim[Symbol.asyncDispose]();
      },
    };
  }

  const says = async (page: Page, ...texts: string[]): Promise<void> => {
    for (const text of texts)
      await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, {
        polling: 100,
      });
  };
  const press = async (page: Page, name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();
  const hold = async (page: Page, name: string, until: string): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).hover();
    await page.mouse.down();
    await says(page, until);
    await page.mouse.up();
  };

  /** Starts, moves all to both ends, and lets go. */
  async function calibrate({ page, move }: Awaited<ReturnType<typeof open>>, rest = REST): Promise<void> {
    await says(page, 'Move every stick and switch');
    await move(LOW);
    await says(page, '1010 µs');
    await move(HIGH);
    await says(page, '1010 to 1990 µs so far');
    await move(rest);
    await says(page, `${rest[0]} µs`);
    await press(page, 'The sticks are at rest');
    await says(page, 'Leave the sticks alone');
  }

  it('is calibrated: what was seen is shown against what is there, and written by a held button', async () => {
    await using vehicle = await open('radio');
    const { page, param, move } = vehicle;
    await says(page, 'Take the propellers off, then tick the box.');
    await page
      .getByRole('checkbox', { name: 'All propellers are off, the radio is on', exact: true })
      .click();
    await press(page, 'Calibrate the radio');
    await calibrate(vehicle, [1504, 1496, 1500, 1500, 1165, 1000]);
    await says(page, 'Throttle is not all the way down.');
    await move(REST);
    await press(page, 'Start over');
    await calibrate(vehicle);
    await says(
      page,
      '1000 → 1010',
      '2000 → 1990',
      '1500 → 1504',
      '1500 → 985',
      'Moved less than 300 µs: unchanged.',
    );
    await checkAxe(page);
    expect(await param('RC1_MIN')).to.equal(1000);
    await hold(page, 'Write 14 to the vehicle', '14 written and read back:');
    await says(page, 'The vehicle has these values already.');
    expect(
      await Promise.all(['RC1_MIN', 'RC3_MAX', 'RC3_TRIM', 'RC5_TRIM', 'RC6_MAX'].map(param)),
    ).to.deep.equal([1010, 1985, 985, 1490, 2000]);
  });

  it('is not calibrated without a radio, and stops when it is lost or the vehicle arms', async () => {
    await using vehicle = await open('radio', '--radio-lost');
    const { page, sim } = vehicle;
    await says(page, 'No radio receiver is heard.');
    await sim.fault({ radioLost: false });
    await page
      .getByRole('checkbox', { name: 'All propellers are off, the radio is on', exact: true })
      .click();
    const begin = page.getByRole('button', { name: 'Calibrate the radio', exact: true });
    await begin.click();
    await says(page, 'Move every stick and switch');
    await sim.fault({ radioLost: true });
    await says(page, 'Calibration stopped. No radio receiver is heard.');
    await sim.fault({ radioLost: false });
    await begin.click();
    await says(page, 'Move every stick and switch');
    await vehicle.arm();
    await says(page, 'Calibration stopped. Only while the vehicle is disarmed.');
  });

  it('PX4 is told which stick is on which channel, too', async () => {
    await using vehicle = await open('radio', '--firmware', 'px4');
    const { page, param } = vehicle;
    await page
      .getByRole('checkbox', { name: 'All propellers are off, the radio is on', exact: true })
      .click();
    await press(page, 'Calibrate the radio');
    await calibrate(vehicle);
    const choose = async (stick: string, channel: string): Promise<void> => {
      const select = page.getByRole('combobox', { name: stick, exact: true });
      await select.selectOption(channel);
    };
    await choose('Yaw', '1');
    await says(page, 'Yaw is on the channel of another stick.');
    await choose('Roll', '4');
    await hold(page, 'Write 16 to the vehicle', '16 written and read back:');
    expect(await Promise.all(['RC_MAP_ROLL', 'RC_MAP_YAW', 'RC3_TRIM', 'RC1_TRIM'].map(param))).to.deep.equal(
      [4, 1, 985, 1504],
    );
  });

  it('shows the position of the switch for the flight mode, and is told the modes of the others', async () => {
    await using vehicle = await open('modes');
    const { page, param, move } = vehicle;
    const choose = async (name: string, value: string): Promise<void> => {
      const select = page.getByRole('combobox', { name, exact: true });
      await select.selectOption(value);
    };
    const now = async (position: string): Promise<void> => {
      await page.waitForFunction(
        (wanted) => {
          const badge = [...document.querySelectorAll('.badge')].find(
            (each) => each.textContent === wanted[1],
          );
          return badge?.previousElementSibling?.textContent?.startsWith(wanted[0] ?? '');
        },
        [position, 'the switch is here now'],
        { polling: 100 },
      );
    };
    await now('Position 6 (above 1749 µs)');
    await move([1500, 1500, 1000, 1500, 1300]);
    await now('Position 2 (up to 1360 µs)');
    await choose('Position 3 (up to 1490 µs)', '16');
    await says(page, 'Not written yet. On the vehicle: RTL');
    await choose('Channel of the switch', '3');
    await says(page, 'A stick is on this channel: choose another.');
    await choose('Channel of the switch', '6');
    await now('Position 1 (up to 1230 µs)');
    await checkAxe(page);
    await hold(page, 'Write 2 to the vehicle', '2 written and read back:');
    expect([await param('FLTMODE_CH'), await param('FLTMODE3')]).to.deep.equal([6, 16]);
    await move([1500, 1500, 1000, 1500, 1300, 1400]);
    await page.locator('.vehicle-bar .mode', { hasText: 'POSHOLD' }).waitFor();
  });

  it('knows PX4’s modes, and says nothing of a switch of a submarine', async () => {
    {
      await using vehicle = await open('modes', '--firmware', 'px4');
      const select = vehicle.page.getByRole('combobox', { name: 'Position 1', exact: true });
      await select.selectOption('2');
      await says(vehicle.page, 'Not written yet. On the vehicle: Unassigned');
      await hold(vehicle.page, 'Write to the vehicle', 'Written and read back:');
      expect(await vehicle.param('COM_FLTMODE1')).to.equal(2);
    }
    await using sub = await open('modes', '--vehicle', 'sub');
    await says(sub.page, 'This vehicle has no flight-mode switch');
    expect(await sub.page.evaluate(() => document.body.innerText)).to.not.include('Flight-mode switch');
  });
});
