/// <reference lib="dom" />
import type { Browser, CDPSession, Page, WebSocketRoute } from 'playwright-core';
import { memberOf, parseJson, recordOf } from '../../shared/member.ts';
import { openBrowser, openPage, PHONE } from '../support/browser.ts';
import { TestNode } from '../support/node.ts';
import type { Result } from './result.ts';

const POINTS = 5000;
const CPU = 4;
const WATCHED_MS = 10_000;
/** Of the way between two messages: what a plane flies in a tenth of a second. */
const STEP_M = 2;
const DEGREE_M = 111_195;
/** A circle that becomes wider, so that the map moves and turns in every frame. */
const RADIUS_M = { first: 150, step: 0.05 } as const;

/**
 * How often a phone draws the map of Fly while the vehicle flies, with a track of 5 000 points behind it. The vehicle's place in the
 * telemetry of the simulated one is changed on its way to the page; everything else is as it is.
 */
export async function benchMapFrames(): Promise<readonly Result[]> {
  const node = await TestNode.start();
  const browser = await openBrowser();
  try {
    const results: Result[] = [];
    for (const headingUp of [false, true]) results.push(...(await framesOf(browser, node.url, headingUp)));
    return results;
  } finally {
    await browser.close();
    await node.stop();
  }
}

async function framesOf(browser: Browser, origin: string, headingUp: boolean): Promise<readonly Result[]> {
  const page = await openPage(browser, PHONE);
  await page.addInitScript((up) => {
    localStorage.setItem(
      'svc-map-choices',
      JSON.stringify({ base: 'outline', track: 'speed', headingUp: up }),
    );
  }, headingUp);
  await page.routeWebSocket(/telemetry/, flyRound);
  await page.goto(`${origin}/#/fly`);
  await page.waitForSelector('.live-vehicle');
  const large = page.getByRole('button', { name: 'Enlarge map' });
  if (await large.isVisible()) await large.click();
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable');
  await client.send('Emulation.setCPUThrottlingRate', { rate: CPU });
  await page.waitForTimeout(2000);
  const before = await busy(client);
  const { rate, longest } = await watchFrames(page);
  const after = await busy(client);
  await page.context().close();
  const name = `map, ${headingUp ? 'heading' : 'north'} up`;
  const note = `${POINTS} points of track, telemetry at 10 Hz, processor ÷ ${CPU}`;
  return [
    { name: `${name}: pictures a second`, value: rate, unit: '/s', goal: 55, higher: true, note },
    { name: `${name}: longest time between two`, value: longest, unit: 'ms', note },
    {
      name: `${name}: script, style and layout for each picture`,
      value: ((after - before) * 1000) / ((rate * WATCHED_MS) / 1000),
      unit: 'ms',
      goal: 8,
      note: 'of 16.7 ms',
    },
  ];
}

/** Sends the page 5 000 places at once, then one with each message of the vehicle's. */
function flyRound(route: WebSocketRoute): void {
  let [flown, angle] = [0, 0];
  const next = (text: string): string => {
    const body = recordOf(parseJson(text));
    const position = recordOf(memberOf(body, 'position'));
    const radius = RADIUS_M.first + flown * RADIUS_M.step;
    flown += 1;
    angle += STEP_M / radius;
    const [lat, lon] = [Number(position['lat']), Number(position['lon'])];
    return JSON.stringify({
      ...body,
      position: {
        ...position,
        lat: lat + (radius * Math.cos(angle)) / DEGREE_M,
        lon: lon + (radius * Math.sin(angle)) / DEGREE_M / Math.cos((lat * Math.PI) / 180),
        heading: ((angle * 180) / Math.PI + 90) % 360,
      },
      velocity: { ...recordOf(memberOf(body, 'velocity')), groundspeed: 15 + 10 * Math.sin(angle * 3) },
    });
  };
  route.connectToServer().onMessage((message) => {
    const text = String(message);
    if (typeof memberOf(memberOf(parseJson(text), 'position'), 'lat') !== 'number') return route.send(text);
    const count = flown === 0 ? POINTS : 1;
    for (let n = 0; n < count; n++) route.send(next(text));
  });
}

const OURS: ReadonlySet<string> = new Set(['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration']);

/** Seconds that script, style and layout have taken. */
async function busy(client: CDPSession): Promise<number> {
  const { metrics } = await client.send('Performance.getMetrics');
  return metrics.filter(({ name }) => OURS.has(name)).reduce((sum, { value }) => sum + value, 0);
}

/** Pictures a second, and the longest time between two, ms. */
export async function watchFrames(page: Page): Promise<{ readonly rate: number; readonly longest: number }> {
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
