import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { turnCredentials } from '../../shared/video/turn-credentials.ts';
import { ageOf, noBrowser, openBrowser, readClocks, signIn, writeLauncher } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { askInside, startNatNode } from '../support/nat-node.ts';
import {
  type Nat,
  NatWorld,
  NODE_PUBLIC,
  noCoturn,
  TURN_AT,
  TURN_SECRET,
  VIEWER_PUBLIC,
} from '../support/nat-world.ts';
import { noNamespaces } from '../support/netns.ts';
import type { TestNode } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

describe('the picture through NAT', function () {
  this.timeout(180_000);
  let world: NatWorld;
  let node: TestNode;
  let browser: Browser;
  let folder: string;

  before(function () {
    if ((noNamespaces() ?? noBrowser() ?? noCoturn()) !== null) this.skip();
  });

  async function begin(
    nats: readonly [node: Nat, viewer: Nat],
    servers: readonly string[],
    options: (world: NatWorld) => Promise<Parameters<typeof startNatNode>[3]> = async () => ({}),
  ): Promise<void> {
    folder = await tempDir();
    const port = await freePort();
    world = await NatWorld.create(port, ...nats);
    node = await startNatNode(world, port, servers, await options(world));
    browser = await openBrowser('chromium', {
      launcher: await writeLauncher(join(folder, 'chromium'), world.on('viewer')),
    });
  }

  afterEach(async () => {
    await browser?.close();
    await node?.stop();
    await world?.destroy();
    await removeDir(folder);
  });

  /** Signs in and waits for a film that moves. */
  async function watch(): Promise<Page> {
    const page = await browser.newPage();
    await signIn(page, `http://${NODE_PUBLIC}:443`, KEY);
    await moves(page);
    return page;
  }

  async function moves(page: Page): Promise<void> {
    // By WebRTC, and not by the film over HTTP, which the page falls back to.
    await page.waitForFunction(
      () => document.querySelector('video')?.srcObject instanceof MediaStream,
      undefined,
      { polling: 100 },
    );
    await page.waitForFunction(() => (document.querySelector('video')?.videoWidth ?? 0) > 0, undefined, {
      polling: 100,
    });
    const reads = await readClocks(page, 10);
    expect(reads.every((read) => ageOf(read) < 3000)).to.equal(true);
    expect((await askInside(node, '/api/video'))['viewer_paths'], 'by WebRTC').to.have.length(1);
  }

  /** Resolves when no picture has come for a second. */
  async function stops(page: Page): Promise<void> {
    await page.evaluate(async () => {
      const video = document.querySelector('video');
      const frames = (): number => video?.getVideoPlaybackQuality().totalVideoFrames ?? 0;
      for (let seen = frames(), at = performance.now(); performance.now() - at < 1000; ) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        if (frames() !== seen) [seen, at] = [frames(), performance.now()];
      }
    });
  }

  const NATS: readonly (readonly [node: Nat, viewer: Nat])[] = [
    ['port-restricted', 'port-restricted'],
    ['symmetric', 'symmetric'],
    ['tcp443', 'symmetric'],
    ['symmetric', 'tcp443'],
  ];
  for (const nats of NATS)
    it(`the node behind ${nats[0]}, the viewer behind ${nats[1]}: it is seen`, async () => {
      await begin(nats, [TURN_AT[0]]);
      await world.turn(TURN_AT[0]);
      await watch();
      expect(await askInside(node, '/api/video')).to.include({ viewers: 1 });
    });

  /** How many playbacks there were so far. */
  const playbacks = (): number => node.stderr.match(/whep: \S+ \S+ watches/g)?.length ?? 0;

  it('by TLS on port 443 alone: to a server whose certificate the node believes', async () => {
    const ways = (address: string): readonly string[] => [`turns:${address}:443`, `stun:${address}:3478`];
    await begin(['tcp443', 'port-restricted'], [TURN_AT[0]], async (made) => ({
      ways,
      env: { NODE_EXTRA_CA_CERTS: (await made.certificate(TURN_AT[0])).cert },
    }));
    await world.turn(TURN_AT[0]);
    await watch();
    expect(node.stderr).to.include(`turn: turns:${TURN_AT[0]}:443: it relays`);
  });

  it('by TLS to a server whose certificate nobody vouches for: not at all, and it is said', async () => {
    const ways = (address: string): readonly string[] => [`turns:${address}:443`];
    await begin(['tcp443', 'port-restricted'], [TURN_AT[0]], async () => ({ ways }));
    await world.turn(TURN_AT[0]);
    const page = await browser.newPage();
    await signIn(page, `http://${NODE_PUBLIC}:443`, KEY);
    const { stderr } = node.supervisor;
    if (stderr === null) throw new Error('the node has no stderr');
    while (!/turns:203\.0\.113\.1:443: it cannot be reached: .*certificate/.test(node.stderr))
      await once(stderr, 'data');
  });

  it('the relay dies in mid-flight: ICE finds the other one, in the same playback', async () => {
    await begin(['symmetric', 'symmetric'], [TURN_AT[0], TURN_AT[1]]);
    await world.turn(TURN_AT[0]);
    const page = await watch();
    await world.turn(TURN_AT[1]); // the one that was away comes back, which nobody is told
    await world.killTurn(TURN_AT[0]);
    await stops(page);
    await moves(page);
    expect(playbacks()).to.equal(1);
  });

  it('the viewer’s public address changes: the picture comes back in the same playback', async () => {
    await begin(['symmetric', 'symmetric'], [TURN_AT[0]]);
    await world.turn(TURN_AT[0]);
    const page = await watch();
    await world.moveViewer('203.0.113.77');
    await stops(page);
    await moves(page);
    expect(playbacks()).to.equal(1);
  });

  it('5 % of the packets are lost: it is seen all the same', async () => {
    await begin(['symmetric', 'symmetric'], [TURN_AT[0]]);
    await world.turn(TURN_AT[0]);
    await world.lose(5);
    const page = await watch();
    expect(await readClocks(page, 60)).to.have.length(60);
  });

  it('credentials: a viewer’s own let it in until they end; the relay leads to no private address', async () => {
    await begin(['symmetric', 'symmetric'], [TURN_AT[0]]);
    await world.turn(TURN_AT[0]);
    const page = await browser.newPage();
    const [opened] = await Promise.all([
      page.waitForResponse((answer) => answer.url().endsWith('/whep'), { timeout: 90_000 }),
      signIn(page, `http://${NODE_PUBLIC}:443`, KEY),
    ]);
    const [, username = '', credential = ''] =
      /<turn:203\.0\.113\.1:3478>; rel="ice-server"; username="(\d+:[0-9a-f]{12}-[0-9a-f]{8})"; credential="([^"]+)"/.exec(
        opened.headers()['link'] ?? '',
      ) ?? [];
    const [expiry = '', name = ''] = username.split(':');
    expect(Number(expiry) - Date.now() / 1000).to.be.within(60, 3600);

    expect(await relay(username, credential, VIEWER_PUBLIC))
      .to.match(/Received relay addr/)
      .and.not.match(/ERROR|Forbidden/i);
    const ended = turnCredentials(TURN_SECRET, name, Date.now() / 1000 - 1);
    expect(await relay(ended.username, ended.credential, VIEWER_PUBLIC)).to.match(
      /Cannot complete Allocation/,
    );
    const longer = `${Number(expiry) + 3600}:${name}`;
    expect(await relay(longer, credential, VIEWER_PUBLIC), 'not what was signed').to.match(
      /Cannot complete Allocation/,
    );
    for (const peer of ['10.11.0.2', '127.0.0.1', '169.254.169.254', '192.168.1.1'])
      expect(await relay(username, credential, peer), peer).to.match(/403|Forbidden/);
  });

  it('without servers nobody is asked, and the answer names none', async () => {
    await begin(['port-restricted', 'port-restricted'], []);
    const asked = [await world.count(53), await world.count(19_302)];
    const page = await browser.newPage();
    const [opened] = await Promise.all([
      page.waitForResponse((answer) => answer.url().endsWith('/whep'), { timeout: 90_000 }),
      signIn(page, `http://${NODE_PUBLIC}:443`, KEY),
    ]);
    expect([opened.status(), opened.headers()['link']]).to.deep.equal([201, undefined]);
    expect(await Promise.all(asked.map(async (count) => count()))).to.deep.equal([0, 0]);
  });

  /** What coturn's own client says of such an allocation, from the viewer's network. */
  async function relay(username: string, credential: string, peer: string): Promise<string> {
    const [program = '', ...before] = world.on('viewer');
    const client = ['turnutils_uclient', '-v', '-n', '1', '-c', '-u', username, '-w', credential, '-e', peer];
    const { stdout, stderr } = await promisify(execFile)(program, [...before, ...client, TURN_AT[0]], {
      timeout: 20_000,
    }).catch((error: { stdout: string; stderr: string }) => error);
    return `${stdout}${stderr}`;
  }
});
