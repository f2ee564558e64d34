import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { makeDemoMap } from '../bin/supervisor/demo-map.ts';
import { DESKTOP, openBrowser, openPage, PHONE, type Screen, signIn, visit } from './support/browser.ts';
import { KEY, withKey } from './support/edge.ts';
import { ROOT, TestNode } from './support/node.ts';
import { freePort } from './support/temp.ts';

/** `npm run screenshots`: twenty pictures of a running demo, on the ground and in the air, into docs/screenshots. */

const FOLDER = join(ROOT, 'docs/screenshots');
const SIZES = {
  desktop: DESKTOP,
  wide: { width: 1920, height: 1080 },
  phone: PHONE,
  sideways: { width: 844, height: 390, isMobile: true, hasTouch: true },
} as const satisfies Readonly<Record<string, Screen>>;
type Theme = 'light' | 'dark' | 'sun';
type Shot = readonly [
  name: string,
  where: string,
  size: keyof typeof SIZES,
  theme: Theme,
  opened?: (page: Page) => Promise<unknown>,
];

const swap = async (page: Page): Promise<unknown> =>
  page.getByRole('button', { name: 'Enlarge map' }).click();
const press =
  (name: string) =>
  async (page: Page): Promise<unknown> =>
    page.getByRole('button', { name, exact: true }).click();

const GROUNDED: readonly Shot[] = [
  ['setup', 'setup/profile', 'phone', 'light'],
  ['plan', 'plan', 'desktop', 'light'],
  ['plan', 'plan', 'phone', 'dark'],
  ['parameters', 'vehicle/parameters', 'desktop', 'light'],
  ['vehicle-setup', 'vehicle/setup', 'desktop', 'dark'],
  ['node', 'node', 'desktop', 'light'],
  ['node', 'node', 'phone', 'dark'],
  ['video', 'node/video', 'desktop', 'light'],
  ['log', 'node/log', 'phone', 'light'],
  ['configuration', 'node/config', 'desktop', 'light'],
  ['access', 'access', 'desktop', 'light'],
  ['extensions', 'extensions', 'desktop', 'light'],
];
const FLYING: readonly Shot[] = [
  ['fly', 'fly', 'desktop', 'light'],
  ['fly', 'fly', 'wide', 'dark'],
  ['fly', 'fly', 'phone', 'light'],
  ['fly', 'fly', 'sideways', 'sun'],
  ['fly-map', 'fly', 'desktop', 'light', swap],
  ['fly-modes', 'fly', 'phone', 'dark', press('Mode')],
  ['vehicle', 'vehicle', 'desktop', 'light'],
];
const GROUND: readonly Shot[] = [['ground', 'ground', 'desktop', 'light']];
// Pictures, figures and lists come within it; what comes later is not there on the picture.
const SETTLE_MS = 3500;
const HEIGHT_M = 25;

const config = (more: string): string =>
  `${more}video:\n  source: landscape\n  radio: ""\n  hero: { width: 1280, height: 720, fps: 20, bitrate_kbps: 3000 }\n`;
const pairing = { key: KEY };
const drone = await TestNode.start({
  config: config('agent:\n  name: kite\n'),
  pairing,
  tlsPort: await freePort(),
  prepare: async ({ maps }) => makeDemoMap(maps),
});
const ground = await TestNode.start({
  config: config('agent:\n  name: base\n  profile: ground-station\n'),
  pairing,
});
const browser = await openBrowser();
try {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  for (const shot of GROUNDED) await take(drone, shot);
  for (const shot of GROUND) await take(ground, shot);
  const headers = { [withKey[0]]: KEY };
  const tell = async (cmd: string, ...args: readonly (string | number)[]): Promise<unknown> =>
    drone.post('/api/command', { cmd, args }, headers);
  await tell('mode', 'GUIDED');
  await tell('arm');
  await tell('takeoff', HEIGHT_M);
  for (const shot of FLYING) await take(drone, shot);
} finally {
  await browser.close();
  await Promise.all([drone.stop(), ground.stop()]);
}

async function take(node: TestNode, [name, where, size, theme, opened]: Shot): Promise<void> {
  const page = await openPage(browser, SIZES[size], {
    colorScheme: theme === 'dark' ? 'dark' : 'light',
    locale: 'en-GB',
  });
  await page.addInitScript((chosen) => localStorage.setItem('svc-theme', chosen), theme);
  await signIn(page, node.url, KEY);
  await visit(page, where);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  // A machine that is busy shows the camera's picture later than that.
  if (where === 'fly') await page.waitForSelector('#video-state.live', { state: 'attached' });
  await opened?.(page);
  if (opened !== undefined) await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const file = `${name}-${size}-${theme}.webp`;
  await page.screenshot({ path: join(FOLDER, file), type: 'webp', quality: 75 });
  process.stdout.write(`docs/screenshots/${file}\n`);
  await page.context().close();
}
