import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ageOf, noBrowser, openBrowser, readClocks, writeLauncher } from '../support/browser.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import type { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';
import type { Result } from './result.ts';
import { openPage, share } from './video.ts';

const WATCH_MS = 60_000;

/** A browser on a host of its own, behind a cable that is thin or loses packets, watches the default profile of 4 Mbit/s. */
export async function benchThinVideo(): Promise<readonly Result[]> {
  const why = noBrowser() ?? noNamespaces();
  if (why !== null) throw new Error(why);
  const node = await startVideoNode();
  const folder = await tempDir();
  try {
    return [
      ...(await watch(node, folder, '1 Mbit/s', async (host) => host.thin(1000), true)),
      ...(await watch(node, folder, '500 kbit/s', async (host) => host.thin(500), false)),
      ...(await watch(node, folder, '300 kbit/s', async (host) => host.thin(300), false)),
      ...(await watch(node, folder, '5 % loss', async (host) => host.lose(5), true)),
    ];
  } finally {
    await node.stop();
    await removeDir(folder);
  }
}

async function watch(
  node: TestNode,
  folder: string,
  name: string,
  spoil: (host: RemoteHost) => Promise<void>,
  goals: boolean,
): Promise<readonly Result[]> {
  const host = await RemoteHost.create('10.79.1.1/24', '10.79.1.2/24');
  const browser = await openBrowser('chromium', {
    launcher: await writeLauncher(join(folder, 'chromium'), host.prefix),
  });
  try {
    const page = await openPage(browser, `http://10.79.1.1:${node.port}`);
    await spoil(host);
    const [first = NaN] = await page.evaluate(async () => window.add(1));
    const before = await freezes(page);
    const ages: number[] = [];
    const end = performance.now() + WATCH_MS;
    while (performance.now() < end) ages.push(...(await readClocks(page, 10)).map(ageOf));
    const after = await freezes(page);
    const { body } = await node.json('/api/video', { headers: KEYED });
    const note = JSON.stringify((body['viewer_paths'] as unknown[])[0]);
    const goal = (value: number): { goal?: number } => (goals ? { goal: value } : {});
    return [
      { name: `${name}: offer to first picture`, value: first, unit: 'ms', ...goal(2000) },
      { name: `${name}: freezes in a minute`, value: after.count - before.count, unit: '', ...goal(2), note },
      { name: `${name}: frozen in a minute`, value: (after.seconds - before.seconds) * 1000, unit: 'ms' },
      { name: `${name}: capture to picture, median`, value: share(ages, 0.5), unit: 'ms' },
      { name: `${name}: capture to picture, p95`, value: share(ages, 0.95), unit: 'ms', ...goal(400) },
      { name: `${name}: pictures`, value: (ages.length * 1000) / WATCH_MS, unit: '/s' },
    ];
  } finally {
    await browser.close();
    await host.destroy();
  }
}

/** Of the page's only playback, as the browser counts them. */
async function freezes(page: Page): Promise<{ count: number; seconds: number }> {
  return page.evaluate(async () => {
    const stats = await window.players[0]?.peer.getStats();
    let found: { count: number; seconds: number } | null = null;
    stats?.forEach((each: { type: string; freezeCount: number; totalFreezesDuration: number }) => {
      if (each.type === 'inbound-rtp')
        found = { count: each.freezeCount, seconds: each.totalFreezesDuration };
    });
    if (found === null) throw new Error(`no playback: ${[...(stats ?? [])].map((each) => each[0]).join()}`);
    return found;
  });
}
