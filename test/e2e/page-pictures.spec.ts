/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { DESKTOP, noBrowser, openBrowser, PHONE, type Screen, signIn, visit } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { HeldVehicle, IN_THE_AIR, ON_THE_GROUND, type Pose } from '../support/held-vehicle.ts';
import { TestNode } from '../support/node.ts';
import { checkPicture, openStill, type Theme } from '../support/pictures-kept.ts';

/** Views of the page in their states, sizes and themes, compared with the pictures that somebody has looked at and kept. */

const SIZES = {
  desktop: DESKTOP,
  wide: { width: 1920, height: 1080 },
  phone: PHONE,
  sideways: { width: 844, height: 390, isMobile: true, hasTouch: true },
} as const satisfies Readonly<Record<string, Screen>>;

/** `alone`: nothing is connected; `vehicle`: a simulated one on the ground; `held`: one whose figures stand still; `ground`: a ground station. */
const NODES = {
  alone: { simulated: false, config: 'agent:\n  name: kite\nvideo:\n  source: none\n' },
  vehicle: { simulated: true, config: 'agent:\n  name: kite\nvideo:\n  source: none\n' },
  held: { simulated: false, config: 'agent:\n  name: kite\nvideo:\n  source: none\n' },
  ground: {
    simulated: false,
    config: 'agent:\n  name: base\n  profile: ground-station\nvideo:\n  source: none\n',
  },
} as const;

type Look = readonly [keyof typeof SIZES, Theme];
const BOTH: readonly Look[] = [
  ['phone', 'light'],
  ['desktop', 'dark'],
];
const ALL: readonly Look[] = [...BOTH, ['sideways', 'light'], ['wide', 'light'], ['phone', 'sun']];

/** Modes of ArduCopter. */
const [AUTO, RTL] = [3, 6];
/** MAV_STATE. */
const [ACTIVE, CRITICAL] = [4, 5];
const ARMED: Pose = { ...ON_THE_GROUND, armed: true, state: ACTIVE };
/** Where the map is tapped, as a share of the window. */
const TAP = { x: 0.4, y: 0.35 };

interface Shown {
  readonly node: keyof typeof NODES;
  /** Where in the application; null: before one is in it. */
  readonly where: string | null;
  readonly state: string;
  readonly looks: readonly Look[];
  /** Selectors of what changes by itself. */
  readonly live?: readonly string[];
  /** Words that are there once it is loaded. */
  readonly says?: string;
  /** What the held vehicle is. */
  readonly pose?: Pose;
  /** What it says once the page is there. */
  readonly texts?: readonly string[];
  /** It is lost then. */
  readonly isLost?: boolean;
  /** What is opened first. */
  readonly opened?: (page: Page) => Promise<unknown>;
}

