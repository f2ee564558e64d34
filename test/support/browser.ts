/// <reference lib="dom" />
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { expect } from 'chai';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Frame,
  firefox,
  type Page,
  type Request,
} from 'playwright-core';
import { askAgain } from './ask-again.ts';
import { ROOT } from './node.ts';

/** The two browsers of Debian, driven by Playwright: Chromium by its own protocol, Firefox by WebDriver BiDi. */

/** Chromium without windows does the same with a third less of the processor. */
const SHELL = '/usr/bin/chromium-headless-shell';
const EXECUTABLES = {
  chromium: existsSync(SHELL) ? SHELL : '/usr/bin/chromium',
  firefox: '/usr/bin/firefox-esr',
};
export type BrowserName = keyof typeof EXECUTABLES;

/** Addresses of this machine come and go with the cables of other tests; Chromium would lose each time what a page is loading. */
const DEAF = join(import.meta.dirname, 'deaf.py');
const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;

/** How long a page is waited for: many times what it takes on an idle machine. */
const PATIENCE_MS = 60_000;
const MAX_RELOADS = 5;

/** Why a browser test cannot run here; null when it can. */
export function noBrowser(name: BrowserName = 'chromium'): string | null {
  const path = EXECUTABLES[name];
  return existsSync(path)
    ? null
    : `needs ${path} (Debian: apt-get install ${path.slice('/usr/bin/'.length)})`;
}

/**
 * @param extra further arguments of Chromium
 * @param deaf Chromium hears nothing of addresses that come and go; nor has it any for WebRTC, so it is for pages without a picture
 * @param launcher a script that runs Chromium with its arguments elsewhere, for example in a network namespace
 */
export async function openBrowser(
  name: BrowserName = 'chromium',
  {
    extra = [],
    launcher,
    deaf = false,
  }: { extra?: readonly string[]; launcher?: string; deaf?: boolean } = {},
): Promise<Browser> {
  if (name === 'chromium') {
    const usual = deaf && HAS_PYTHON ? DEAF : EXECUTABLES.chromium;
    return patient(
      await chromium.launch({
        executablePath: launcher ?? usual,
        env: { ...process.env, DEAF_PROGRAM: EXECUTABLES.chromium },
        args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...extra],
      }),
    );
  }
  const browser = await firefox.launch({
    executablePath: launcher ?? EXECUTABLES[name],
    channel: 'moz-firefox',
  });
  doWithoutColourScheme(browser);
  return patient(browser);
}

/** `newPage` of a browser makes its context by this, too. */
function patient(browser: Browser): Browser {
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    const newPage = context.newPage.bind(context);
    context.newPage = async () => loadingWhole(await newPage());
    return context;
  };
  return browser;
}

/** A browser that is not deaf loses what a page is loading with each cable of another test: then it is loaded once more. */
function loadingWhole(page: Page): Page {
  const goto = page.goto.bind(page);
  page.goto = async (url, options) => {
    let lost = false;
    const failed = (request: Request): void => {
      lost ||= request.failure()?.errorText === 'net::ERR_NETWORK_CHANGED';
    };
    page.on('requestfailed', failed);
    try {
      let answer = await goto(url, options).catch((error: unknown) => {
        if (!lost) throw error;
        return null;
      });
      for (let again = 0; lost && again < MAX_RELOADS; again++) {
        lost = false;
        // A second `goto` of an address with a hash would load nothing.
        answer = page.url() === 'about:blank' ? await goto(url, options) : await page.reload(options);
      }
      return answer;
    } finally {
      page.off('requestfailed', failed);
    }
  };
  return page;
}

/** What Playwright sends to a browser. */
interface BidiSession {
  send: (method: string, params: unknown) => Promise<unknown>;
}

