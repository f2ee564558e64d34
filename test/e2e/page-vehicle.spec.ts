/// <reference lib="dom" />
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { Paths } from '../../shared/paths.ts';
import { askAgain } from '../support/ask-again.ts';
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
import { armable } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

/** Described as a file of the operator does it (docs/contract/flight.md). */
const DESCRIBED = {
  WPNAV_: {
    WPNAV_SPEED: {
      DisplayName: 'Waypoint Horizontal Speed Target',
      Description: 'Speed that the vehicle holds between waypoints.',
      Range: { low: '20', high: '2000' },
      Units: 'cm/s',
    },
  },
};

const headers = { 'x-svc-key': KEY };
const TLOG = '20260101T000000.000Z.tlog';

describe('the page of the vehicle', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let seen: ReturnType<typeof watch>;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    const prepare = async ({ paramMetadata, tlogs }: Paths): Promise<void> => {
      await mkdir(tlogs, { recursive: true });
      await writeFile(join(tlogs, TLOG), Buffer.alloc(2_000_000));
      await mkdir(paramMetadata, { recursive: true });
      await writeFile(join(paramMetadata, 'apm.pdef.json'), JSON.stringify(DESCRIBED));
    };
    [node, browser] = await Promise.all([
      TestNode.start({ pairing: { key: KEY }, prepare }),
      openBrowser('chromium', { deaf: true }),
    ]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });
  beforeEach(async () => {
    page = await openPage(browser, PHONE);
    seen = watch(page, node.url);
    await signIn(page, node.url, KEY);
    await visit(page, 'vehicle/parameters');
    await page.waitForSelector('.params__list li');
  });
  afterEach(async () => {
    seen.check();
    await page.context().close();
  });

  it('without descriptions it takes ArduPilot’s file, says what is wrong with another, and searches in the texts', async () => {
    await rm(join(node.paths.paramMetadata, 'apm.pdef.json'));
    await page.reload();
    await page.getByText('No descriptions yet').waitFor();
    const drop = page.locator('input[accept=".json,.xz"]');
    const give = async (text: string): Promise<void> =>
      drop.setInputFiles({ name: 'apm.pdef.json', mimeType: 'application/json', buffer: Buffer.from(text) });
    await give('{"WPNAV_": {');
    await page.getByText('it is no JSON, or was cut off').waitFor();
    await checkAxe(page);
    await give(JSON.stringify(DESCRIBED));
    await page.getByText('1 parameter described.').waitFor();
    await page.getByLabel('Search names and descriptions').fill('holds waypoints');
    await page.waitForFunction(() => document.querySelectorAll('.params__list li').length === 1, undefined, {
      polling: 100,
    });
    await page.getByText('Load other descriptions').waitFor();
  });

  const value = async (name: string): Promise<number> => {
    const response = await fetch(`${node.url}/api/params/${name}`, { headers: { 'x-svc-key': KEY } });
    return ((await response.json()) as { value: number }).value;
  };
  const press = async (name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();
  const says = async (text: string): Promise<void> => {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 100 });
  };

  it('finds a parameter by its description, writes it, and shows what the vehicle holds then', async () => {
    await page.getByRole('searchbox').fill('between waypoints');
    await says('1 of ');
    await press('WPNAV_SPEED');
    const field = page.getByRole('textbox', { name: 'New value of WPNAV_SPEED', exact: true });
    await field.fill('3000');
    await says('Outside the documented range.');
    await field.fill('650');
    expect(await value('WPNAV_SPEED')).to.not.equal(650);
    await checkAxe(page);
    await press('Write to the vehicle');
    await says('Written and read back:');
    expect(await value('WPNAV_SPEED')).to.equal(650);
    await page.waitForFunction(
      () => document.querySelector('.params__value')?.textContent === '650',
      undefined,
      { polling: 100 },
    );
  });

  it('has the telemetry logs of the node', async () => {
    await visit(page, 'vehicle/logs/node');
    await says(TLOG);
    await says('2.0 MB');
    await page.getByRole('button', { name: `Download ${TLOG}`, exact: true }).waitFor();
    await checkAxe(page);
  });

  it('has each flight with its telemetry log and its events', async () => {
    const command = async (cmd: string): Promise<void> => {
      expect((await node.post('/api/command', { cmd }, headers)).body).to.include({ status: 'accepted' });
    };
    await armable(node, headers);
    await command('arm');
    await askAgain(
      'its log is written',
      async () => (await node.json('/api/tlogs', { headers })).body['writing'],
      (name) => name !== null,
    );
    await command('disarm');
    await visit(page, 'vehicle/logs');
    await says('Telemetry log 2');
    await page
      .getByText(/events/)
      .first()
      .click();
    await says('flight_file tlog');
    await says('disarmed');
    await checkAxe(page);
  });

  it('shows what it hears and drives, says in words what it does by itself, and tests a motor', async () => {
    await visit(page, 'vehicle/setup/radio');
    for (const words of ['1800 µs', 'Flight mode now']) await says(words);
    await checkAxe(page);
    await visit(page, 'vehicle/setup/failsafes');
    await says('Radio lost for 1 s: set to 1.');
    await says('Ground station lost for 5 s: it does nothing.');
    await page.getByRole('link', { name: 'Change FS_GCS_ENABLE', exact: true }).click();
    await page.getByRole('textbox', { name: 'New value of FS_GCS_ENABLE', exact: true }).waitFor();
    await visit(page, 'vehicle/setup/motors');
    for (const words of ['1000 µs', 'ESC 1: 0 rpm']) await says(words);
    await checkAxe(page);
    await says('Take the propellers off, then tick the box.');
    await page.getByRole('checkbox', { name: 'All propellers are off', exact: true }).click();
    const motor = page.getByRole('combobox', { name: 'Motor', exact: true });
    await motor.selectOption('3');
    const run = page.getByRole('button', { name: 'Run it for 2 s', exact: true });
    await run.hover();
    await page.mouse.down();
    await says('Motor 3 runs for 2 s.');
    await page.mouse.up();
    await says('1050 µs');
    await says('Only while the vehicle is disarmed.'); // ArduPilot arms for it
    await askAgain(
      'it is disarmed again',
      async () => (await node.json('/api/status', { headers })).body['armed'],
      (armed) => armed === false,
    );
  });

  it('compares with a file and takes over what was chosen', async () => {
    const names = ['RTL_ALT', 'WPNAV_SPEED_DN', 'NO_SUCH'];
    const [alt, down] = [await value('RTL_ALT'), await value('WPNAV_SPEED_DN')];
    const path = join(node.base, 'mine.param');
    await writeFile(path, `# mine\n${names[0]},${alt + 500}\n${names[1]},${down + 10}\n${names[2]},1\n`);
    const picker = page.getByLabel('Compare with a file', { exact: true });
    await picker.setInputFiles(path);
    await says('2 of 3 values differ.');
    await says('1 not on the vehicle: NO_SUCH.');
    await page.getByRole('checkbox', { name: 'WPNAV_SPEED_DN', exact: true }).click();
    await press('Take over 1');
    await press('Write to the vehicle');
    await says('Written and read back:');
    expect([await value('RTL_ALT'), await value('WPNAV_SPEED_DN')]).to.deep.equal([alt + 500, down]);
  });

  it('keeps a parameter among the favourites, finds it in its group, and shows what differs from the default', async () => {
    const star = page.getByRole('button', { name: 'Add ACRO_BAL_PITCH to the favourites', exact: true });
    await star.click();
    await page.reload();
    await page.getByRole('button', { name: 'Groups', exact: true }).click();
    await page.getByRole('button', { name: /^Favourites/ }).click();
    await page.waitForFunction(() => document.querySelectorAll('.params__list li').length === 1, undefined, {
      polling: 100,
    });
    await says('ACRO_BAL_PITCH');
    await press('Groups');
    await page
      .getByRole('button', { name: /^SERVO/ })
      .first()
      .click();
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll('.params__list .params__open')].every((name) =>
          name.textContent?.startsWith('SERVO'),
        ),
      undefined,
      { polling: 100 },
    );
    await press('Groups');
    await checkAxe(page);
    await page.getByRole('button', { name: /^Changed/ }).click();
    await says('default ');
  });

  it('says what is wrong and what to do, and leads to the parameter that the vehicle names', async () => {
    await visit(page, 'vehicle');
    for (const words of ['Quadcopter', 'ArduPilot 4.5.7', 'Ready to arm', 'Before the first flight'])
      await says(words);
    await checkAxe(page);
    expect((await node.post('/api/command', { cmd: 'mode', args: ['RTL'] }, headers)).status).to.equal(200);
    await says('Does not arm in RTL');
    await page
      .getByRole('button', { name: /^Switch to/ })
      .first()
      .click();
    await says('Ready to arm');
  });

  it('opens at the addresses of earlier versions, and in each section axe finds nothing', async () => {
    for (const [address, words] of [
      ['calibration', 'Gyroscope'],
      ['messages', 'Show'],
      ['signing', 'Signed MAVLink'],
      ['params', 'Search names and descriptions'],
      ['link/inspector', 'HEARTBEAT'],
      ['link/remote-id', 'Remote ID'],
      ['link/corrections', 'Corrections'],
      ['logs/vehicle', 'Logs on the vehicle'],
      ['setup/modes', 'Flight-mode switch'],
    ] as const) {
      await visit(page, `vehicle/${address}`);
      await page.getByText(words).first().waitFor();
      await checkAxe(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide, `${address} is wider than the screen`).to.be.at.most(0);
    }
  });
});
