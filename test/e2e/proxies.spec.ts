import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { setConfigKey } from '../../shared/config/write.ts';
import type { Paths } from '../../shared/paths.ts';
import { noBrowser, openBrowser, visit } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { hasProgram, ReverseProxy } from '../support/reverse-proxy.ts';
import { svc } from '../support/svc.ts';
import { freePort } from '../support/temp.ts';

const TLS = 'ssl_certificate FOLDER/cert.pem; ssl_certificate_key FOLDER/key.pem;';

/** The block with that language in the guide, as somebody would copy it. */
async function guideBlock(language: string): Promise<string> {
  const text = await readFile(join(ROOT, 'docs/proxy.md'), 'utf8');
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? '';
}

describe('behind a reverse proxy', function () {
  this.timeout(120_000);
  /** Paired, and the proxy is listed; without an owner, and listed; paired, and not. */
  let listed: TestNode;
  let ownerless: TestNode;
  let unlisted: TestNode;
  const proxies: ReverseProxy[] = [];
  const port = { nginx: 0, caddy: 0, portless: 0, said: 0, silent: 0 };

  before(async function () {
    if (!hasProgram('nginx') || !hasProgram('caddy')) return this.skip();
    const prepare = async (paths: Paths): Promise<void> =>
      void (await setConfigKey(paths, 'api.trusted_proxies', ['127.0.0.1']));
    listed = await TestNode.start({ pairing: { key: KEY }, prepare });
    ownerless = await TestNode.start({ prepare });
    unlisted = await TestNode.start({ pairing: { key: KEY } });
    for (const name of Object.keys(port) as (keyof typeof port)[]) port[name] = await freePort();
    const nginx = (await guideBlock('nginx'))
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${listed.port}`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${port.nginx} ssl`)
      .replace(/ssl_certificate .*\n.*ssl_certificate_key .*/, TLS);
    const caddy = (await guideBlock('text'))
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${listed.port}`)
      .replace('drone.example {', `https://127.0.0.1:${port.caddy} {\n  tls FOLDER/cert.pem FOLDER/key.pem`);
    const pass = (to: number, ...headers: readonly string[]): string =>
      `location / { proxy_pass http://127.0.0.1:${to}; proxy_http_version 1.1; ${[
        'Upgrade $http_upgrade',
        'Connection $connection_upgrade',
        ...headers,
      ]
        .map((header) => `proxy_set_header ${header};`)
        .join(' ')} }`;
    const proto = 'X-Forwarded-Proto $scheme';
    proxies.push(
      await ReverseProxy.start(
        'nginx',
        `${nginx}
server { listen 127.0.0.1:${port.portless} ssl; ${TLS} ${pass(listed.port, 'Host $host', proto)} }
server { listen 127.0.0.1:${port.said} ssl; ${TLS} ${pass(unlisted.port, 'Host $http_host', proto)} }
server { listen 127.0.0.1:${port.silent}; ${pass(ownerless.port)} }`,
        port.nginx,
      ),
      await ReverseProxy.start('caddy', caddy, port.caddy),
    );
  });
  after(async () => {
    for (const proxy of proxies) await proxy.stop();
    for (const node of [listed, ownerless, unlisted]) await node?.stop();
  });

  /** @returns `open`, or the status of the refusal */
  async function socketThrough(at: number, origin: string): Promise<string> {
    const socket = new WebSocket(`wss://127.0.0.1:${at}/api/telemetry/ws`, {
      headers: { 'x-svc-key': KEY },
      origin,
      rejectUnauthorized: false,
    });
    socket.on('error', () => undefined); // told by its answer
    const opened = once(socket, 'open').then(() => 'open');
    const refused = once(socket, 'unexpected-response').then(([, answer]) => String(answer.statusCode));
    const answer = await Promise.race([opened, refused]);
    socket.terminate();
    return answer;
  }

  for (const name of ['nginx', 'caddy'] as const)
    it(`by the guide’s block for ${name} the page’s own sockets open; those of another page do not`, async () => {
      expect(await socketThrough(port[name], `https://127.0.0.1:${port[name]}`)).to.equal('open');
      expect(await socketThrough(port[name], 'https://evil.example')).to.equal('403');
      expect(await socketThrough(port[name], `http://127.0.0.1:${port[name]}`)).to.equal('403');
    });

  it('a Host without its port is any port of that host', async () => {
    expect(await socketThrough(port.portless, `https://127.0.0.1:${port.portless}`)).to.equal('open');
    expect(await socketThrough(port.portless, `https://127.0.0.2:${port.portless}`)).to.equal('403');
  });

  it('one that is not listed says nothing that counts', async () => {
    expect(await socketThrough(port.said, `https://127.0.0.1:${port.said}`)).to.equal('403');
  });

  it('nobody who comes through a listed one is this machine, though it says nothing of itself', async () => {
    // By the socket beside it the command line still is.
    expect((await svc(ownerless.paths, 'config', 'get', 'api.trusted_proxies')).stdout).to.include(
      '127.0.0.1',
    );
    expect((await fetch(`http://127.0.0.1:${port.silent}/api/config`)).status).to.be.oneOf([401, 403]);
  });

  it('where no Upgrade is passed the page says what refuses its data, and what to do', async function () {
    if (noBrowser() !== null) return this.skip();
    const node = await TestNode.start();
    const at = await freePort();
    const block = `server { listen 127.0.0.1:${at}; location / { proxy_pass http://127.0.0.1:${node.port}; } }`;
    const proxy = await ReverseProxy.start('nginx', block, at);
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${at}/`);
      await visit(page, 'fly');
      await page.getByText('No live data reaches this page.').waitFor();
      await page.getByText('pass the Upgrade header').waitFor();
    } finally {
      await browser.close();
      await proxy.stop();
      await node.stop();
    }
  });
});