const FIGURES = ['.fly__instruments *', '.fly__strip *', '.fly__inset'];
const CLOCKS = ['time', 'td.number', '.stat dd', '.spark', '.meter'];
/** What goes on where a vehicle is held. */
const RUNNING = ['.instruments__key-figures .stat:last-child dd'];
const TABLE: readonly Shown[] = [
  { node: 'alone', where: null, state: 'sign-in', looks: ALL },
  { node: 'alone', where: 'setup/name', state: 'first question', says: 'Name this node', looks: ALL },
  { node: 'alone', where: 'fly', state: 'no vehicle', looks: ALL },
  { node: 'alone', where: 'plan', state: 'empty', says: 'No flight controller is connected.', looks: BOTH },
  { node: 'alone', where: 'vehicle', state: 'no vehicle', looks: BOTH },
  { node: 'alone', where: 'extensions', state: 'none', says: 'No extension', looks: BOTH },
  { node: 'alone', where: 'access/programs', state: 'none', looks: BOTH, live: ['time'] },
  { node: 'vehicle', where: 'fly', state: 'ready', looks: ALL, live: FIGURES },
  {
    node: 'vehicle',
    where: 'fly',
    state: 'modes',
    looks: BOTH,
    live: FIGURES,
    opened: async (page) => page.getByRole('button', { name: 'Mode', exact: true }).click(),
  },
  { node: 'held', where: 'fly', state: 'armed', looks: BOTH, live: RUNNING, pose: ARMED },
  { node: 'held', where: 'fly', state: 'in flight', looks: ALL, live: RUNNING, pose: IN_THE_AIR },
  {
    node: 'held',
    where: 'fly',
    state: 'target',
    looks: [...BOTH, ['sideways', 'light']],
    // A tap is a place of this window.
    live: [...RUNNING, '.commands__place input', '.commands__place .hint'],
    pose: IN_THE_AIR,
    opened: async (page) => {
      const { width, height } = page.viewportSize() ?? DESKTOP;
      await page.mouse.click(width * TAP.x, height * TAP.y);
    },
    says: 'Go to …',
  },
  {
    node: 'held',
    where: 'fly',
    state: 'mission flown',
    looks: BOTH,
    live: RUNNING,
    pose: { ...IN_THE_AIR, mode: AUTO, item: 2 },
    says: 'Waypoint 2 of 4',
  },
  {
    node: 'held',
    where: 'fly',
    state: 'link lost',
    looks: ALL,
    live: [...RUNNING, '[role=alert] h2 span', '.strip__chip.bad span'],
    pose: IN_THE_AIR,
    isLost: true,
    says: 'What the vehicle does on its own:',
  },
  {
    node: 'held',
    where: 'fly',
    state: 'refuses to arm',
    looks: BOTH,
    pose: { ...ON_THE_GROUND, healthy: false },
    texts: ['PreArm: Compass not calibrated', 'PreArm: Fence requires position'],
    says: 'Fence requires position',
  },
  {
    node: 'held',
    where: 'fly',
    state: 'failsafe',
    looks: [...BOTH, ['phone', 'sun']],
    live: RUNNING,
    pose: { ...IN_THE_AIR, mode: RTL, state: CRITICAL, battery: 12, volts: 10.4 },
    texts: ['Battery 1 is low 10.40V used 900 mAh', 'Battery Failsafe'],
    says: 'Battery Failsafe',
  },
  {
    node: 'held',
    where: 'plan',
    state: 'survey',
    looks: BOTH,
    pose: ON_THE_GROUND,
    opened: async (page) => {
      await page.getByRole('button', { name: 'Survey', exact: true }).click();
      await page.getByRole('button', { name: 'Square', exact: true }).click();
    },
    live: ['.plan__totals *', 'input'],
  },
  { node: 'vehicle', where: 'plan', state: 'mission', says: 'Return', looks: ALL },
  { node: 'vehicle', where: 'vehicle/parameters', state: 'all', says: 'ACRO_BAL_PITCH', looks: BOTH },
  { node: 'vehicle', where: 'vehicle/setup', state: 'sensors', looks: BOTH },
  { node: 'vehicle', where: 'vehicle/logs', state: 'no flight', says: 'No flights yet', looks: BOTH },
  {
    node: 'ground',
    where: 'ground',
    state: 'no drone',
    looks: BOTH,
    live: [...CLOCKS, '.ground__who'],
  },
];

describe('the page looks as it was kept', function () {
  this.timeout(120_000);
  let nodes: Readonly<Record<keyof typeof NODES, TestNode>>;
  let held: HeldVehicle;
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    const begun = async (kind: keyof typeof NODES): Promise<TestNode> =>
      TestNode.start({ pairing: { key: KEY }, ...NODES[kind] });
    held = await HeldVehicle.start();
    const [alone, vehicle, ground, still] = await Promise.all([
      begun('alone'),
      begun('vehicle'),
      begun('ground'),
      TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `${NODES.held.config}mavlink:\n  source: tcp:127.0.0.1:${held.port}\n  endpoints: []\n`,
      }),
    ]);
    nodes = { alone, vehicle, ground, held: still };
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await Promise.all(Object.values(nodes ?? {}).map(async (node) => node.stop()));
    await held?.[Symbol.asyncDispose]();
  });

  for (const { node, where, state, looks, live = [], says, opened, ...vehicle } of TABLE)
    for (const [size, theme] of looks)
      it(`${where ?? 'at the door'}, ${state}: ${size}, ${theme}`, async () => {
        const page = await openStill(browser, SIZES[size], theme);
        const { url } = nodes[node];
        if (vehicle.pose !== undefined) held.hold(vehicle.pose);
        if (where === null) {
          await page.goto(`${url}/`);
          await page.waitForSelector('input[name=secret]');
        } else {
          await signIn(page, url, KEY);
          await visit(page, where);
          // That there is no camera is known a little later.
          if (where === 'fly') await page.waitForSelector('.picture-none');
          if (vehicle.pose !== undefined) await isShown(page, vehicle.pose);
          for (const text of vehicle.texts ?? []) held.say(text);
          if (vehicle.isLost === true) {
            held.silence();
            // Each figure is as old as it came.
            await page.waitForFunction(
              () =>
                document.querySelectorAll('.instruments__key-figures .stale').length === 5 &&
                document.querySelector('.instruments__horizon.stale') !== null,
              undefined,
              { polling: 100 },
            );
          }
          await opened?.(page);
          if (says !== undefined) await page.getByText(says).first().waitFor();
        }
        const name = [where ?? 'door', state, size, theme].join('-').replaceAll(/[ /]/g, '-');
        await checkPicture(page, name, { live });
        await page.context().close();
      });
});

/** What is held has come to the page, with all that is asked of a vehicle once. */
async function isShown(page: Page, { armed, height, battery }: Pose): Promise<void> {
  const state = height > 0 ? 'Flying' : armed ? 'Armed' : 'Disarmed';
  await page
    .locator('.vehicle-bar', { hasText: `${battery} %` })
    .filter({ hasText: state })
    .waitFor();
}
