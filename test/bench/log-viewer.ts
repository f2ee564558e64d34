/// <reference lib="dom" />
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
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
      await page.context().close();
      await rm(path);
    }
    return results;
  } finally {
    await browser.close();
    await node.stop();
  }
}

async function open(page: Page, path: string): Promise<void> {
  const picker = page.locator('.drop input[type=file]');
  await picker.setInputFiles(path);
  await page.waitForSelector('.viewer__tree details', { timeout: 60_000 });
}

/** Objects and buffers of the page and its workers after the rubbish was collected, bytes. */
async function memory(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const workers: string[] = [];
  session.on('Target.attachedToTarget', ({ sessionId }) => workers.push(sessionId));
  // Not flat: Playwright has no session of a worker, messages to one go through the page's.
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  });
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage');
  let sum = usedSize + backingStorageSize;
  for (const sessionId of workers) {
    await ofWorker(session, sessionId, 'HeapProfiler.collectGarbage');
    const used = await ofWorker(session, sessionId, 'Runtime.getHeapUsage');
    sum += (used['usedSize'] ?? Number.NaN) + (used['backingStorageSize'] ?? Number.NaN);
  }
  await session.detach();
  return sum;
}

/** Calls a method of a worker without parameters. @returns its result */
async function ofWorker(
  session: CDPSession,
  sessionId: string,
  method: string,
): Promise<Readonly<Record<string, number>>> {
  const answered = new Promise<Readonly<Record<string, number>>>((resolve) => {
    session.once('Target.receivedMessageFromTarget', ({ message }) => {
      resolve((JSON.parse(message) as { result: Readonly<Record<string, number>> }).result);
    });
  });
  await session.send('Target.sendMessageToTarget', {
    sessionId,
    message: JSON.stringify({ id: 1, method }),
  });
  return answered;
}
