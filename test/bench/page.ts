/// <reference lib="dom" />
import type { Browser, CDPSession, Page } from 'playwright-core';
import { openBrowser, openPage, PHONE, signIn, visit } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { startVideoNode } from '../support/video-node.ts';
import type { Result } from './result.ts';

const WATCHED_MS = 10_000;
/** Minutes over which memory is watched; an hour with `SVC_PAGE_MINUTES=60`. */
const MINUTES = Number(process.env['SVC_PAGE_MINUTES'] ?? 3);
const SETTLE_MS = 30_000;
/** A phone of the lower middle class behind a slow network. */
const PHONE_CPU = 6;
const PHONE_NETWORK = {
  offline: false,
  latency: 100,
  downloadThroughput: 375_000,
  uploadThroughput: 375_000,
};
const TOUCHES = 20;
/** From one touch to the next, ms: what the former began has ended. */
const TOUCH_EVERY_MS = 500;

/** What a person waits for, and what the browser has to carry, while telemetry comes ten times a second. */
export async function benchPage(): Promise<readonly Result[]> {
  const node = await startVideoNode({ pairing: { key: KEY }, simulated: true });
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
    const heaps = await heapsOver(client);
    const [before = Number.NaN, after = Number.NaN] = [heaps[0], heaps.at(-1)];
    await page.context().close();
    return [
      ...(await onPhone(browser, node.url)),
      { name: 'first load', value: first / 1000, unit: 'kB', goal: 250 },
      { name: 'first paint with content', value: paint, unit: 'ms', goal: 1000 },
      { name: 'pictures a second on the fly page', value: frames.rate, unit: '/s', goal: 55, higher: true },
      { name: 'longest time between two of them', value: frames.longest, unit: 'ms' },
      { name: 'JavaScript heap after it settled', value: before / 1e6, unit: 'MB' },
      {
        name: `growth in ${MINUTES} min`,
        value: (after - before) / 1e6,
        unit: 'MB',
        goal: 1,
        figures: heaps.map((used) => used / 1e6),
      },
    ];
  } finally {
    await browser.close();
    await node.stop();
  }
}

/** How soon a phone shows something, shows the vehicle, and answers a touch. */
async function onPhone(browser: Browser, origin: string): Promise<readonly Result[]> {
  const page = await openPage(browser, PHONE);
  const client = await page.context().newCDPSession(page);
  await page.goto(origin);
  await page.check('input[type=checkbox]');
  await signIn(page, origin, KEY);
  await client.send('Network.enable');
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  await client.send('Network.setBypassServiceWorker', { bypass: true });
  await client.send('Network.emulateNetworkConditions', PHONE_NETWORK);
  await client.send('Emulation.setCPUThrottlingRate', { rate: PHONE_CPU });
  await page.reload({ waitUntil: 'commit' });
  await page.waitForFunction(() => document.querySelector('.vehicle-bar .mode') !== null);
  const [ready, paint] = await page.evaluate(() => [
    performance.now(),
    performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
  ]);
  await page.waitForFunction(() => (document.querySelector('video')?.videoWidth ?? 0) > 0);
  const touches = await touchTimes(page);
  await page.context().close();
  const note = `processor ÷ ${PHONE_CPU}, 3 Mbit/s, 100 ms`;
  return [
    { name: 'phone: first paint with content', value: paint ?? Number.NaN, unit: 'ms', goal: 1000, note },
    { name: 'phone: the vehicle is shown', value: ready ?? Number.NaN, unit: 'ms', goal: 2500, note },
    {
      name: 'phone: answer to a touch, 95th percentile',
      value: touches[Math.floor(touches.length * 0.95)] ?? Number.NaN,
      unit: 'ms',
      goal: 100,
      note: `${touches.length} touches while telemetry and video run, to the next picture`,
      figures: touches,
    },
  ];
}

/** Opens and closes what the last entry of the bar opens. @returns ms from each touch to the picture after it, the least first (Event Timing) */
async function touchTimes(page: Page): Promise<readonly number[]> {
  await page.evaluate(() => {
    const seen: number[] = [];
    Object.assign(window, { seenTouches: seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === 'click') seen.push(entry.duration);
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });
  // Bare touches: `tap` looks at the page first and listens to what it hits, which took a third of what was measured.
  const open = await middleOf(page, '.rail .more');
  await page.touchscreen.tap(...open);
  const close = await middleOf(page, 'dialog[open] header .button');
  for (let n = 1; n < 2 * TOUCHES; n++) {
    await pause(TOUCH_EVERY_MS);
    await page.touchscreen.tap(...(n % 2 === 1 ? close : open));
  }
  await pause(TOUCH_EVERY_MS);
  return page.evaluate(() => {
    const { seenTouches } = window as unknown as { seenTouches: number[] };
    return seenTouches.toSorted((a, b) => a - b);
  });
}

async function middleOf(page: Page, selector: string): Promise<[number, number]> {
  const box = await page.locator(selector).boundingBox();
  if (box === null) throw new Error(`${selector} is not on the page.`);
  return [box.x + box.width / 2, box.y + box.height / 2];
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

/** Looks each minute, so that a slope is told from a step. @returns bytes, the first at once and the last after `MINUTES` */
async function heapsOver(client: CDPSession): Promise<readonly number[]> {
  const heaps = [await heap(client)];
  for (let left = MINUTES; left > 0; left--) {
    await pause(Math.min(1, left) * 60_000);
    heaps.push(await heap(client));
  }
  return heaps;
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
