/// <reference lib="dom" />
import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { ROOT } from './node.ts';

/** What a browser really shows of a video. */

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
 * Reads the burnt-in clock of the next `count` pictures of the page's first video from decoded pixels. Times are modulo 2^32 ms.
 * The strip's format: residual/video/sources/clock-strip.ts.
 */
export async function readClocks(page: Page, count: number, index = 0): Promise<readonly ClockRead[]> {
  return page.evaluate(
    async (wanted, which) => {
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
        if (bits.startsWith('1010'))
          reads.push({ clock: parseInt(bits.slice(4, 36), 2), now, width, height });
      }
      return reads;
    },
    count,
    index,
  );
}

/** Milliseconds from capture to the hand-over of the decoded picture. */
export function ageOf({ clock, now }: ClockRead): number {
  return ((now - clock + 2 ** 31) % 2 ** 32) - 2 ** 31;
}
