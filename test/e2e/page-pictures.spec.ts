/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { DESKTOP, noBrowser, openBrowser, PHONE, type Screen, signIn, visit } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { checkPicture, openStill, type Theme } from '../support/pictures-kept.ts';

/** Views of the page in their states, sizes and themes, compared with the pictures that somebody has looked at and kept. */

const SIZES = {
  desktop: DESKTOP,
  wide: { width: 1920, height: 1080 },
  phone: PHONE,
  sideways: { width: 844, height: 390, isMobile: true, hasTouch: true },
} as const satisfies Readonly<Record<string, Screen>>;

/** `alone`: nothing is connected; `vehicle`: a simulated one on the ground; `ground`: a ground station. */
const NODES = {
  alone: { simulated: false, config: 'agent:\n  name: kite\nvideo:\n  source: none\n' },
  vehicle: { simulated: true, config: 'agent:\n  name: kite\nvideo:\n  source: none\n' },
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
  /** What is opened first. */
  readonly opened?: (page: Page) => Promise<unknown>;
}

const FIGURES = ['.fly__instruments *', '.fly__strip *', '.fly__inset'];
const CLOCKS = ['time', 'td.number', '.stat dd', '.spark', '.meter'];
const TABLE: readonly Shown[] = [
  { node: 'alone', where: null, state: 'sign-in', looks: ALL },
  { node: 'alone', where: 'setup/name', state: 'first question', says: 'Name this node', looks: ALL },
  { node: 'alone', where: 'fly', state: 'no vehicle', looks: ALL },
  { node: 'alone', where: 'plan', state: 'empty', looks: BOTH },
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
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    const begun = async (kind: keyof typeof NODES): Promise<TestNode> =>
      TestNode.start({ pairing: { key: KEY }, ...NODES[kind] });
    const [alone, vehicle, ground] = await Promise.all([begun('alone'), begun('vehicle'), begun('ground')]);
    nodes = { alone, vehicle, ground };
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await Promise.all(Object.values(nodes ?? {}).map(async (node) => node.stop()));
  });

  for (const { node, where, state, looks, live = [], says, opened } of TABLE)
    for (const [size, theme] of looks)
      it(`${where ?? 'at the door'}, ${state}: ${size}, ${theme}`, async () => {
        const page = await openStill(browser, SIZES[size], theme);
        const { url } = nodes[node];
        if (where === null) {
          await page.goto(`${url}/`);
          await page.waitForSelector('input[name=secret]');
        } else {
          await signIn(page, url, KEY);
          await visit(page, where);
          // That there is no camera is known a little later.
          if (where === 'fly') await page.waitForSelector('.picture-none');
          if (says !== undefined) await page.getByText(says).first().waitFor();
          await opened?.(page);
        }
        const name = [where ?? 'door', state, size, theme].join('-').replaceAll(/[ /]/g, '-');
        await checkPicture(page, name, { live });
        await page.context().close();
      });
});
