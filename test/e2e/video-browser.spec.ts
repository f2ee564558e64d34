import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { ageOf, noBrowser, openBrowser, playerModule, readClocks, signIn } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { folderHas } from '../support/events.ts';
import type { TestNode } from '../support/node.ts';
import { decodeFile } from '../support/pictures.ts';
import {
  KEYED,
  pictures,
  startVideoNode,
  TEST_CAMERA,
  unitsOf,
  untilViewers,
} from '../support/video-node.ts';

const PIN = '271828';
/** Not how fast it is (`npm run bench`), but that nobody has to do anything. */
const AGAIN_MS = 40_000;

describe('video in a browser', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  before(async function () {
    const why = noBrowser();
    if (why !== null) {
      this.test?.parent?.suites.forEach((suite) => (suite.pending = true));
      this.skip();
    }
    node = await startVideoNode({
      config: `${TEST_CAMERA}  cameras: [{id: tail, name: Tail, source: test}, {id: away, name: Away, source: 'v4l2:/dev/video97'}]\n`,
    });
    await node.post('/api/dashboard/pin/set', { pin: PIN }, KEYED);
    browser = await openBrowser();
  });
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close(); // of a test that failed, too
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  /** Opens the page and signs in with the PIN, as a person does. */
  async function watch(): Promise<Page> {
    const page = await browser.newPage();
    await signIn(page, node.url, PIN);
    await page.waitForFunction(() => (document.querySelector('video')?.videoWidth ?? 0) > 0, undefined, {
      polling: 100,
    });
    return page;
  }

  const status = async () => (await node.json('/api/video', { headers: KEYED })).body;

  it('signs in with the PIN and shows a clock that runs', async () => {
    const page = await watch();
    const reads = await readClocks(page, 40);
    expect(reads[0]).to.include({ width: 1280, height: 720 });
    for (const [index, read] of reads.entries()) {
      expect(ageOf(read)).to.be.within(-5, 2000);
      if (index > 0) expect(read.clock).to.be.above(reads[index - 1]?.clock ?? 0);
    }
    await page.close();
    await untilViewers(node, 0);
  });

  it('a wrong PIN shows the node’s own sentence', async () => {
    const page = await browser.newPage();
    await page.goto(`${node.url}/`);
    await page.fill('input[name=secret]', '0000');
    await page.click('form button[type=submit]');
    await page.waitForFunction(
      () => /PIN|wrong/i.test(document.querySelector('form [role=alert]')?.textContent ?? ''),
      undefined,
      { polling: 100 },
    );
    await page.close();
  });

  it('a change of the profile is followed on the same connection', async () => {
    const page = await watch();
    await node.post('/api/video/profile', { profile: 'thumbnail' }, KEYED);
    await page.waitForFunction(() => document.querySelector('video')?.videoWidth === 320, undefined, {
      polling: 100,
    });
    const [small] = await readClocks(page, 1);
    expect(small).to.include({ width: 320, height: 180 });
    await node.post('/api/video/profile', { profile: 'hero' }, KEYED);
    await page.waitForFunction(() => document.querySelector('video')?.videoWidth === 1280, undefined, {
      polling: 100,
    });
    await page.close();
  });

  it('another camera is chosen beside the picture, which goes on; on page Node as well', async () => {
    const page = await watch();
    await page.waitForFunction(() => document.querySelector('.camera-choice select') !== null, undefined, {
      polling: 100,
    });
    const choice = page.locator('.camera-choice select');
    expect(await choice.locator('option').allTextContents()).to.deep.equal(['Main camera', 'Tail', 'Away']);
    const clocks = readClocks(page, 60);
    await choice.selectOption('tail');
    await page.waitForFunction(() => document.body.textContent?.includes('Showing: Tail.'), undefined, {
      polling: 100,
    });
    const seen = (await clocks).map(({ clock }) => clock ?? 0);
    for (const [at, clock] of seen.entries())
      if (at > 0) expect(clock - (seen[at - 1] ?? 0), 'from one picture to the next').to.be.within(0, 2000);
    expect(await status()).to.include({ camera: 'tail', restarts: 0 });
    expect(await choice.inputValue()).to.equal('tail');
    await page.goto(`${node.url}/#/node/video`);
    await page.waitForFunction(
      () => document.querySelector<HTMLSelectElement>('.camera-choice select')?.value === 'tail',
      undefined,
      { polling: 100 },
    );
    await choice.selectOption('main');
    await page.waitForFunction(
      () => document.body.textContent?.includes('Showing: Main camera.'),
      undefined,
      { polling: 100 },
    );
    expect(await status()).to.include({ camera: 'main' });
    await page.close();
  });

  it('the other cameras stand beside the picture once that is wanted, one question at a time, and none while nobody looks', async () => {
    const page = await browser.newPage();
    const asked: string[] = [];
    let atOnce = 0;
    let most = 0;
    const isLook = (url: string): boolean => url.includes('/api/video/snapshot?camera=');
    page.on('request', (request) => {
      if (!isLook(request.url())) return;
      asked.push(new URL(request.url()).searchParams.get('camera') ?? '');
      most = Math.max(most, ++atOnce);
    });
    const over = (request: { url: () => string }): void => void (isLook(request.url()) && atOnce--);
    page.on('requestfinished', over);
    page.on('requestfailed', over);
    await signIn(page, node.url, PIN);
    const strip = page.locator('details', { hasText: 'Other cameras' });
    await strip.locator('summary').waitFor();
    await page.waitForFunction(
      () => document.getElementById('video-state')?.textContent === 'live',
      undefined,
      { polling: 100 },
    );
    expect(asked, 'while it is shut').to.deep.equal([]);
    const began = performance.now();
    await strip.locator('summary').click();
    await strip.getByText('The camera away gives no picture').waitFor();
    const picture = strip.getByRole('button', { name: 'Show Tail' }).locator('img');
    await picture.waitFor();
    const first = await picture.getAttribute('src');
    await page.waitForFunction(
      (url) => document.querySelector('details li img')?.getAttribute('src') !== url,
      first,
      { polling: 100 },
    );
    expect(await picture.evaluate((img) => img instanceof HTMLImageElement && img.naturalWidth)).to.equal(
      320,
    );
    expect(new Set(asked)).to.deep.equal(new Set(['tail', 'away']));
    const tries = asked.filter((id) => id === 'away');
    expect(tries.length, 'one that gives nothing').to.be.at.most(1 + (performance.now() - began) / 10_000);

    await strip.getByRole('button', { name: 'Show Tail' }).click();
    await page.getByText('Showing: Tail.').waitFor();
    await strip.getByRole('button', { name: 'Show Main camera' }).locator('img').waitFor();
    expect(await status()).to.include({ camera: 'tail', restarts: 0 });
    await strip.getByRole('button', { name: 'Show Main camera' }).click();
    await page.getByText('Showing: Main camera.').waitFor();
    expect(most).to.equal(1);

    const setHidden = async (hidden: boolean): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value });
      }, hidden);
    const quiet = async (): Promise<void> => {
      await page.waitForTimeout(1500); // what was asked before comes to its end
      const before = asked.length;
      await page.waitForTimeout(2500);
      expect(asked.length - before).to.equal(0);
    };
    await setHidden(true);
    await quiet();
    await setHidden(false);
    await page.waitForRequest((request) => isLook(request.url()));
    await strip.locator('summary').click();
    await quiet();
    await page.close();
    await untilViewers(node, 0);
  });

  it('ten viewers of one encode', async () => {
    const page = await browser.newPage();
    await signIn(page, node.url, KEY, 'access'); // without a player of its own
    await page.evaluate(
      async ([count, player]) => {
        const { play } = (await import(player)) as {
          play: (video: HTMLVideoElement) => Promise<unknown>;
        };
        for (let index = 0; index < count; index++) {
          const video = document.createElement('video');
          Object.assign(video, { muted: true, autoplay: true });
          // Within the window: the browser tells of no pictures that nobody can see.
          Object.assign(video.style, {
            position: 'fixed',
            top: '0',
            left: `${index * 100}px`,
            width: '100px',
          });
          document.body.append(video);
          // Chromium drops requests when a network interface comes or goes, as other specs let them: the page asks again then.
          for (let playing = false; !playing; ) {
            playing = await play(video).then(
              () => true,
              (error: unknown) => {
                if ((error as { status?: number }).status === 0) return false;
                throw error;
              },
            );
          }
        }
      },
      [10, playerModule()] as const,
    );
    await untilViewers(node, 10);
    const before = await readClocks(page, 1, 0);
    for (let index = 0; index < 10; index++) {
      const reads = await readClocks(page, 3, index);
      expect(reads.at(-1)?.clock, `viewer ${index}`).to.be.above(before[0]?.clock ?? 0);
      expect(reads.every((read) => ageOf(read) < 5000)).to.equal(true);
    }
    expect(await status()).to.include({ encoder: 'libx264', viewers: 10 });
    await page.close();
    await untilViewers(node, 0);
  });

  it('kill -9 of svc-video: the same page shows pictures of now again', async () => {
    const page = await watch();
    await readClocks(page, 5);
    const killed = Date.now();
    process.kill(node.pid('svc-video'), 'SIGKILL');
    let age = Infinity;
    let read = (await readClocks(page, 1))[0];
    // Pictures that were under way come first; a new one was taken after the kill.
    while (
      read === undefined ||
      (age = read.now - (killed % 2 ** 32)) < 0 ||
      read.clock - (killed % 2 ** 32) < 100
    )
      [read] = await readClocks(page, 1);
    expect(age).to.be.below(AGAIN_MS);
    expect(await page.textContent('#video-state')).to.equal('live');
    await page.close();
    await pictures(node);
  });

  it('a browser that vanishes without a word is dropped within 10 s', async () => {
    const other = await openBrowser();
    try {
      const page = await other.newPage();
      await signIn(page, node.url, PIN);
      await untilViewers(node, 1);
      await page.waitForFunction(() => (document.querySelector('video')?.videoWidth ?? 0) > 0, undefined, {
        polling: 100,
      });
      const since = Date.now();
      for (const pid of await descendants()) process.kill(pid, 'SIGKILL');
      await untilViewers(node, 0);
      expect(Date.now() - since).to.be.below(30_000);
    } finally {
      await other.close().catch(() => undefined); // it was killed
    }

    /** The processes of the second browser: the Chromium processes that were not there before it. */
    async function descendants(): Promise<number[]> {
      const found: number[] = [];
      const root = await mainPid();
      const parents = new Map<number, number>();
      for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
        const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => ''); // it ended meanwhile
        const parent = /^\d+ \(.*\) \S (\d+)/.exec(stat)?.[1];
        if (parent !== undefined) parents.set(Number(name), Number(parent));
      }
      for (const pid of parents.keys()) {
        let at: number | undefined = pid;
        while (at !== undefined && at !== root) at = parents.get(at);
        if (at === root) found.push(pid);
      }
      return found;
    }

    async function mainPid(): Promise<number> {
      const session = await other.newBrowserCDPSession();
      const { processInfo } = await session.send('SystemInfo.getProcessInfo');
      const main = processInfo.find(({ type }) => type === 'browser');
      if (main === undefined) throw new Error('no browser process');
      return main.id;
    }
  });

  it('a recording cut off by kill -9 plays to its last second, and goes on in another file', async () => {
    const started = await node.post('/api/video/record/start', { name: 'cut' }, KEYED);
    expect(started.status, JSON.stringify(started.body)).to.equal(200);
    await unitsOf(node, (all) => all.length > 120);
    // On a slow processor the picture was made smaller, which begins another file.
    const before = await readdir(node.paths.recordings);
    const killed = Date.now();
    process.kill(node.pid('svc-video'), 'SIGKILL');
    const after = (names: readonly string[]): readonly string[] =>
      names.filter((name) => !before.includes(name));
    const files = await folderHas(node.paths.recordings, (names) => after(names).length > 0);
    const [first = '', second = ''] = [before.toSorted().at(-1), after(files)[0]];
    const film = await decodeFile(join(node.paths.recordings, first));
    expect(killed - (film.pictures.at(-1)?.clock ?? 0)).to.be.within(-100, 1500);
    expect(film.pictures.length).to.be.above(60);
    await unitsOf(node, (all) => all.length > 40);
    await node.json('/api/video/record/stop', { method: 'POST', headers: KEYED });
    expect((await decodeFile(join(node.paths.recordings, second))).pictures.length).to.be.above(10);
  });
});
