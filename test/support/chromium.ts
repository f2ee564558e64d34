/// <reference lib="dom" />
import { existsSync, globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ROOT } from './node.ts';

const EXECUTABLE = '/usr/bin/chromium';

/** Why a browser test cannot run here; null when it can. */
export function noChromium(): string | null {
  return existsSync(EXECUTABLE) ? null : `needs ${EXECUTABLE} (Debian: apt-get install chromium)`;
}

/** @param launcher a script that runs Chromium with its arguments elsewhere, for example in a network namespace */
export async function openChromium(launcher = EXECUTABLE): Promise<Browser> {
  return chromium.launch({
    executablePath: launcher,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

/** Writes such a script. @param prefix program and arguments before Chromium's path */
export async function writeLauncher(path: string, prefix: readonly string[]): Promise<string> {
  await writeFile(path, `#!/bin/sh\nexec ${[...prefix, EXECUTABLE].join(' ')} "$@"\n`, { mode: 0o755 });
  return path;
}

/** Opens the page and signs in with the PIN or the key, as a person does. @param where a page of the application; the picture is on `fly` */
export async function signInto(page: Page, origin: string, secret: string, where = 'fly'): Promise<void> {
  await page.goto(`${origin}/#/${where}`);
  await page.fill('input[name=secret]', secret);
  await page.click('form button[type=submit]');
  await page.waitForSelector('nav');
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
