/// <reference lib="dom" />
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { askAgain } from '../support/ask-again.ts';
import { checkAxe, noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';

const PIN = '271828';
const withKey = { 'x-svc-key': KEY };

async function says(page: Page, words: string): Promise<void> {
  await page.waitForFunction((text) => document.body.innerText.includes(text), words, { polling: 100 });
}

/** Until the browser keeps the page, and its worker answers for it. */
async function kept(page: Page): Promise<void> {
  const state = async (): Promise<string> =>
    page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      if (registration === undefined) return 'none';
      return registration.waiting === null ? (registration.active?.state ?? 'begins') : 'another waits';
    });
  await askAgain('the page is kept', state, (is) => is === 'activated');
}

describe('the page by HTTPS', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  let secure: string;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    const tlsPort = await freePort();
    node = await TestNode.start({ pairing: { key: KEY }, tlsPort });
    await node.post('/api/dashboard/pin/set', { pin: PIN }, withKey);
    secure = `https://127.0.0.1:${tlsPort}`;
    browser = await openBrowser('chromium', {
      deaf: true,
      extra: [`--ignore-certificate-errors-spki-list=${await authorityHash()}`],
    });
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  /**
   * What a person does by installing the authority, as Chromium is told it: the key of a certificate in the chain. The node's own
   * certificate is another one as soon as this machine has another address, and other tests give it some.
   */
  async function authorityHash(): Promise<string> {
    const { publicKey } = new X509Certificate(await (await node.fetch('/ca.crt')).text());
    return createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64');
  }

  it('the card shows whom to trust, and “Open securely” keeps the person signed in, without a trace in the address', async () => {
    const page = await openPage(browser);
    await signIn(page, node.url, PIN, 'access/connection');
    const tickets: string[] = [];
    page.on('request', (asked) => {
      if (!asked.url().endsWith('/api/dashboard/handover')) return;
      tickets.push((JSON.parse(asked.postData() ?? '{}') as { ticket: string }).ticket);
    });
    await says(page, 'Open securely');
    const { body: tls } = await node.json('/api/tls');
    const shown = /(?:[0-9a-f]{4} ){7}[0-9a-f]{4}/.exec(await page.$eval('body', (all) => all.innerText));
    expect(shown?.[0].replaceAll(' ', '')).to.equal(String(tls['authority_sha256']).slice(0, 32));
    expect(await page.$('a[href="/ca.crt"]')).to.not.equal(null);
    await checkAxe(page);
    const before = await page.evaluate(() => sessionStorage.getItem('svc-dashboard-session'));
    await page.getByRole('button', { name: 'Open securely', exact: true }).click();
    await page.waitForFunction(
      () =>
        location.protocol === 'https:' && document.querySelector('nav a.to-access[aria-current]') !== null,
      undefined,
      { polling: 100 },
    );
    const seen = watch(page, secure);
    expect(page.url()).to.equal(`${secure}/#/access/connection`);
    expect(await page.$('main.sign-in')).to.equal(null);
    await says(page, 'Nobody on the network can read or change what you send.');
    const after = await page.evaluate(() => sessionStorage.getItem('svc-dashboard-session'));
    expect(after).to.be.a('string').and.not.equal(before);
    expect(await page.evaluate(() => window.isSecureContext)).to.equal(true);
    const [ticket] = tickets;
    expect(tickets).to.have.length(1);
    const devtools = await page.context().newCDPSession(page);
    const { entries } = await devtools.send('Page.getNavigationHistory');
    const visited = entries.map(({ url }) => url);
    expect(visited.at(-1)).to.equal(`${secure}/#/access/connection`);
    expect(visited.join(' ')).to.not.include(ticket);
    expect(
      await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])),
    ).to.not.include(ticket);
    const again = await node.post('/api/dashboard/handover', { ticket });
    expect(again.status).to.equal(401);
    const { body } = await node.json('/api/dashboard/sessions', { headers: withKey });
    expect(body['sessions'], 'of who set the PIN, and this one, which moved').to.have.length(2);
    await page.reload();
    await page.waitForSelector('nav');
    seen.check();
    await page.context().close();
  });

  it('who stays signed in on this browser does so by HTTPS too', async () => {
    const page = await openPage(browser);
    await page.goto(`${node.url}/#/access`);
    await page.locator('input[name=secret]').fill(PIN);
    await page.locator('form input[type=checkbox]').click();
    await page.locator('form button[type=submit]').click();
    await page.getByRole('button', { name: 'Open securely', exact: true }).click();
    await page.waitForFunction(
      () =>
        location.protocol === 'https:' && document.querySelector('nav a.to-access[aria-current]') !== null,
      undefined,
      { polling: 100 },
    );
    expect(page.url()).to.equal(`${secure}/#/access`);
    const held = await page.evaluate(() => [
      localStorage.getItem('svc-dashboard-session'),
      sessionStorage.getItem('svc-dashboard-session'),
    ]);
    expect(held[0]).to.be.a('string');
    expect(held[1]).to.equal(null);
    await page.context().close();
  });

  it('a ticket that is too late asks for the PIN, and leaves the address all the same', async () => {
    const page = await openPage(browser);
    await page.goto(`${secure}/#/~${'A'.repeat(43)}/node`);
    await page.waitForSelector('input[name=secret]');
    expect(page.url()).to.equal(`${secure}/#/node`);
    await page.context().close();
  });

  it('is kept there, too: its own files, and nothing of the API', async () => {
    const page = await openPage(browser);
    await signIn(page, secure, PIN);
    for (const where of ['plan', 'vehicle', 'node', 'access', 'fly']) await visit(page, where);
    await kept(page);
    const urls = await page.evaluate(async () => {
      const names = await caches.keys();
      const requests = names.map(async (name) => (await caches.open(name)).keys());
      return (await Promise.all(requests)).flat().map(({ url }) => new URL(url).pathname);
    });
    expect(urls).to.include('/');
    expect(urls.length).to.be.above(10);
    expect(
      urls.filter((path) => path !== '/' && !/^\/assets\/[\w.-]+-[\w-]{8}\.(?:js|css|svg)$/.test(path)),
    ).to.deep.equal([]);
    const manifest = await page.evaluate(async () => {
      const link = document.querySelector<HTMLLinkElement>('link[rel=manifest]');
      const answer = await fetch(link?.href ?? '');
      const { icons, scope } = (await answer.json()) as {
        icons: { src: string; sizes: string }[];
        scope: string;
      };
      const sizes = icons.map(async ({ src }) => {
        const image = new Image();
        image.src = src;
        await image.decode();
        return `${image.naturalWidth}x${image.naturalHeight}`;
      });
      return { type: answer.headers.get('content-type'), scope, sizes: await Promise.all(sizes) };
    });
    expect(manifest.type).to.equal('application/manifest+json');
    expect(manifest.scope).to.equal('/');
    expect(manifest.sizes).to.deep.equal(['512x512', '192x192', '512x512', '512x512']);
    const client = await page.context().newCDPSession(page);
    // What Chromium itself misses in an app; a window of its own is what the test brings.
    const { installabilityErrors } = await client.send('Page.getInstallabilityErrors');
    expect(
      installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito'),
    ).to.deep.equal([]);
    await page.context().close();
  });
});

