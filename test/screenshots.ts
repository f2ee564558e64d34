import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DESKTOP, openBrowser, openPage, PHONE, signIn, visit } from './support/browser.ts';
import { KEY } from './support/edge.ts';
import { ROOT, TestNode } from './support/node.ts';
import { freePort } from './support/temp.ts';

/** `npm run screenshots`: every page of a running node, on a desktop and on a phone, light and dark, into docs/screenshots. */

const FOLDER = join(ROOT, 'docs/screenshots');
const PAGES: Readonly<Record<string, 'drone' | 'ground-station'>> = {
  fly: 'drone',
  plan: 'drone',
  vehicle: 'drone',
  node: 'drone',
  'node/metrics': 'drone',
  'node/config': 'drone',
  extensions: 'drone',
  access: 'drone',
  setup: 'drone',
  ground: 'ground-station',
};
const SIZES = { desktop: DESKTOP, phone: PHONE } as const;
// Pictures, figures and lists come within it; what comes later is not there on the picture.
const SETTLE_MS = 2500;

const video =
  'video:\n  source: test\n  radio: ""\n  hero: { width: 640, height: 360, fps: 10, bitrate_kbps: 600 }\n';
const pairing = { key: KEY };
const nodes = {
  drone: await TestNode.start({ config: video, pairing, tlsPort: await freePort() }),
  'ground-station': await TestNode.start({ config: `${video}agent:\n  profile: ground-station\n`, pairing }),
};
const browser = await openBrowser();
try {
  await mkdir(FOLDER, { recursive: true });
  for (const theme of ['light', 'dark'] as const)
    for (const [size, viewport] of Object.entries(SIZES))
      for (const profile of ['drone', 'ground-station'] as const) {
        const page = await openPage(browser, viewport, { colorScheme: theme });
        await signIn(page, nodes[profile].url, KEY);
        for (const [where, of] of Object.entries(PAGES)) {
          if (of !== profile) continue;
          await visit(page, where);
          await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
          const name = `${where.replace('/', '-')}-${size}-${theme}.webp`;
          await page.screenshot({ path: join(FOLDER, name), type: 'webp', quality: 70 });
          process.stdout.write(`docs/screenshots/${name}\n`);
        }
        await page.context().close();
      }
} finally {
  await browser.close();
  await Promise.all(Object.values(nodes).map(async (node) => node.stop()));
}
