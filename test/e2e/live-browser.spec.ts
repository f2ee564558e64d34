/// <reference lib="dom" />
import { expect } from 'chai';
import { ageOf, noChromium, openChromium, readClocks } from '../support/chromium.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

describe('live.mp4 in a browser (needs Chromium)', () => {
  it('plays in Media Source, a short time behind', async function () {
    if (noChromium() !== null) this.skip();
    const node = await startVideoNode();
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      await page.goto(node.url);
      await page.evaluate(async (headers) => {
        const answer = await fetch('/api/video/live.mp4', { headers });
        const video = document.createElement('video');
        video.muted = true;
        document.body.replaceChildren(video);
        const source = new MediaSource();
        video.src = URL.createObjectURL(source);
        await new Promise((resolve) => source.addEventListener('sourceopen', resolve, { once: true }));
        const buffer = source.addSourceBuffer(answer.headers.get('content-type') ?? '');
        const reader = answer.body?.getReader();
        const feed = async (): Promise<void> => {
          for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
            const done = new Promise((resolve) =>
              buffer.addEventListener('updateend', resolve, { once: true }),
            );
            buffer.appendBuffer(part.value);
            await done;
            const newest = buffer.buffered.length === 0 ? 0 : buffer.buffered.end(buffer.buffered.length - 1);
            if (newest - video.currentTime > 0.5) video.currentTime = newest - 0.1;
          }
        };
        void feed();
        await video.play();
      }, KEYED);
      const reads = await readClocks(page, 40);
      const ages = reads.map(ageOf).toSorted((a, b) => a - b);
      expect(reads[0]).to.include({ width: 1280, height: 720 });
      expect(ages[ages.length >> 1], ages.join(' ')).to.be.within(0, 600);
    } finally {
      await browser.close();
      await node.stop();
    }
  });
});