describe('the page that a browser keeps', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([
      TestNode.start({ pairing: { key: KEY } }),
      openBrowser('chromium', { deaf: true }),
    ]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  it('after an update of the node’s page offers one reload, and goes on with the new one', async () => {
    const changed = await Changed.start(node);
    const page = await openPage(browser);
    await page.goto(`${changed.url}/`);
    await page.waitForSelector('input[name=secret]');
    await kept(page);
    const build = (): Promise<string | null> =>
      page.$eval('meta[name=svc-build]', (meta) => meta.getAttribute('content'));
    const former = await build();
    expect(former).to.match(/^[\w-]{8}$/);
    changed.text = (text) => text.replaceAll(former ?? '', `${former ?? ''}x`);
    await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
    await says(page, 'The node has a new version of this page.');
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await loaded;
    await page.waitForSelector('input[name=secret]');
    expect(await build()).to.equal(`${former ?? ''}x`);
    await askAgain(
      'the former page is kept no longer',
      async () => page.evaluate(async () => (await caches.keys()).join()),
      (names) => names === `svc-page-${former ?? ''}x`,
    );
    await kept(page);
    expect(await page.getByText('The node has a new version of this page.').count()).to.equal(0);
    await page.context().close();
    await changed.stop();
  });

  it('of another version than the node offers the reload instead of talking on', async () => {
    const changed = await Changed.start(node);
    changed.text = (text, path) =>
      path === '/api/version' ? text.replace(/"agent_version":"[^"]*"/, '"agent_version":"99.0.0"') : text;
    const page = await openPage(browser);
    await page.goto(`${changed.url}/`);
    await says(page, 'The node has a new version of this page.');
    expect(await page.$('input[name=secret]')).to.equal(null);
    changed.text = (text) => text;
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await page.waitForSelector('input[name=secret]');
    await page.context().close();
    await changed.stop();
  });

  it('is kept though a file fails at first, as of a busy node', async () => {
    const changed = await Changed.start(node);
    const failed = new Set<string>();
    changed.fails = (path, byScript) => {
      if (!byScript || !path.startsWith('/assets/') || failed.size === 3 || failed.has(path)) return false;
      failed.add(path);
      return true;
    };
    const page = await openPage(browser);
    await page.goto(`${changed.url}/`);
    await kept(page);
    expect(failed.size).to.equal(3);
    const files = await page.evaluate(async () => {
      const [name = ''] = await caches.keys();
      return (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname);
    });
    expect(files).to.include.members([...failed]);
    await page.context().close();
    await changed.stop();
  });

  it('opens without the node and says since when it is away; goes on when it is back', async () => {
    const page = await openPage(browser);
    await signIn(page, node.url, KEY);
    await kept(page);
    await node.stop({ keep: true });
    await page.reload();
    await page.waitForFunction(
      () => /Node unreachable since \d{1,2}:\d{2}/.test(document.body.innerText),
      undefined,
      {
        polling: 100,
      },
    );
    await checkAxe(page);
    node = await TestNode.resume(node, {});
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await page.waitForSelector('nav');
    await page.context().close();
  });
});

