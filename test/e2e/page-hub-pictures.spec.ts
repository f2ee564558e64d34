/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { DESKTOP, noBrowser, openBrowser, PHONE, type Screen } from '../support/browser.ts';
import { answerFlights } from '../support/flight-answers.ts';
import { checkPicture, openStill, type Theme } from '../support/pictures-kept.ts';
import { entryOf, OPERATOR, StubHub } from '../support/stub-hub.ts';

/** Views of the fleet's page, compared with the pictures that somebody has looked at and kept. */

const LOOKS = [
  ['phone', PHONE, 'light'],
  ['desktop', DESKTOP, 'dark'],
] as const satisfies readonly (readonly [string, Screen, Theme])[];
/** Ages and times, which go on. */
const LIVE = [
  'time',
  '.hub-fleet__figures small',
  '.hub-fleet__card-state small',
  '.hub-node__chip',
  '.hub-node__timeline h3',
  '.stat dd',
];

interface Shown {
  readonly state: string;
  /** Whether there are nodes. */
  readonly isEmpty?: true;
  readonly where: string;
  /** Words that are there once it is loaded. */
  readonly says: string;
  /** What is opened first. */
  readonly opened?: (page: Page) => Promise<unknown>;
}

const TABLE: readonly Shown[] = [
  { state: 'list', where: 'fleet', says: 'Kite 11' },
  {
    state: 'map',
    where: 'fleet',
    says: 'Kite 11',
    // On a phone the map is a view of its own.
    opened: async (page) => {
      await page.getByRole('button', { name: 'Show Kite 5 on the map', exact: true }).click();
      await page.getByRole('region', { name: 'Kite 5', exact: true }).waitFor();
    },
  },
  { state: 'node', where: 'fleet/node-00003', says: 'Vehicle connected: ArduCopter 4.6' },
  // Names come with the fleet, a moment after the flights.
  { state: 'flights', where: 'flights', says: 'Kite 3' },
  {
    state: 'flight',
    where: 'flights/100',
    says: 'ArduPilot copter 4.6.2',
    opened: async (page) => page.getByText('Kite 0').filter({ visible: true }).first().waitFor(),
  },
  { state: 'empty', isEmpty: true, where: 'fleet', says: 'No drones yet.' },
  { state: 'enrol', isEmpty: true, where: 'enrol', says: 'Create code' },
];

describe("the fleet's page looks as it was kept", function () {
  this.timeout(120_000);
  let full: StubHub;
  let empty: StubHub;
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [full, empty, browser] = await Promise.all([
      StubHub.start(fleet()),
      StubHub.start([]),
      openBrowser('chromium', { deaf: true }),
    ]);
    answerFlights(full);
    full.answers.set('GET /v1/events', { events: happened(), last: 4 });
  });
  after(async () => {
    await browser?.close();
    await Promise.all([full?.stop(), empty?.stop()]);
  });

  for (const { state, isEmpty, where, says, opened } of TABLE)
    for (const [size, screen, theme] of LOOKS)
      it(`${state}: ${size}, ${theme}`, async () => {
        const page = await openStill(browser, screen, theme);
        // What a node has told is soon no longer of now.
        full.tell(...fleet());
        await page.goto(`${(isEmpty === true ? empty : full).url}/#/${where}`);
        await page.locator('input[name=secret]').fill(OPERATOR);
        await page.locator('form button[type=submit]').click();
        await page.waitForSelector('nav a.to-audit');
        await page.getByText(says).first().waitFor();
        await opened?.(page);
        // The pointer lies on nothing that answers to it.
        await page.mouse.move(0, 0);
        await checkPicture(page, `hub-${state}-${size}-${theme}`, { live: LIVE });
        await page.context().close();
      });
});

/** One of each state: in the air, with a weak battery, not heard, with an alarm, without a position; the rest on the ground. */
function fleet(): ReturnType<typeof entryOf>[] {
  const now = Date.now();
  return Array.from({ length: 12 }, (_, number) => {
    const entry = entryOf(number);
    const { status } = entry;
    const position = { lat: 47 + number / 1000, lon: 8 + (number % 4) / 500, heading: number * 30 };
    const flying = { ...status, position: { ...position, relative_alt_m: 42 }, armed: true };
    switch (number) {
      case 3:
      case 4:
        return { ...entry, online: false, seen_at: now - 600_000, status_at: now - 600_000 };
      case 5:
        return { ...entry, status: { ...flying, mode: 'AUTO', battery_percent: 64 } };
      case 6:
        return { ...entry, status: { ...flying, battery_percent: 21 } };
      case 7:
        return { ...entry, alarm: 'Its key is on two machines.' };
      case 8:
        return { ...entry, status: { ...status, position: null } };
      default:
        return { ...entry, status: { ...status, position, battery_percent: 60 + number } };
    }
  });
}

function happened(): readonly unknown[] {
  const told = [
    ['vehicle.connected', { firmware: 'ArduCopter', firmware_version: '4.6' }],
    ['vehicle.mode', { mode: 'STABILIZE', from: null }],
    ['vehicle.message', { severity: 4, text: 'PreArm: compass not calibrated' }],
    ['vehicle.armed', { mode: 'STABILIZE' }],
  ] as const;
  const at = Date.UTC(2026, 4, 17, 9);
  return told.map(([kind, detail], seq) => ({
    id: seq,
    node: 'x',
    stream: 'a',
    seq,
    at,
    received_at: at,
    kind,
    detail,
  }));
}
