/// <reference lib="dom" />
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ElementHandle, Page } from 'puppeteer-core';
import { openBrowser, openPage, signIn, visit } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { largeDataflash, largeTlog, largeUlog } from './large-logs.ts';
import type { Result } from './result.ts';

const BYTES = 100e6;
const LOGS = {
  'flight.bin': ['dataflash', largeDataflash],
  'flight.ulg': ['ULog', largeUlog],
  'flight.tlog': ['telemetry log', largeTlog],
} as const;

/** How long a person waits for a log of 100 MB on the page, and what the browser holds of it then. */
export async function benchLogViewer(): Promise<readonly Result[]> {
  const node = await TestNode.start({ pairing: { key: KEY } });
  const browser = await openBrowser();
  const folder = join(node.base, 'large-logs');
  try {
    await mkdir(folder);
    const results: Result[] = [];
    for (const [name, [kind, make]] of Object.entries(LOGS)) {
      const path = join(folder, name);
      await writeFile(path, make(BYTES));
      const page = await openPage(browser);
      await signIn(page, node.url, KEY);
      await visit(page, 'vehicle/logs/view');
      const began = performance.now();
      await open(page, path);
      const seconds = (performance.now() - began) / 1000;
      const held = await memory(page);
      results.push(
        { name: `${kind} of 100 MB, until its messages are shown`, value: seconds, unit: 's', goal: 6 },
        {
          name: `${kind} of 100 MB, held by the page and its worker`,
          value: held / 1e6,
          unit: 'MB',
          goal: 200,
        },
      );
      await page.browserContext().close();
      await rm(path);
    }
    return results;
  } finally {
    await browser.close();
    await node.stop();
  }
}

async function open(page: Page, path: string): Promise<void> {
  const picker = (await page.waitForSelector('.drop input[type=file]')) as ElementHandle<HTMLInputElement>;
  await picker.uploadFile(path);
  await page.waitForSelector('.viewer__tree details', { timeout: 60_000 });
}

/** Objects and buffers after the rubbish was collected, bytes. */
async function memory(page: Page): Promise<number> {
  const session = await page.createCDPSession();
  let sum = 0;
  for (const client of [session, ...page.workers().map((worker) => worker.client)]) {
    await client.send('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = await client.send('Runtime.getHeapUsage');
    sum += usedSize + backingStorageSize;
  }
  return sum;
}
