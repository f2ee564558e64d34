import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { askAgain } from '../support/ask-again.ts';
import { ageOf, noChromium, openChromium, readClocks, signInto, writeLauncher } from '../support/chromium.ts';
import { KEY } from '../support/edge.ts';
import { type Nat, NatWorld, NODE_PUBLIC, noCoturn, TURN_AT, TURN_SECRET } from '../support/nat-world.ts';
import { noNamespaces } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

/** As `video.ice.servers`, in the flow style of YAML. */
const server = (...urls: readonly string[]): string =>
  `{urls: [${urls.map((url) => `'${url}'`).join(', ')}], secret: '${TURN_SECRET}'}`;

const ways = (address: string): string =>
  server(`turn:${address}:3478`, `turn:${address}:443?transport=tcp`, `turns:${address}:443`);

/** Asks the node on its own machine: no other way leads to it from here. */
async function ask(node: TestNode, path: string): Promise<Readonly<Record<string, unknown>>> {
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  const asked = request(
    { socketPath: node.paths.controlSocket, path, headers: { host: 'localhost' } },
    (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.once('end', () => resolve(JSON.parse(text)));
    },
  );
  asked.once('error', reject);
  asked.end();
  return promise;
}

describe('the picture through NAT', function () {
  this.timeout(180_000);
  let world: NatWorld;
  let node: TestNode;
  let browser: Browser;
  let folder: string;

  before(function () {
    if ((noNamespaces() ?? noChromium() ?? noCoturn()) !== null) this.skip();
  });

  async function begin(nats: readonly [node: Nat, viewer: Nat], servers: readonly string[]): Promise<void> {
    folder = await tempDir();
    const port = await freePort();
    world = await NatWorld.create(port, ...nats);
    node = await TestNode.start({
      port,
      pairing: { key: KEY },
      simulated: false,
      config: `video:\n  source: test\n  radio: ''\n  ice:\n    servers: [${servers.join(', ')}]\n`,
      prefix: world.on('node'),
    });
    await askAgain(
      'the camera gives pictures',
      async () => ask(node, '/api/video'),
      ({ state, fps }) => state === 'running' && fps !== null,
    );
    browser = await openChromium(await writeLauncher(join(folder, 'chromium'), world.on('viewer')));
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
    await signInto(page, `http://${NODE_PUBLIC}:443`, KEY);
    await moves(page);
    return page;
  }

  async function moves(page: Page): Promise<void> {
    // By WebRTC: the film over HTTP has no stream object.
    await page.waitForFunction(() => {
      const video = document.querySelector('video');
      return video?.srcObject instanceof MediaStream && video.videoWidth > 0;
    });
    const reads = await readClocks(page, 10);
    expect(reads.every((read) => ageOf(read) < 3000)).to.equal(true);
  }

  const NATS: readonly (readonly [node: Nat, viewer: Nat])[] = [
    ['port-restricted', 'port-restricted'],
    ['symmetric', 'symmetric'],
    ['tcp443', 'symmetric'],
    ['symmetric', 'tcp443'],
  ];
  for (const nats of NATS)
    it(`the node behind ${nats[0]}, the viewer behind ${nats[1]}: it is seen`, async () => {
      await begin(nats, [ways(TURN_AT[0])]);
      await world.turn(TURN_AT[0]);
      await watch();
      expect(await ask(node, '/api/video')).to.include({ viewers: 1 });
    });
});
