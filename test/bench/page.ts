/// <reference lib="dom" />
import type { CDPSession, Page } from 'playwright-core';
import { openBrowser, openPage, signIn, visit } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { startVideoNode } from '../support/video-node.ts';
import type { Result } from './result.ts';

const WATCHED_MS = 10_000;
/** Minutes over which memory is watched; an hour with `SVC_PAGE_MINUTES=60`. */
const MINUTES = Number(process.env['SVC_PAGE_MINUTES'] ?? 3);
const SETTLE_MS = 30_000;

/** What a person waits for, and what the browser has to carry, while telemetry comes ten times a second. */
export async function benchPage(): Promise<readonly Result[]> {
  const node = await startVideoNode({ pairing: { key: KEY } });
  const browser = await openBrowser();
  try {
    const page = await openPage(browser);
    const client = await page.context().newCDPSession(page);
    await client.send('Network.enable');
    let bytes = 0;
    client.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
    await signIn(page, node.url, KEY);
    await visit(page, 'fly');
    const first = bytes;
    const paint = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    );
    await page.waitForFunction(() => (document.querySelector('video')?.videoWidth ?? 0) > 0);
    const frames = await framesIn(page);
    await pause(SETTLE_MS);
    const before = await heap(client);
    await pause(MINUTES * 60_000);
    const grown = (await heap(client)) - before;
    return [
      { name: 'first load', value: first / 1000, unit: 'kB', goal: 120 },
      { name: 'first paint with content', value: paint, unit: 'ms', goal: 1000 },
      { name: 'pictures a second on the fly page', value: frames.rate, unit: '/s', goal: 55, higher: true },
      { name: 'longest time between two of them', value: frames.longest, unit: 'ms' },
      { name: 'JavaScript heap after it settled', value: before / 1e6, unit: 'MB' },
      { name: `growth in ${MINUTES} min`, value: grown / 1e6, unit: 'MB', goal: 1 },
    ];
  } finally {
    await browser.close();
    await node.stop();
  }
}

/** How often the browser could draw. */
async function framesIn(page: Page): Promise<{ readonly rate: number; readonly longest: number }> {
  return page.evaluate(
    async (ms) =>
      new Promise<{ rate: number; longest: number }>((resolve) => {
        const began = performance.now();
        let [last, count, longest] = [began, 0, 0];
        const look = (now: number): void => {
          longest = Math.max(longest, now - last);
          last = now;
          count += 1;
          if (now - began < ms) requestAnimationFrame(look);
          else resolve({ rate: (count * 1000) / (now - began), longest });
        };
        requestAnimationFrame(look);
      }),
    WATCHED_MS,
  );
}

/** What is still used after the rubbish was collected, bytes. */
async function heap(client: CDPSession): Promise<number> {
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  return usedSize;
}

async function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
