/// <reference lib="dom" />
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'puppeteer-core';
import { AUDIT_FILE, STRANGERS_FILE } from '../../front/control/stores/audit.ts';
import { noBrowser, openBrowser, openPage, signIn } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';
import { ageOf, readClocks } from '../support/watched-video.ts';

/** What the page says, each time with whether a picture was there. */
interface Said {
  readonly text: string;
  readonly picture: boolean;
}

describe('the picture on the page', function () {
  this.timeout(90_000);
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
      { polling: 100 },
      text,
    );
  };
  const reads = async (page: Page, text: string): Promise<void> => {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), { polling: 100 }, text);
  };
  /** The page's time passes as fast as its requests are answered. */
  const letPass = async (page: Page, ms: number): Promise<void> => {
    const client = await page.createCDPSession();
    const passed = new Promise((resolve) => client.once('Emulation.virtualTimeBudgetExpired', resolve));
    await client.send('Emulation.setVirtualTimePolicy', {
      policy: 'pauseIfNetworkFetchesPending',
      budget: ms,
    });
    await passed;
    await client.detach();
  };

  it('says that video is off, offers once, and asks more and more rarely', async () => {
    const node = await TestNode.start({ simulated: false });
    try {
      const page = await openPage(browser);
      const sent: string[] = [];
      page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
      const count = (what: string): number => sent.filter((each) => each === what).length;
      await page.goto(`${node.url}/#/fly`);
      await says(page, 'Video is switched off in the config.');
      const asked = async (ms: number): Promise<number> => {
        const before = count('GET /api/video');
        await letPass(page, ms);
        return count('GET /api/video') - before;
      };
      expect(await asked(10_000)).to.be.within(3, 12);
      await letPass(page, 60_000);
      expect(await asked(60_000)).to.be.within(3, 5);
      expect(count('POST /whep')).to.equal(1);
      const files = [AUDIT_FILE, STRANGERS_FILE].map(async (file) =>
        readFile(join(node.paths.auditDir, file), 'utf8'),
      );
      const audit = (await Promise.all(files)).join('');
      expect(audit.split('\n').filter((line) => line.includes('POST /whep')).length).to.be.within(1, 2);
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

    it('asks for the PIN or the key in people’s words, and tries nothing without it', async () => {
      const page = await openPage(browser);
      const sent: string[] = [];
      page.on('request', (request) => sent.push(new URL(request.url()).pathname));
      await page.goto(`${node.url}/#/fly`);
      await page.locator('::-p-aria(PIN, pairing key or token)').fill('svc_wrong');
      await page.locator('form button[type=submit]').click();
      await reads(page, 'The node does not take this.');
      await page.waitForNetworkIdle();
      const tried = sent.length;
      await letPass(page, 60_000);
      expect(sent).to.have.length(tried);
      expect(sent).to.not.include('/whep');
      await page.close();
    });

    it('asks again for a credential when the one it had is no longer taken', async () => {
      const page = await openPage(browser);
      await node.post('/api/dashboard/pin/set', { pin: '271828' }, KEYED);
      await signIn(page, node.url, '271828');
      await says(page, 'live');
      await node.post('/api/dashboard/pin/set', { pin: '314159' }, KEYED);
      await reads(page, 'Your session has ended');
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
        const page = await openPage(browser);
        await page.evaluateOnNewDocument(lack);
        const sent: string[] = [];
        page.on('request', (request) => sent.push(new URL(request.url()).pathname));
        await signIn(page, node.url, KEY);
        await says(page, 'live');
        const shown = await readClocks(page, 30);
        expect(shown.at(-1)?.clock).to.be.above(shown[0]?.clock ?? 0);
        expect(shown.slice(-10).every((read) => ageOf(read) < 2000)).to.equal(true);
        expect(await page.$eval('.picture-facts', (facts) => facts.textContent)).to.include('without WebRTC');
        expect(sent).to.include('/api/video/live.mp4').and.to.not.include('/whep');
        await page.close();
      }
    });

    it('says live only with a picture: not while none comes, and not when it stands still', async () => {
      const page = await openPage(browser);
      await page.evaluateOnNewDocument(() => {
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
        await says(page, 'The picture stands still …');
      } finally {
        process.kill(node.pid('svc-video'), 'SIGCONT');
      }
      await says(page, 'live');
      const said = await page.evaluate(() => (globalThis as unknown as { said: Said[] }).said);
      expect(said.map(({ text }) => text)).to.include('waiting for the picture …');
      for (const { text, picture } of said) if (text === 'live') expect(picture).to.equal(true);
      await page.close();
      expect((await node.json('/api/video', { headers: KEYED })).status).to.equal(200);
    });
  });
});
