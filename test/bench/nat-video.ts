import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ageOf, noBrowser, openBrowser, readClocks, writeLauncher } from '../support/browser.ts';
import { startNatNode } from '../support/nat-node.ts';
import { type Nat, NatWorld, NODE_PUBLIC, noCoturn, TURN_AT } from '../support/nat-world.ts';
import { noNamespaces } from '../support/netns.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import type { Result } from './result.ts';
import { openPage, share } from './video.ts';

const JOINS = 5;
const PICTURES = 300;
/** Of the node's cable, each way: a round trip of 150 ms, as a modem has. */
const SLOW_MS = 75;

interface Case {
  readonly name: string;
  readonly nats: readonly [node: Nat, viewer: Nat];
  readonly slow: boolean;
  readonly loss?: number;
  readonly goals?: boolean;
}

const CASES: readonly Case[] = [
  { name: 'TURN, no delay', nats: ['symmetric', 'symmetric'], slow: false },
  { name: 'TURN, 150 ms round trip', nats: ['symmetric', 'symmetric'], slow: true, goals: true },
  { name: 'TURN, 150 ms round trip, 5 % loss', nats: ['symmetric', 'symmetric'], slow: true, loss: 5 },
  { name: 'node has TCP 443 alone, 150 ms round trip', nats: ['tcp443', 'symmetric'], slow: true },
];

/** A node and a browser behind two NATs, with a real coturn between them. */
export async function benchNatVideo(): Promise<readonly Result[]> {
  const why = noBrowser() ?? noNamespaces() ?? noCoturn();
  if (why !== null) throw new Error(why);
  const results: Result[] = [];
  for (const each of CASES) results.push(...(await watch(each)));
  results.push(...(await lose()));
  return results;
}

/** With everything that it needs around it. */
async function inWorld<T>(
  nats: readonly [Nat, Nat],
  run: (world: NatWorld, open: () => Promise<Page>) => Promise<T>,
): Promise<T> {
  const folder = await tempDir();
  const port = await freePort();
  const world = await NatWorld.create(port, ...nats);
  const node = await startNatNode(world, port, TURN_AT);
  const browser = await openBrowser('chromium', {
    launcher: await writeLauncher(join(folder, 'chromium'), world.on('viewer')),
  });
  try {
    return await run(world, async () => openPage(browser, `http://${NODE_PUBLIC}:443`));
  } finally {
    await browser.close();
    await node.stop();
    await world.destroy();
    await removeDir(folder);
  }
}

async function watch({ name, nats, slow, loss, goals = false }: Case): Promise<readonly Result[]> {
  return inWorld(nats, async (world, open) => {
    await world.turn(TURN_AT[0]);
    if (slow) await world.slow(SLOW_MS);
    if (loss !== undefined) await world.lose(loss);
    const page = await open();
    const joins: number[] = [];
    for (let at = 0; at < JOINS; at++) {
      joins.push(...(await page.evaluate(async () => window.add(1))));
      if (at < JOINS - 1) await page.evaluate(() => window.drop());
    }
    await readClocks(page, 60);
    const ages = (await readClocks(page, PICTURES)).map((read) => ageOf(read) - (slow ? SLOW_MS : 0));
    const goal = (value: number): { goal?: number } => (goals ? { goal: value } : {});
    return [
      { name: `${name}: first join`, value: joins[0] ?? NaN, unit: 'ms', ...goal(2000) },
      { name: `${name}: join, median of ${JOINS}`, value: share(joins, 0.5), unit: 'ms', ...goal(2000) },
      {
        name: `${name}: picture over the path's delay, median`,
        value: share(ages, 0.5),
        unit: 'ms',
        ...goal(150),
      },
      { name: `${name}: picture over the path's delay, p95`, value: share(ages, 0.95), unit: 'ms' },
    ];
  });
}

/** The relay in use is killed; another one is there. */
async function lose(): Promise<readonly Result[]> {
  return inWorld(['symmetric', 'symmetric'], async (world, open) => {
    await world.turn(TURN_AT[0]);
    await world.slow(SLOW_MS);
    const page = await open();
    await page.evaluate(async () => window.add(1));
    await readClocks(page, 30);
    await world.turn(TURN_AT[1]);
    const gap = page.evaluate(
      async () =>
        new Promise<number>((resolve) => {
          const video = document.querySelector('video');
          let last = performance.now();
          const next = (): void => {
            video?.requestVideoFrameCallback(() => {
              const now = performance.now();
              if (now - last > 1000) resolve(now - last);
              last = now;
              next();
            });
          };
          next();
        }),
    );
    await world.killTurn(TURN_AT[0]);
    return [{ name: 'relay killed, 150 ms round trip: without a picture', value: await gap, unit: 'ms' }];
  });
}