describe('the screen while flying', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([TestNode.start(), openBrowser('chromium', { deaf: true })]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });

  it('stays on while the vehicle is armed and the fly page is shown, and not longer', async () => {
    const page = await openPage(browser);
    const seen = watch(page, node.url);
    await page.addInitScript(() => {
      const counts = globalThis as unknown as { locks: number };
      counts.locks = 0;
      const lock = async () => {
        counts.locks++;
        return { release: async () => void counts.locks-- };
      };
      Object.defineProperty(navigator, 'wakeLock', { value: { request: lock } });
    });
    const locks = async (wanted: number): Promise<void> => {
      await page.waitForFunction(
        (count) => (globalThis as unknown as { locks: number }).locks === count,
        wanted,
        { polling: 100 },
      );
    };
    const command = async (cmd: string): Promise<void> => {
      expect((await node.post('/api/command', { cmd, args: [] })).body['status']).to.equal('accepted');
    };
    await page.goto(`${node.url}/#/fly`);
    await says(page, 'eady to arm');
    await locks(0);
    await command('arm');
    await locks(1);
    await visit(page, 'node');
    await locks(0);
    await visit(page, 'fly');
    await locks(1);
    await command('disarm');
    await locks(0);
    seen.check();
    await page.context().close();
  });
});

/** A node whose answers are another's: as after an update. WebSockets do not come through. */
class Changed {
  text: (text: string, path: string) => string = (text) => text;
  /** Whether a request is answered 503. @param byScript a script asks: the worker, for files of the page */
  fails: (path: string, byScript: boolean) => boolean = () => false;
  readonly #server: Server;

  private constructor(node: TestNode) {
    this.#server = createServer((req, res) => {
      const { 'accept-encoding': _, ...headers } = req.headers;
      if (this.fails(req.url ?? '', req.headers['sec-fetch-dest'] === 'empty')) {
        res.writeHead(503).end();
        return;
      }
      const asked = request({
        host: '127.0.0.1',
        port: node.port,
        method: req.method,
        path: req.url,
        headers,
      });
      asked.on('response', (answer: IncomingMessage) => {
        void buffer(answer).then((body) => {
          const { 'content-length': _length, 'transfer-encoding': _coding, ...rest } = answer.headers;
          res.writeHead(answer.statusCode ?? 502, rest);
          const isText = /html|javascript|json/.test(answer.headers['content-type'] ?? '');
          res.end(isText ? this.text(body.toString(), req.url ?? '') : body);
        });
      });
      asked.on('error', () => res.destroy());
      req.pipe(asked);
    });
  }

  static async start(node: TestNode): Promise<Changed> {
    const changed = new Changed(node);
    changed.#server.listen(0, '127.0.0.1');
    await once(changed.#server, 'listening');
    return changed;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
