/// <reference lib="dom" />
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pixelmatch from 'pixelmatch';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { openPage, type Screen } from './browser.ts';
import { ROOT } from './node.ts';
import { palettePng } from './palette-png.ts';

/**
 * Pictures of the page, compared with those that somebody has looked at and kept: test/pictures/kept. What differs is beside its
 * difference in test/pictures/out; `SVC_KEEP_PICTURES=1` keeps it from now on.
 */

const KEPT = join(ROOT, 'test/pictures/kept');
const OUT = join(ROOT, 'test/pictures/out');
/** The page's time, Unix ms. */
const NOW = Date.UTC(2026, 4, 17, 10, 30);
/** What is never the same twice, and hidden: the picture of a camera, and the map, but not what lies over them. */
const LIVE = 'video, canvas, .map > :not(.map-buttons), .vehicle-bar';
/** By whatever a machine calls its own face, the same letters: Debian's fonts-dejavu-core. */
const FACES =
  ':root, button, input, select, textarea { font-family: "DejaVu Sans" !important } code, pre, kbd, samp { font-family: "DejaVu Sans Mono" !important }';
/** Distance of two colours that counts, where 1 is that of black and white (pixelmatch). */
const THRESHOLD = 0.05;
/** Side of the square in which differences are counted, pixels: an icon that is missing is much of it and little of the whole. */
const WINDOW = 16;
/** For a page to come to rest. */
const REST_MS = 25_000;

/** What a page shows at first rests, too: so long for what is kept. */
const COMES_MS = 15_000;
const KEPT_MS = 2000;

export type Theme = 'light' | 'dark' | 'sun';

/** A window in which nothing moves by itself: a given time and theme, no motion, no caret, the same letters everywhere. */
export async function openStill(browser: Browser, screen: Screen, theme: Theme): Promise<Page> {
  const page = await openPage(browser, screen, {
    colorScheme: theme === 'dark' ? 'dark' : 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
    serviceWorkers: 'block',
    // The letters come by a style of the test.
    bypassCSP: true,
  });
  await page.clock.setFixedTime(NOW);
  await page.addInitScript((name) => localStorage.setItem('svc-theme', name), theme);
  return page;
}

export interface Compared {
  /** Selectors of what is hidden besides the picture of a camera and the map: values that change by themselves. */
  readonly live?: readonly string[];
  /** Part of the pixels of any square of 16 x 16 that may differ. */
  readonly ratio?: number;
}

/**
 * Compares what is seen of a page, at half its size, with the picture of this name.
 * @param page of `openStill`, with what it is to show already on it
 * @throws AssertionError when it differs, or none was kept yet, with the files to look at; Error when it does not come to rest
 */
export async function checkPicture(
  page: Page,
  name: string,
  { live = [], ratio = 0.1 }: Compared = {},
): Promise<void> {
  const path = join(KEPT, `${name}.png`);
  const out = (kind: string): string => join(OUT, `${name}.${kind}.png`);
  await Promise.all(['actual', 'difference'].map(async (kind) => rm(out(kind), { force: true })));
  const kept = existsSync(path) ? PNG.sync.read(await readFile(path)) : null;
  const isKept = process.env['SVC_KEEP_PICTURES'] === '1';
  const until = kept === null ? 0 : performance.now() + (isKept ? KEPT_MS : COMES_MS);
  let actual: PNG;
  let seen: ReturnType<typeof compare>;
  do {
    actual = await atRest(page, [LIVE, ...live].join());
    seen = compare(kept, actual);
    if (seen.part <= ratio) return;
  } while (performance.now() < until);
  if (isKept) {
    await mkdir(KEPT, { recursive: true });
    await writeFile(path, palettePng(actual));
    return;
  }
  await mkdir(OUT, { recursive: true });
  await writeFile(out('actual'), PNG.sync.write(actual));
  if (seen.difference !== null) await writeFile(out('difference'), PNG.sync.write(seen.difference));
  expect.fail(
    `${name}: ${seen.why}. Look at ${out('actual')}${seen.difference === null ? '' : ` and ${out('difference')}`}; ` +
      'what is as it should be is kept by SVC_KEEP_PICTURES=1.',
  );
}

/** Two pictures in succession that are the same, of which the second is returned, at half its size. */
async function atRest(page: Page, live: string): Promise<PNG> {
  await page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.all([...document.images].map(async (image) => image.decode().catch(() => undefined)));
  });
  const take = async (): Promise<Buffer> =>
    page.screenshot({
      animations: 'disabled',
      caret: 'hide',
      style: `${FACES} :is(${live}) { visibility: hidden !important } .map, .fly__stage { background: #6b7280 !important }`,
    });
  const end = performance.now() + REST_MS;
  for (let former = await take(); ; ) {
    const next = await take();
    if (next.equals(former)) return halved(PNG.sync.read(next));
    if (performance.now() > end)
      throw new Error('The page does not come to rest: hide what changes by itself (`live`).');
    former = next;
  }
}

/** The mean of four pixels is one. */
function halved({ width, height, data }: PNG): PNG {
  const half = new PNG({ width: width >> 1, height: height >> 1 });
  for (let y = 0; y < half.height; y++)
    for (let x = 0; x < half.width; x++)
      for (let part = 0; part < 4; part++) {
        const at = (2 * y * width + 2 * x) * 4 + part;
        const sum =
          (data[at] ?? 0) +
          (data[at + 4] ?? 0) +
          (data[at + width * 4] ?? 0) +
          (data[at + width * 4 + 4] ?? 0);
        half.data[(y * half.width + x) * 4 + part] = Math.round(sum / 4);
      }
  return half;
}

interface Seen {
  /** Of the pixels of the worst square, that differs; 1 when they cannot be compared. */
  readonly part: number;
  readonly why: string;
  readonly difference: PNG | null;
}

function compare(kept: PNG | null, actual: PNG): Seen {
  const { width, height } = actual;
  if (kept === null) return { part: 1, why: 'no picture was kept yet', difference: null };
  if (kept.width !== width || kept.height !== height)
    return {
      part: 1,
      why: `${width}x${height} instead of ${kept.width}x${kept.height}`,
      difference: null,
    };
  const difference = new PNG({ width, height });
  const count = pixelmatch(kept.data, actual.data, difference.data, width, height, {
    threshold: THRESHOLD,
    includeAA: true, // at half the size most of an icon is an edge
    windowSize: WINDOW,
  });
  const part = count / WINDOW ** 2;
  return { part, why: `${Math.round(part * 100)} % of a part of it differ`, difference };
}
