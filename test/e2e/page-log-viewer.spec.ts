/// <reference lib="dom" />
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { Paths } from '../../shared/paths.ts';
import { largeDataflash } from '../bench/large-logs.ts';
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
import { MADE_FAULTS } from '../support/made-faults.ts';
import { TestNode } from '../support/node.ts';
import { fieldOf, openBytes } from '../support/viewer-log.ts';

const TLOG = '20260101T000000.000Z.tlog';
const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);

describe('the log viewer of the page', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let seen: ReturnType<typeof watch>;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    const prepare = async ({ tlogs }: Paths): Promise<void> => {
      await mkdir(tlogs, { recursive: true });
      await copyFile(VTOL, join(tlogs, TLOG));
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
    page = await openPage(browser);
    seen = watch(page, node.url);
    await signIn(page, node.url, KEY);
  });
  afterEach(async () => {
    seen.check();
    await page.context().close();
  });

  const says = async (text: string): Promise<void> => {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 100 });
  };
  const press = async (name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).first().click();
  const choose = async (search: string, field: string): Promise<void> => {
    await page.getByRole('searchbox', { name: 'Search messages and fields', exact: true }).fill(search);
    await page.locator('.viewer__tree label').getByText(field).first().click();
  };
  /** Whether anything was drawn where lines are. */
  const drawn = async (plot: number): Promise<number> =>
    page.evaluate((at) => {
      const canvas = document.querySelectorAll('canvas')[at];
      const data = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      return new Set(new Uint32Array(Uint8ClampedArray.from(data).buffer)).size;
    }, plot);

  it('opens a file, finds messages, plots two fields with the modes, and saves what it shows', async () => {
    const bytes = largeDataflash(400_000);
    const path = join(node.base, 'flight.bin');
    await writeFile(path, bytes);
    await visit(page, 'vehicle/logs');
    await page.getByRole('link', { name: 'Open a log file', exact: true }).click();
    const picker = page.locator('.drop input[type=file]');
    await picker.setInputFiles(path);
    await says('ArduPilot: ');
    await choose('roll', 'DesRoll');
    await choose('accz', 'AccZ');
    await says('ATT.DesRoll: ');
    await says('IMU[0].AccZ: ');
    for (const words of ['AUTO', 'GUIDED', 'ArduCopter V4.6.2 (1a2b3c4d)']) await says(words);
    await page.locator('.viewer__marks li:nth-child(2) button').click();
    const { log, summary } = openBytes(bytes);
    const [from, to] = summary.span ?? [0, 0];
    const accel = fieldOf(summary, 'IMU[0]', 'AccZ');
    const second = summary.modes[1]?.from ?? 0;
    await says(`IMU[0].AccZ: ${Number(log.values([accel], second)[0]?.toPrecision(7))}`);
    expect(await drawn(0)).to.be.above(10);
    await checkAxe(page);

    const downloading = page.waitForEvent('download');
    await press('Save CSV');
    const download = await downloading;
    expect(download.suggestedFilename()).to.equal('flight.bin.csv');
    const wanted = [...log.csv([fieldOf(summary, 'ATT', 'DesRoll'), accel], from, to)].join('');
    expect(await readFile(await download.path(), 'utf8')).to.equal(wanted);
  });

  it('says of a file what happened in the flight, in this browser', async () => {
    const path = join(node.base, 'fault.ulg');
    const made = MADE_FAULTS.find(({ fault }) => fault === 'battery sag and brown-out, PX4');
    await writeFile(path, made?.log() ?? '');
    await visit(page, 'vehicle/logs');
    await page.getByRole('link', { name: 'Open a log file', exact: true }).click();
    await page.locator('.drop input[type=file]').setInputFiles(path);
    await page.locator('summary', { hasText: /^Report$/ }).click();
    await says('A cell sagged to 3.30 V');
    const items = await page.locator('details li', { hasText: 'V' }).allInnerTexts();
    expect(items.map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 40))).to.deep.equal([
      '0:30.2 – 0:40.0 A cell sagged to 3.30 V ',
      '0:36.2 – 0:40.0 The supply of the autopi',
      '0:40.0 The log ends in flight, 10 m high',
    ]);
  });

  it('opens a telemetry log of the node on a phone, with its track, and zooms', async () => {
    await page.setViewportSize(PHONE);
    await visit(page, 'vehicle/logs/node');
    await page.getByRole('link', { name: `Plot ${TLOG}`, exact: true }).click();
    await says('telemetry log: ');
    await says('QLOITER');
    await page.waitForSelector('.viewer__map polyline');
    await choose('vfr_hud 1/1.cl', 'climb');
    await says('VFR_HUD 1/1.climb: ');
    await press('Battery');
    await says('SYS_STATUS 1/1.voltage_battery: ');
    await press('Attitude');
    await says('ATTITUDE 1/1.roll: ');
    await press('Zoom in');
    await press('Later');
    await press('Whole log');
    await page.locator('.viewer__marks li:first-child button').first().click();
    await page.waitForSelector('.viewer__map .vehicle');
    await checkAxe(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).to.equal(false);
  });

  it('says what is no log, and shows what there is of one that was cut', async () => {
    const none = join(node.base, 'none.bin');
    const cut = join(node.base, 'cut.bin');
    await writeFile(none, Buffer.alloc(100_000, 7));
    await writeFile(cut, largeDataflash(400_000).subarray(0, 300_001));
    await visit(page, 'vehicle/logs/view');
    const open = async (path: string): Promise<void> => {
      const picker = page.locator('.drop input[type=file]');
      await picker.setInputFiles(path);
    };
    await open(none);
    await says('This file is not a log');
    await open(cut);
    await says('cut.bin');
    await says('IMU[0]');
  });
});