/**
 * Playwright 1.65 sets the colour scheme of every window that it opens, by a command of WebDriver BiDi that Firefox does not have
 * yet (153 ESR: `emulation.setMediaFeaturesOverride`, unknown command), and opens none when it is refused. No option leaves it
 * out: so this one command, and no other, is forgiven. To be removed with the first ESR that has it.
 * @throws TypeError when another version of Playwright is built otherwise inside
 */
function doWithoutColourScheme(browser: Browser): void {
  const { _connection: connection } = browser as unknown as {
    _connection: { toImpl: (of: Browser) => { _browserSession: BidiSession } };
  };
  const { _browserSession: session } = connection.toImpl(browser);
  const send = session.send.bind(session);
  session.send = async (method, params) =>
    send(method, params).catch((error: unknown) => {
      if (method === 'emulation.setMediaFeaturesOverride' && /unknown command/.test(String(error))) return {};
      throw error;
    });
}

/** Writes a launcher. @param prefix program and arguments before Chromium's path */
export async function writeLauncher(path: string, prefix: readonly string[]): Promise<string> {
  const line = [...prefix, EXECUTABLES.chromium].join(' ');
  await writeFile(path, `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 });
  return path;
}

/** What a page is looked at on, CSS pixels. */
export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly isMobile?: boolean;
  readonly hasTouch?: boolean;
}
export const PHONE: Screen = { width: 390, height: 844, isMobile: true, hasTouch: true };
export const DESKTOP: Screen = { width: 1280, height: 800 };

/**
 * A window of its own, which shares nothing with others. It is of one kind to its end: `setViewportSize` changes its size, and
 * makes no phone of a desktop.
 */
export async function openPage(
  browser: Browser,
  { width, height, ...kind }: Screen = DESKTOP,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height }, ...kind, ...options });
  return context.newPage();
}

/** Everything that a page must never do; `check` at the end of a test. */
export interface Watch {
  /** @throws AssertionError naming what was wrong: an error in the console, a refusal of the policy, another host */
  readonly check: () => void;
}

/** Listens to a page from its start. @param origin the node's, as `http://127.0.0.1:8080` */
export function watch(page: Page, origin: string): Watch {
  const wrong: string[] = [];
  const asked = (address: string): void => {
    const url = new URL(address);
    if (/^(?:http|ws)s?:$/.test(url.protocol) && url.host !== new URL(origin).host)
      wrong.push(`asked ${url.href}`);
  };
  page.on('pageerror', ({ message }) => wrong.push(`error: ${message}`));
  page.on('console', (message) => {
    const text = message.text();
    // What the node refuses, and that it is away, is told by the page; a browser tells it in the console, too.
    if (message.type() === 'error' && !/Failed to load resource|WebSocket connection|ERR_/.test(text))
      wrong.push(`console: ${text}`);
  });
  page.on('request', (request) => asked(request.url()));
  page.on('websocket', (socket) => asked(socket.url()));
  return { check: () => expect(wrong).to.deep.equal([]) };
}

/** Opens the page and signs in with a PIN or a key, as a person does. @param where a page of the application; the picture is on `fly` */
export async function signIn(page: Page, origin: string, secret: string, where = 'fly'): Promise<void> {
  await page.goto(`${origin}/#/${where}`);
  await page.fill('input[name=secret]', secret);
  await page.click('form button[type=submit]');
  await page.waitForSelector('nav');
}

/** Goes to a page of the application, `fly` or `node/log`, once it is loaded. */
export async function visit(page: Page, where: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${where}`);
  const id = where.split('/', 1)[0] ?? '';
  await page.waitForSelector(`main[data-page=${id}] > h1 + :not(.first)`, { state: 'attached' });
  await page.waitForFunction(() => document.querySelector('main .first') === null, undefined, {
    polling: 100,
  });
}

/** What is in the fields of a page at this moment, in their order. */
export async function inputsOf(page: Page, selector: string): Promise<readonly string[]> {
  return page.$$eval(selector, (inputs: HTMLInputElement[]) => inputs.map(({ value }) => value));
}

/** The page inside the page whose address ends so, once there is one. */
export async function frameAt(page: Page, ending: string): Promise<Frame> {
  const found = await askAgain(
    `a frame of ${ending}`,
    async () => page.frames().find((each) => each.url().endsWith(ending)),
    (frame) => frame !== undefined,
    20_000,
  );
  return found ?? expect.fail(ending);
}

/** Whether axe's two rules beyond WCAG are failures, too: what scrolls can be reached by the keyboard, landmarks have names of their own. */
const STRICT_AXE = true;

/** WCAG 2.2 A and AA by axe. @throws AssertionError with each violation and where it is */
export async function checkAxe(page: Page): Promise<void> {
  // What comes in by moving is half see-through until it is there, and a button that can be used now is for a moment between two colours.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(async () =>
    Promise.allSettled(document.getAnimations().map(async ({ finished }) => finished)),
  );
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    async (enabled) =>
      (window as unknown as { axe: { run: (options: unknown) => Promise<AxeResults> } }).axe.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
        rules: { 'scrollable-region-focusable': { enabled }, 'landmark-unique': { enabled } },
      }),
    STRICT_AXE,
  );
  expect(
    violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join(' | ')}`,
    ),
  ).to.deep.equal([]);
}

