/// <reference lib="dom" />
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { readEvents } from '../../shared/http/event-reader.ts';
import { askAgain, worksAtLast } from '../support/ask-again.ts';
import { checkAxe, inputsOf, noBrowser, openBrowser, openPage, PHONE, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

type Body = Readonly<Record<string, unknown>>;
const KEYED = { 'x-svc-key': KEY };

/** A person with a browser, a hub with its broker, and a node with its simulated vehicle: all real. */
describe("flying a node from the hub's page", function () {
  this.timeout(180_000);
  let hub: TestHub;
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let id: string;

  before(async function () {
    if (noBrowser() !== null || noMosquitto() !== null) return this.skip();
    [hub, node, browser] = await Promise.all([
      TestHub.start(),
      TestNode.start({ pairing: { key: KEY }, config: 'agent:\n  name: kite\nvideo:\n  source: test\n' }),
      openBrowser(),
    ]);
    const { body } = await hub.call('POST', '/v1/codes');
    await command('fleet', 'enroll', `https://127.0.0.1:${hub.httpsPort}`, String(body['code']));
    const entry = await hub.streamed((_name, { online, status }) => online === true && status !== null);
    id = String(entry['id']);
    page = await open();
  });
  after(async () => {
    await browser?.close();
    await Promise.all([hub?.stop(), node?.stop()]);
  });

  /** On the node, by a person there. */
  async function command(...args: readonly string[]): Promise<void> {
    const said = await svc(node.paths, ...args);
    expect(said.code, said.stderr).to.equal(0);
  }

  /** What was changed is in force then: svc-control answers before it ends. */
  async function restartFront(): Promise<void> {
    const pid = (): number | null => node.services.find(({ name }) => name === 'svc-control')?.pid ?? null;
    const before = pid();
    await command('services', 'restart', 'svc-control');
    await node.until(() => pid() !== null && pid() !== before);
    await worksAtLast('svc-control answers', telemetry);
  }

  async function open(): Promise<Page> {
    const opened = await openPage(browser);
    await signIn(opened);
    return opened;
  }

  async function signIn(
    where: Page,
    at = `fleet/${id}`,
    text = 'Commands',
    credential = hub.operator,
  ): Promise<void> {
    await where.goto(`${hub.url}/#/${at}`);
    await where.locator('input[name=secret]').fill(credential);
    await where.locator('form button[type=submit]').click();
    await says(text, where);
  }

  async function says(text: string, where = page): Promise<void> {
    await where.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 100 });
  }

  function button(name: string, where = page): Locator {
    return where.getByRole('button', { name, exact: true });
  }

  /** Begins to hold a button or a slide, by keyboard. */
  async function press(name: string, where = page): Promise<void> {
    await button(name, where).focus();
    await where.keyboard.down('Enter');
  }

  /** Draws the thumb of a slide a part of its way. */
  async function draw(name: string, share: number): Promise<void> {
    await button(name).scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await button(name).boundingBox()) ?? expect.fail();
    await page.mouse.move(x + height / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + height / 2 + (width - height) * share, y + height / 2, { steps: 4 });
  }

  /** Holds a button until the page says that the vehicle has taken it. */
  async function hold(name: string, answer = `${name}: accepted`): Promise<void> {
    const outcome = async (): Promise<string> => page.$eval('.outcome', (element) => element.textContent);
    const before = await outcome();
    await askAgain(
      `${name} can be held`,
      async () => button(name).getAttribute('aria-disabled'),
      (off) => off === 'false',
    );
    await press(name);
    try {
      await askAgain(`${name} was held`, outcome, (text) => text !== before && text.startsWith(`${name}: `));
    } finally {
      await page.keyboard.up('Enter');
    }
    await says(answer);
  }

  async function telemetry(): Promise<Body> {
    return (await node.json('/api/telemetry', { headers: KEYED })).body;
  }

  async function until(what: string, fits: (body: Body) => boolean): Promise<void> {
    await askAgain(what, telemetry, fits);
  }

  const height = (body: Body): number => Number((body['position'] as Body)['alt_rel']);

  /** Commands that the hub has carried. */
  async function carried(): Promise<number> {
    const { body } = await hub.call('GET', '/v1/audit?limit=1000');
    return (body['records'] as readonly Body[]).filter(({ changed }) =>
      String(changed).endsWith('POST /api/command'),
    ).length;
  }

  it('says why nobody flies yet: no key here, the key not listed, the fleet not allowed', async () => {
    const seen = watch(page, hub.url);
    await says('This browser has no operator key yet.');
    await button('Make the key').click();
    await says('Someone at the node adds it there');
    await says('does not know this browser’s key yet');
    await says('its fleet.scopes lacks flight');
    const key = await inputsOf(page, '.copyable input');
    const [, x = ''] =
      key.map((text) => /^([A-Za-z0-9_-]{43})$/.exec(text)).find((each) => each !== null) ?? [];
    // What the browser gives is the public half alone: no script gets the other.
    const readable = await page.evaluate(async () => {
      const db = await new Promise<IDBDatabase>((resolve, reject) => {
        const asked = indexedDB.open('svc-hub-keys');
        asked.addEventListener('success', () => resolve(asked.result));
        asked.addEventListener('error', () => reject(asked.error ?? new Error('no database')));
      });
      const pair = await new Promise<CryptoKeyPair>((resolve) => {
        const asked = db.transaction('keys').objectStore('keys').get('operator');
        asked.addEventListener('success', () => resolve(asked.result as CryptoKeyPair));
      });
      db.close();
      return crypto.subtle.exportKey('pkcs8', pair.privateKey).then(
        () => true,
        () => false,
      );
    });
    expect(readable).to.equal(false);
    await command('fleet', 'operators', 'add', 'ada', x);
    await command('config', 'set', 'fleet.scopes', 'read,safe_write,admin,flight');
    await restartFront();
    await askAgain(
      'the node lists the key',
      async () => {
        await button('Ask the node again').click();
        return page.evaluate(() => document.body.innerText.includes('Commands from here are signed as ada.'));
      },
      (listed) => listed,
    );
    await checkAxe(page);
    // Loaded anew, the person is still signed in, and the keys are still there.
    for (const screen of [PHONE, { width: 1280, height: 1000 }]) {
      await page.setViewportSize(screen);
      await page.reload();
      await says('Commands from here are signed as ada.');
      await checkAxe(page);
    }
    seen.check();
  });

  it('lets who has the node by a tag call it, with a token for it alone, until the tag is gone', async () => {
    const tag = async (...tags: readonly string[]) =>
      hub.call('POST', `/v1/nodes/${id}/tags`, { body: { tags, group: null } });
    await tag('yard');
    const crew = { name: 'crew', scopes: ['read'], tags: ['yard'] };
    const { body } = await hub.call('POST', '/v1/operators', { body: crew });
    const theirs = await openPage(browser);
    const token = theirs.waitForRequest(/\/v1\/me\/token$/);
    const called = theirs.waitForResponse(async (answer) => {
      if (!answer.url().endsWith('/calls') || answer.status() !== 200) return false;
      const { reply } = (await answer.json()) as { readonly reply: string };
      const said = Buffer.from(reply.split('.')[1] ?? '', 'base64url').toString();
      return said.includes('"status":200');
    });
    await signIn(theirs, `fleet/${id}`, 'Commands', String(body['credential']));
    expect((await token).postDataJSON()).to.deep.include({ nodes: [id] });
    await called;
    await tag();
    await says(`No node ${id} in this fleet, or you may not see it.`, theirs);
    await theirs.context().close();
  });

  it('tells five times a second while it is looked at', async () => {
    const stop = new AbortController();
    const answer = await fetch(`${hub.url}/v1/live?nodes=${id}`, {
      headers: { authorization: `Bearer ${hub.operator}` },
      signal: stop.signal,
    });
    if (answer.body === null) throw new Error('no stream');
    const begun = performance.now();
    let count = 0;
    for await (const { event } of readEvents(Readable.fromWeb(answer.body as never)))
      if (event === 'telemetry' && ++count === 40) break;
    stop.abort();
    expect(performance.now() - begun, 'at one a second it would be 40 s').to.be.below(30_000);
  });

  it('plays the picture of the camera, for which only signed calls go over the hub', async () => {
    await page.waitForFunction(
      () => (document.querySelector('video')?.getVideoPlaybackQuality().totalVideoFrames ?? 0) > 30,
      undefined,
      { polling: 100 },
    );
    const { body } = await hub.call('GET', '/v1/audit?limit=1000');
    expect(JSON.stringify(body)).to.include(`${id} POST /whep`);
    expect(JSON.stringify(body), 'who called, by name').to.match(/"principal_name":"\w+"/);
  });

  it('shows small pictures on the wall, again and again', async () => {
    const wall = await openPage(browser);
    await signIn(wall, 'wall', 'Pictures');
    const picture = wall.locator('.hub-wall__wall img').first();
    // Another one comes, again and again; each is as small as agreed.
    const sources = new Set<string>();
    const source = async (): Promise<number> => {
      const [src, width] = await picture.evaluate(
        (image: HTMLImageElement) => [image.src, image.naturalWidth] as const,
      );
      expect(width).to.be.oneOf([0, 320]);
      return sources.add(src).size;
    };
    await askAgain('new pictures', source, (size) => size >= 5);
    await checkAxe(wall);
    await wall.close();
    await page.bringToFront();
  });

  it('arms and takes off, and nothing of it that was not held to the end', async () => {
    await until('ready', ({ prearm }) => (prearm as Body | null)?.['can_arm'] === true);
    const name = 'Arm and take off to 10 m';
    await page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll('button')].some(
          (each) => each.textContent?.startsWith(wanted) && each.getAttribute('aria-disabled') === 'false',
        ),
      name,
      { polling: 100 },
    );
    const before = await carried();
    // Let go too early: by the pointer, by a key; drawn back to where it began.
    await draw(name, 0.6);
    await page.mouse.up();
    await draw(name, 1);
    await page.mouse.move(0, 0);
    await page.mouse.up();
    await button(name).click();
    await button(name).focus();
    await page.keyboard.down('Space');
    await page.keyboard.up('Space');
    // A tab that is closed, and a network that is gone, while it is held.
    const other = await open();
    await press('Arm', other);
    await other.close();
    await page.bringToFront();
    await press(name);
    await page.context().setOffline(true);
    await says('The hub does not answer.');
    await page.keyboard.up('Enter');
    await page.context().setOffline(false);
    await askAgain(
      'the page is back',
      async () => page.evaluate(() => !document.body.innerText.includes('No answer from the hub')),
      (back) => back,
    );
    expect(await carried()).to.equal(before);
    expect(await telemetry()).to.include({ armed: false });
    await hold(name);
    await until('in the air', (body) => body['armed'] === true && height(body) > 8);
    expect(await carried()).to.equal(before + 1);
    const { body } = await node.json('/api/logs?service=audit&limit=200', { headers: KEYED });
    expect(JSON.stringify(body)).to.match(/fleet:op_[0-9a-f]{16}\/ada/);
  });

  it('goes to a place, holds position, returns and lands', async () => {
    const { position } = await telemetry();
    const { lat, lon } = position as { readonly lat: number; readonly lon: number };
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    await page.getByLabel('Latitude (°)', { exact: true }).fill((lat + 0.0005).toFixed(7));
    await page.getByLabel('Longitude (°)', { exact: true }).fill(lon.toFixed(7));
    await hold('Go');
    await until('on its way', (body) => Number((body['position'] as Body)['lat']) > lat + 0.0001);
    await hold('Hold position');
    await hold('Land');
    await until('on the ground', (body) => body['armed'] === false);
    await says('Disarmed');
    // In the mode in which it landed it does not arm: a take-off changes it, and the page says so.
    await says('Takes off in GUIDED.');
  });

  it('no longer flies once the node has taken the key off its list', async () => {
    await command('fleet', 'operators', 'remove', 'ada');
    await restartFront();
    expect((await node.post('/api/command', { cmd: 'mode', args: ['GUIDED'] }, KEYED)).status).to.equal(200);
    await until('ready again', ({ prearm }) => (prearm as Body | null)?.['can_arm'] === true);
    await hold('Arm', 'Arm: The confirmation is not believed');
    expect(await telemetry()).to.include({ armed: false });
  });
});
