import type { Browser, Page } from 'playwright-core';
import { ageOf, noBrowser, openBrowser, playerModule, readClocks, signIn } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import type { TestNode } from '../support/node.ts';
import { KEYED, pictures, startVideoNode } from '../support/video-node.ts';
import { cpuMicros, pssMib } from './proc.ts';
import type { Result } from './result.ts';

const PICTURES = 300;
const WINDOW_MS = 10_000;
const JOINS = 10;
const CYCLES = 500;
const WARM_UP = 100;

interface Player {
  readonly peer: RTCPeerConnection;
  stop(): void;
}
declare global {
  interface Window {
    players: Player[];
    add(count: number): Promise<number[]>;
    drop(): void;
  }
}

/** A page without a player of its own, signed in with the key, with `add(n)` -> ms to each first picture, and `drop()`. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  await signIn(page, url, KEY, 'access');
  await page.evaluate(async (player) => {
    const { play } = (await import(player)) as { play: (video: HTMLVideoElement) => Promise<Player> };
    document.body.replaceChildren();
    window.players = [];
    window.add = async (count) => {
      const times: number[] = [];
      for (let index = 0; index < count; index++) {
        const video = document.createElement('video');
        Object.assign(video, { muted: true, autoplay: true });
        const left = `${window.players.length * 100}px`;
        Object.assign(video.style, { position: 'fixed', top: '0', left, width: '100px' });
        document.body.append(video);
        const began = performance.now();
        const first = new Promise<void>((resolve) => video.requestVideoFrameCallback(() => resolve()));
        window.players.push(await play(video));
        await first;
        times.push(performance.now() - began);
      }
      return times;
    };
    window.drop = () => {
      for (const each of window.players) each.stop();
      window.players = [];
      document.body.replaceChildren();
    };
  }, playerModule());
  return page;
}

export const share = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? NaN;

/** Percent of one core that the process used over the window. */
export async function load(pid: number): Promise<number> {
  const before = cpuMicros(pid);
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
  return (cpuMicros(pid) - before) / (performance.now() - began) / 10;
}

async function viewersGone(node: TestNode): Promise<void> {
  while ((await node.json('/api/video', { headers: KEYED })).body['viewers'] !== 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

/** WHEP in Chromium at 1280x720, 30 pictures a second, on this machine; the browser takes its part of the two cores. */
export async function benchVideo(): Promise<readonly Result[]> {
  const why = noBrowser();
  if (why !== null) throw new Error(why);
  const node = await startVideoNode();
  const browser = await openBrowser();
  try {
    let page = await openPage(browser, node.url);
    const [residual, video] = [node.pid('svc-residual'), node.pid('svc-video')];
    const encode = await load(video);

    await page.evaluate(async () => window.add(1));
    await readClocks(page, 30);
    const ages = (await readClocks(page, PICTURES)).map(ageOf);
    const one = await load(video);
    const { body } = await node.json('/api/video', { headers: KEYED });
    await page.evaluate(async () => window.add(4));
    const five = await load(video);
    await page.evaluate(() => window.drop());
    await viewersGone(node);

    const firsts: number[] = [];
    for (let join = 0; join < JOINS; join++) {
      firsts.push(...(await page.evaluate(async () => window.add(1))));
      await page.evaluate(() => window.drop());
      await viewersGone(node);
    }

    const killed = performance.now();
    process.kill(video, 'SIGKILL');
    await node.until((all) => all.some(({ name, restarts }) => name === 'svc-video' && restarts > 0));
    await pictures(node);
    const again = performance.now() - killed;
    const restarted = node.pid('svc-video');

    const cycle = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        // Chromium has a bound on the connections of one page's life.
        if (at % WARM_UP === 0) {
          await page.close();
          page = await openPage(browser, node.url);
        }
        await page.evaluate(async () => window.add(1));
        await page.evaluate(() => window.drop());
      }
      await viewersGone(node);
    };
    await cycle(WARM_UP);
    const before = { residual: pssMib(residual), video: pssMib(restarted) };
    await cycle(CYCLES);
    const after = { residual: pssMib(residual), video: pssMib(restarted) };

    const rate = `${String(body['bitrate_kbps'])} kbit/s`;
    return [
      { name: 'capture to decoded picture, median', value: share(ages, 0.5), unit: 'ms', goal: 30 },
      { name: 'capture to decoded picture, p95', value: share(ages, 0.95), unit: 'ms', goal: 60 },
      { name: 'CPU of svc-video, encoding', value: encode, unit: '% core', goal: 20, note: rate },
      { name: 'CPU of svc-video, first viewer', value: one - encode, unit: '% core', note: rate },
      {
        name: 'CPU of svc-video, each further viewer',
        value: (five - one) / 4,
        unit: '% core',
        goal: 4,
        note: rate,
      },
      { name: 'offer to first picture, median', value: share(firsts, 0.5), unit: 'ms', goal: 400 },
      { name: 'offer to first picture, worst of 10', value: Math.max(...firsts), unit: 'ms' },
      { name: 'kill -9 of svc-video to pictures again', value: again, unit: 'ms', goal: 3000 },
      { name: `PSS of svc-video after ${WARM_UP} joins`, value: before.video, unit: 'MiB' },
      { name: `growth over ${CYCLES} more`, value: after.video - before.video, unit: 'MiB', goal: 16 },
      {
        name: 'growth of svc-residual over them',
        value: after.residual - before.residual,
        unit: 'MiB',
        goal: 16,
      },
    ];
  } finally {
    await browser.close();
    await node.stop();
  }
}