/** The address of the page's own WHEP player; it has the credential that the page was signed into with. */
export function playerModule(): string {
  const [file] = globSync('whep-player-*.js', { cwd: join(ROOT, 'residual/web/dist/assets') });
  if (file === undefined) throw new Error('the page was not built (npm run build:web)');
  return `/assets/${file}`;
}

export interface ClockRead {
  /** Unix ms, modulo 2^32, from the pixels. */
  readonly clock: number;
  /** The browser's clock when the picture was handed over, modulo 2^32. */
  readonly now: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the burnt-in clock of the next `count` different pictures of the page's first video from decoded pixels. Times are modulo 2^32 ms.
 * The strip's format: residual/video/sources/clock-strip.ts.
 */
export async function readClocks(page: Page, count: number, index = 0): Promise<readonly ClockRead[]> {
  return page.evaluate(
    async ([wanted, which]) => {
      const video = document.querySelectorAll('video')[which];
      const canvas = document.createElement('canvas');
      const pen = canvas.getContext('2d', { willReadFrequently: true });
      if (video === undefined || pen === null) throw new Error('no video');
      const reads: ClockRead[] = [];
      while (reads.length < wanted) {
        await new Promise<void>((resolve, reject) => {
          const late = setTimeout(
            () => reject(new Error(`no picture for 10 s after ${reads.length}`)),
            10_000,
          );
          video.requestVideoFrameCallback(() => {
            clearTimeout(late);
            resolve();
          });
        });
        const now = Date.now() % 2 ** 32;
        const { videoWidth: width, videoHeight: height } = video;
        canvas.width = width;
        canvas.height = Math.max(8, Math.round(height / 18));
        pen.drawImage(video, 0, 0);
        const { data } = pen.getImageData(0, canvas.height >> 1, width, 1);
        let bits = '';
        for (let cell = 0; cell < 40; cell++) {
          const at = Math.floor(((cell + 0.5) * width) / 40) * 4;
          bits += (data[at + 1] ?? 0) > 128 ? '1' : '0';
        }
        const clock = parseInt(bits.slice(4, 36), 2);
        // A callback that comes late draws the next picture already, whose own callback draws it once more.
        if (bits.startsWith('1010') && clock !== reads.at(-1)?.clock)
          reads.push({ clock, now, width, height });
      }
      return reads;
    },
    [count, index] as const,
  );
}

/** Milliseconds from capture to the hand-over of the decoded picture. */
export function ageOf({ clock, now }: ClockRead): number {
  return ((now - clock + 2 ** 31) % 2 ** 32) - 2 ** 31;
}
