/// <reference lib="dom" />
import { existsSync } from 'node:fs';
import axe, { type AxeResults } from 'axe-core';
import { expect } from 'chai';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

/** The two browsers of Debian, driven by their standard protocol. */

const EXECUTABLES = { chromium: '/usr/bin/chromium', firefox: '/usr/bin/firefox-esr' } as const;
export type BrowserName = keyof typeof EXECUTABLES;

/** Why a browser test cannot run here; null when it can. */
export function noBrowser(name: BrowserName = 'chromium'): string | null {
  const path = EXECUTABLES[name];
  return existsSync(path)
    ? null
    : `needs ${path} (Debian: apt-get install ${path.slice('/usr/bin/'.length)})`;
}

/** @param extra further arguments of Chromium */
export async function openBrowser(
  name: BrowserName = 'chromium',
  extra: readonly string[] = [],
): Promise<Browser> {
  const executablePath = EXECUTABLES[name];
  return name === 'firefox'
    ? puppeteer.launch({ browser: 'firefox', executablePath })
    : puppeteer.launch({
        executablePath,
        args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...extra],
      });
}

/** A window of its own, which shares nothing with others. */
export async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport(DESKTOP);
  return page;
}

export const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true } as const;
export const DESKTOP = { width: 1280, height: 800 } as const;

/** Everything that a page must never do; `check` at the end of a test. */
export interface Watch {
  /** @throws AssertionError naming what was wrong: an error in the console, a refusal of the policy, another host */
  readonly check: () => void;
}

/** Listens to a page from its start. @param origin the node's, as `http://127.0.0.1:8080` */
export function watch(page: Page, origin: string): Watch {
  const wrong: string[] = [];
  page.on('pageerror', (error) =>
    wrong.push(`error: ${error instanceof Error ? error.message : String(error)}`),
  );
  page.on('console', (message) => {
    const text = message.text();
    // What the node refuses, and that it is away, is told by the page; a browser tells it in the console, too.
    if (message.type() === 'error' && !/Failed to load resource|WebSocket connection|ERR_/.test(text))
      wrong.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^(?:http|ws)s?:$/.test(url.protocol) && url.host !== new URL(origin).host)
      wrong.push(`asked ${url.href}`);
  });
  return { check: () => expect(wrong).to.deep.equal([]) };
}

/** Opens the page and signs in with a PIN or a key. @param where a page of the application; the picture is on `fly` */
export async function signIn(page: Page, origin: string, secret: string, where = 'fly'): Promise<void> {
  await page.goto(`${origin}/#/${where}`);
  await page.locator('input[name=secret]').fill(secret);
  await page.locator('form button[type=submit]').click();
  await page.waitForSelector('nav');
}

/** Goes to a page of the application, `fly` or `node/log`, once it is loaded. */
export async function visit(page: Page, where: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${where}`);
  const id = where.split('/', 1)[0] ?? '';
  await page.waitForSelector(`main[data-page=${id}] > h1 + :not(.first)`);
  await page.waitForFunction(() => document.querySelector('main .first') === null, { polling: 100 });
}

/** WCAG 2.2 A and AA by axe. @throws AssertionError with each violation and where it is */
export async function checkAxe(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(async () =>
    (window as unknown as { axe: { run: (options: unknown) => Promise<AxeResults> } }).axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    }),
  );
  expect(
    violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join(' | ')}`,
    ),
  ).to.deep.equal([]);
}
