/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { askAgain } from '../support/ask-again.ts';
import { ageOf, noBrowser, openBrowser, readClocks, signIn } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

/** What the page says, each time with whether a picture was there. */
interface Said {
  readonly text: string;
  readonly picture: boolean;
}

/** When the page asked for the state of video, by its own clock, and how many answers it has not read yet: `window.asks`. */
const COUNT_ASKS = (): void => {
  const asks = { at: [] as number[], open: 0 };
  Object.assign(window, { asks });
  const ask = window.fetch.bind(window);
  window.fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
    if (pathname !== '/api/video') return ask(input, init);
    asks.at.push(Date.now());
    asks.open++;
    try {
      const answer = await ask(input, init);
      return new Response(await answer.arrayBuffer(), answer);
    } finally {
      asks.open--;
    }
  };
};

describe('the picture on the page', function () {
  this.timeout(120_000);
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) {
      this.test?.parent?.suites.forEach((suite) => (suite.pending = true));
      this.skip();
    }
    browser = await openBrowser();
  });
  after(async () => browser?.close());

  const says = async (page: Page, text: string): Promise<void> => {
    await page.waitForFunction(
      (wanted) => document.getElementById('video-state')?.textContent === wanted,
      text,
      // Without the page's own timers: a test may have stopped its clock.
      { polling: 100 },
    );
  };
  const answered = async (page: Page, path: string): Promise<unknown> =>
    page.waitForResponse((response) => new URL(response.url()).pathname === path);

  it('says that video is off, offers nothing, and asks more and more rarely', async () => {
    const node = await TestNode.start({ simulated: false });
    try {
      const page = await browser.newPage();
      await page.clock.install();
      await page.addInitScript(COUNT_ASKS);
      const offers: string[] = [];
      page.on('request', (request) => {
        if (new URL(request.url()).pathname === '/whep') offers.push(request.method());
      });
      const first = answered(page, '/api/video');
      await page.goto(`${node.url}/#/fly`);
      await first;
      // From now on time passes as the test lets it, and only while the page waits.
      await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
      const asks = async (): Promise<{ readonly at: readonly number[]; readonly open: number }> =>
        page.evaluate(
          () =>
            (window as unknown as { asks: { readonly at: readonly number[]; readonly open: number } }).asks,
        );
      for (let second = 0; second < 12 * 16; second++) {
        await page.clock.runFor(1000);
        await askAgain('the answer is read', asks, ({ open }) => open === 0);
      }
      expect(await page.textContent('#video-state')).to.equal('Video is switched off in the configuration.');
      const { at } = await asks();
      const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0));
      expect(pauses.length).to.be.within(12, 30);
      for (const pause of pauses.slice(-4)) expect(pause).to.be.within(14_000, 16_000);
      expect(pauses[1]).to.be.below(3000);
      expect(offers).to.deep.equal([]);
      await page.close();
    } finally {
      await node.stop();
    }
  });

  describe('of a paired node with a camera', () => {
    let node: TestNode;
    before(async () => {
      node = await startVideoNode();
    });
    after(async () => node?.stop());

    it('fills the window with the picture, swaps it by one tap, and makes the map the main thing while there is none', async () => {
      const page = await browser.newPage();
      await signIn(page, node.url, KEY);
      await says(page, 'live');
      const large = async (what: 'picture' | 'map'): Promise<void> => {
        const [shown, other] = what === 'picture' ? ['video', '.map'] : ['.map', 'video'];
        await page.waitForFunction(
          ([big, small]) => {
            const stage = document.querySelector('main')?.getBoundingClientRect();
            const [whole, inset] = [big, small].map(
              (each) => document.querySelector(`.fly__pane ${each}`)?.getBoundingClientRect().width ?? 0,
            );
            return stage !== undefined && whole === stage.width && (inset ?? 0) < stage.width / 3;
          },
          [shown, other] as const,
          { polling: 100 },
        );
      };
      await large('picture');
      await page.getByRole('button', { name: 'Enlarge map', exact: true }).click();
      await large('map');
      await page.keyboard.press('m');
      await large('picture');
      process.kill(node.pid('svc-video'), 'SIGSTOP');
      try {
        await page.waitForSelector('.picture-none.map-large', { timeout: 60_000 });
        await page
          .getByText(/^No picture/)
          .first()
          .waitFor();
        expect(await page.isVisible('video')).to.equal(false);
        expect(await page.getByRole('button', { name: /^Enlarge/ }).count()).to.equal(0);
        expect(await page.getByRole('button', { name: 'Snapshot', exact: true }).count()).to.equal(0);
      } finally {
        process.kill(node.pid('svc-video'), 'SIGCONT');
      }
      // It comes back as the small one.
      await page.getByRole('button', { name: 'Enlarge video', exact: true }).waitFor({ timeout: 60_000 });
      await large('map');
      await page.close();
    });

    it('asks for the PIN or the key in people’s words, and tries nothing without it', async () => {
      const page = await browser.newPage();
      await page.clock.install();
      const sent: string[] = [];
      page.on('request', (request) => sent.push(new URL(request.url()).pathname));
      await page.goto(`${node.url}/#/fly`);
      await page.locator('input[name=secret]').fill('svc_wrong');
      await page.click('form button[type=submit]');
      await page.getByText('Wrong PIN, key or token.').waitFor();
      await page.waitForLoadState('networkidle');
      const tried = sent.length;
      await page.clock.runFor(60_000);
      expect(sent).to.have.length(tried);
      expect(sent).to.not.include('/whep');
      await page.close();
    });

    it('asks again for a credential when the one it had is no longer taken', async () => {
      const page = await browser.newPage();
      await node.post('/api/dashboard/pin/set', { pin: '271828' }, KEYED);
      await signIn(page, node.url, '271828');
      await says(page, 'live');
      await node.post('/api/dashboard/pin/set', { pin: '314159' }, KEYED);
      await page.getByText('Your session ended').waitFor();
      await page.close();
    });

    it('plays without WebRTC, and without its H.264, as a film, a short time behind, and offers nothing', async () => {
      for (const lack of [
        () => Reflect.deleteProperty(globalThis, 'RTCPeerConnection'),
        () => {
          RTCRtpReceiver.getCapabilities = () => ({
            codecs: [{ mimeType: 'video/VP8', clockRate: 90_000 }],
            headerExtensions: [],
          });
        },
      ]) {
        const page = await browser.newPage();
        await page.addInitScript(lack);
        const sent: string[] = [];
        page.on('request', (request) => sent.push(new URL(request.url()).pathname));
        await signIn(page, node.url, KEY);
        await says(page, 'live');
        const reads = await readClocks(page, 30);
        expect(reads.at(-1)?.clock).to.be.above(reads[0]?.clock ?? 0);
        expect(reads.slice(-10).every((read) => ageOf(read) < 2000)).to.equal(true);
        expect(await page.textContent('.picture-facts')).to.include('without WebRTC');
        expect(sent).to.include('/api/video/live.mp4').and.to.not.include('/whep');
        await page.close();
      }
    });

    it('says live only with a picture: not while none comes, and not when it stands still', async () => {
      const page = await browser.newPage();
      await page.addInitScript(() => {
        const said: Said[] = [];
        Object.assign(globalThis, { said });
        addEventListener('DOMContentLoaded', () => {
          new MutationObserver(() => {
            const state = document.getElementById('video-state');
            if (state === null) return;
            const picture = (document.querySelector('video')?.videoWidth ?? 0) > 0;
            said.push({ text: state.textContent ?? '', picture });
          }).observe(document.body, { childList: true, subtree: true, characterData: true });
        });
      });
      await signIn(page, node.url, KEY);
      await says(page, 'live');
      process.kill(node.pid('svc-video'), 'SIGSTOP');
      try {
        await says(page, 'Video frozen …');
      } finally {
        process.kill(node.pid('svc-video'), 'SIGCONT');
      }
      await says(page, 'live');
      const said = await page.evaluate(() => (globalThis as unknown as { said: Said[] }).said);
      expect(said.map(({ text }) => text)).to.include('waiting for video …');
      for (const { text, picture } of said) if (text === 'live') expect(picture).to.equal(true);
      await page.close();
      expect((await node.json('/api/video', { headers: KEYED })).status).to.equal(200);
    });
  });
});
