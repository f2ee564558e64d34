import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { errorWord } from '../../shared/errors.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { rawHttp } from '../support/raw-http.ts';

const AGENT = ['entrypoint: agent/main.mjs', 'runtime: node', 'http: true'];
/** Its own HTTP server, by hand: answers what the path says. */
const SERVER = `
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createRaw } from 'node:net';
const path = process.env.SVC_PLUGIN_HTTP_SOCKET;
const server = createServer((req, res) => {
  const url = new URL(req.url, 'http://x');
  switch (url.pathname) {
    case '/seen':
      res.setHeader('content-type', 'application/json');
      return void res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers }));
    case '/hash': {
      const hash = createHash('sha256');
      let bytes = 0;
      req.on('data', (chunk) => { hash.update(chunk); bytes += chunk.length; });
      return void req.on('end', () => res.end(JSON.stringify({ bytes, sha256: hash.digest('hex') })));
    }
    case '/large': {
      let left = 50;
      const next = () => { while (left-- > 0) if (!res.write(Buffer.alloc(1_000_000, left))) return void res.once('drain', next); res.end(); };
      return next();
    }
    case '/widen':
      res.writeHead(200, {
        'set-cookie': ['svc=1', 'other=2'], 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true',
        'clear-site-data': '"*"', 'content-security-policy': "default-src *", 'service-worker-allowed': '/', refresh: '0; url=http://evil.example',
        'x-svc-principal': 'me', 'cross-origin-resource-policy': 'cross-origin', 'content-type': 'text/html', 'x-own': 'kept',
      });
      return void res.end('<script>document.cookie = "a=b"</script>');
    case '/redirect':
      res.writeHead(302, { location: url.searchParams.get('to') });
      return void res.end();
    case '/crlf':
      res.socket.write('HTTP/1.1 200 OK\\r\\nx-a: b\\rset-cookie: c=d\\r\\ncontent-length: 2\\r\\n\\r\\nok');
      return;
    case '/many': {
      let head = 'HTTP/1.1 200 OK\\r\\n';
      for (let i = 0; i < 10_000; i++) head += 'x-' + i + ': y\\r\\n';
      res.socket.write(head + 'content-length: 2\\r\\n\\r\\nok');
      return;
    }
    case '/switch':
      res.socket.write('HTTP/1.1 101 Switching Protocols\\r\\nupgrade: other\\r\\nconnection: Upgrade\\r\\n\\r\\n');
      return;
    case '/half':
      res.writeHead(200, { 'content-length': url.searchParams.get('of') });
      res.write('x'.repeat(10));
      return void setImmediate(() => res.socket.destroy());
    case '/die':
      process.kill(process.pid, 'SIGKILL');
      return;
    default:
      res.writeHead(404);
      res.end();
  }
});
server.on('upgrade', (req, socket) => {
  const accept = createHash('sha1').update(req.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  const protocol = req.headers['sec-websocket-protocol'];
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: Upgrade\\r\\nsec-websocket-accept: ' + accept + '\\r\\nset-cookie: a=b\\r\\n\\r\\n');
  const text = JSON.stringify({ protocol: protocol ?? null, names: Object.keys(req.headers) });
  const length = Buffer.alloc(2); length.writeUInt16BE(text.length);
  socket.write(Buffer.concat([Buffer.from([0x81, 126]), length, Buffer.from(text)]));
  socket.on('data', () => { if (req.url === '/vanish') socket.destroy(); });
  socket.on('error', () => undefined);
});
server.listen(path);
process.on('SIGTERM', () => process.exit(0));
`;

const NOT_SERVING = (id: string) => `{"detail":"plugin ${id} is not serving HTTP"}`;

describe('an extension’s own HTTP API', () => {
  const id = 'org.example.http';
  const base = `/api/plugins/${id}/x`;
  let plugins: PluginNode;
  before(async () => {
    plugins = await PluginNode.start();
    await plugins.run({ id, agent: AGENT, files: { 'agent/main.mjs': SERVER } });
    await serving();
  });
  after(async () => plugins.node.stop());

  const serving = async () =>
    plugins.until(
      'it serves',
      async () => plugins.call('GET', `${base}/seen`),
      ({ status }) => status === 200,
    );

  const sockets = (): number =>
    readdirSync(`/proc/${plugins.node.pid('svc-residual')}/fd`).length +
    readdirSync(`/proc/${plugins.node.pid('svc-control')}/fd`).length;

  it('K3: gets the path and the query as they came, and no credential of the caller', async () => {
    const session = { 'x-svc-dashboard-session': 's', 'x-svc-mcp-token': 't', 'x-hmac-signature': 'h' };
    const answer = await plugins.node.fetch(`${base}/seen?a=1&a=2&c=%20x`, {
      headers: {
        ...PluginNode.headers,
        ...session,
        cookie: 'c=1',
        authorization: 'Bearer b',
        'x-own': 'kept',
      },
    });
    const { method, url, headers } = (await answer.json()) as {
      method: string;
      url: string;
      headers: Record<string, string>;
    };
    expect([method, url]).to.deep.equal(['GET', '/seen?a=1&a=2&c=%20x']);
    expect(headers['x-own']).to.equal('kept');
    const forbidden = Object.keys(headers).filter((name) => /^x-svc|cookie|auth|hmac/.test(name));
    expect(forbidden).to.deep.equal([]);
    expect(JSON.stringify(headers)).to.not.include('svc_');
  });

  it('streams 50 MB up and down for each method that has a body', async () => {
    const all = randomBytes(50_000_000);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const body = all.subarray(0, method === 'POST' ? all.length : 1_000_000);
      const sha256 = createHash('sha256').update(body).digest('hex');
      const answer = await plugins.node.fetch(`${base}/hash`, { method, body, headers: PluginNode.headers });
      expect(JSON.parse(await answer.text()), method).to.deep.equal({ bytes: body.length, sha256 });
    }
    const large = await plugins.node.fetch(`${base}/large`, { headers: PluginNode.headers });
    expect((await large.arrayBuffer()).byteLength).to.equal(50_000_000);
  });

  it('K4: cannot set cookies, open the node to other origins, or lead away from itself', async () => {
    const widen = await plugins.call('GET', `${base}/widen`);
    expect(widen.status).to.equal(200);
    const names = [...widen.headers.keys()];
    expect(
      names.filter((name) =>
        /cookie|access-control|clear-site|service-worker|refresh|x-svc|cross-origin/.test(name),
      ),
    ).to.deep.equal([]);
    expect(widen.headers.get('content-security-policy')).to.match(/^sandbox allow-scripts/);
    expect(widen.headers.get('x-own')).to.equal('kept');
    const redirects: readonly [string, string | null][] = [
      ['/seen?a=1', `${base}/seen?a=1`],
      ['seen', `${base}/seen`],
      ['https://evil.example/', null],
      ['//evil.example/', null],
      ['/\\evil.example', null],
      ['../../../config', `${base}/config`],
      ['%2e%2e/%2E%2E/config', `${base}/config`],
      ['\\config', `${base}/config`],
      ['javascript:alert(1)', null],
      [`/../../../../config`, `${base}/config`],
    ];
    for (const [to, location] of redirects) {
      const answer = await plugins.node.fetch(`${base}/redirect?to=${encodeURIComponent(to)}`, {
        headers: PluginNode.headers,
        redirect: 'manual',
      });
      expect([answer.status, answer.headers.get('location')], to).to.deep.equal([302, location]);
    }
  });

  it('K4: no browser keeps a script of it as a service worker, which could answer for the node', async () => {
    const asked = { ...PluginNode.headers, 'service-worker': 'script' };
    const scripts = ['/seen', '/widen', '/sw.js'].map((path) => `${base}${path}`);
    for (const path of [...scripts, `/api/plugins/${id}/gcs/sw.js`, '/assets/sw.js', '/api/logs/export']) {
      const { status, body } = await plugins.node.json(path, { headers: asked });
      expect([status, errorWord(body)], path).to.deep.equal([403, 'E_ORIGIN']);
    }
    const own = await plugins.node.fetch('/sw.js', { headers: { 'service-worker': 'script' } });
    expect(own.status).to.equal(200);
    expect(own.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(own.headers.get('cache-control')).to.equal('no-cache');
    expect(own.headers.get('service-worker-allowed')).to.equal(null);
  });

  it('an answer 101 that nobody asked for is 502 at once', async () => {
    const before = performance.now();
    const { status, body } = await plugins.call('GET', `${base}/switch`);
    expect([status, body['code']]).to.deep.equal([502, 'E_UPSTREAM']);
    expect(performance.now() - before).to.be.below(10_000); // it was 30 s
    expect((await plugins.call('GET', `${base}/seen`)).status).to.equal(200);
  });

  it('B15: an answer that splits, or has 10 000 headers, is 502; one that breaks off is cut off', async () => {
    for (const path of ['crlf', 'many']) {
      const { status, body } = await plugins.call('GET', `${base}/${path}`);
      expect([status, body['code']], path).to.deep.equal([502, 'E_UPSTREAM']);
    }
    const small = await plugins.call('GET', `${base}/half?of=1000`);
    expect([small.status, small.body['code']]).to.deep.equal([502, 'E_UPSTREAM']);
    const half = await plugins.node.fetch(`${base}/half?of=1000000`, { headers: PluginNode.headers });
    const cut = await half.text().then(
      () => 'whole',
      () => 'cut',
    );
    expect(cut).to.equal('cut');
  });

  it('its WebSocket: a browser’s ticket opens it, is not passed on, and its protocol is answered', async () => {
    const ticket = async () => {
      const { ticket: value } = await plugins.done('POST', '/api/_ws/ticket', {
        scope: `plugins.http:${id}`,
      });
      return String(value);
    };
    const url = `ws://127.0.0.1:${plugins.node.port}${base}/ws`;
    const secret = await ticket();
    const browser = new WebSocket(url, ['svc-ws-ticket', secret]);
    const [data] = (await once(browser, 'message')) as [Buffer];
    const { protocol, names } = JSON.parse(data.toString()) as { protocol: string | null; names: string[] };
    expect(browser.protocol).to.equal('svc-ws-ticket');
    expect(protocol).to.equal(null);
    expect(names.filter((name) => name.startsWith('x-svc'))).to.deep.equal([]);
    browser.terminate();
    // A ticket of another extension's, and the same one again.
    for (const protocols of [['svc-ws-ticket', secret]]) {
      const refused = new WebSocket(url, protocols);
      const [error] = (await once(refused, 'error')) as [Error];
      expect(error.message).to.include('401');
    }
  });

  it('F10: a socket that vanishes in the middle closes the client’s, and nothing is left open after 1 000 of them', async function () {
    this.timeout(60_000);
    const cycle = async (): Promise<void> => {
      const socket = new WebSocket(`ws://127.0.0.1:${plugins.node.port}${base}/vanish`, {
        headers: PluginNode.headers,
      });
      await once(socket, 'message');
      socket.send('now');
      await once(socket, 'close');
    };
    await Promise.all(Array.from({ length: 10 }, cycle));
    const before = sockets();
    for (let round = 0; round < 100; round++) await Promise.all(Array.from({ length: 10 }, cycle));
    await plugins.until(
      'the descriptors are closed',
      async () => sockets(),
      (now) => now <= before + 8,
    );
  });

  it('K3: does not serve if it did not declare it, died, was stopped or tampered with: 503, exactly so', async () => {
    const silent = 'org.example.silent';
    await plugins.run({
      id: silent,
      agent: AGENT.slice(0, 2),
      files: { 'agent/main.mjs': SERVER.replace('server.listen(path)', 'setInterval(() => 0, 1e6)') },
    });
    const exactly = async (which: string, what: string) => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await plugins.node.fetch(`/api/plugins/${which}/x/seen`, {
          method,
          headers: PluginNode.headers,
        });
        expect([answer.status, (await answer.text()).trim()], `${what} ${method}`).to.deep.equal([
          503,
          NOT_SERVING(which),
        ]);
      }
      const { text } = await rawHttp(
        plugins.node.port,
        `GET /api/plugins/${which}/x/ws HTTP/1.1\r\nhost: 127.0.0.1\r\nx-svc-key: ${PluginNode.headers['x-svc-key']}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      expect(text, what).to.include('503 Service Unavailable').and.to.include(NOT_SERVING(which));
    };
    await exactly(silent, 'not declared');
    await exactly('org.example.never', 'not installed');
    const linking = 'org.example.linking';
    const { controlSocket } = plugins.node.paths;
    await plugins.run({
      id: linking,
      agent: AGENT,
      files: {
        'agent/main.mjs': `import { symlinkSync } from 'node:fs';\nsymlinkSync('${controlSocket}', process.env.SVC_PLUGIN_HTTP_SOCKET);\nconsole.log('linked');\nsetInterval(() => 0, 1e6);\n`,
      },
    });
    await plugins.until(
      'it has made the link',
      async () => plugins.call('GET', `/api/plugins/${linking}/logs`),
      ({ body }) => JSON.stringify(body).includes('linked'),
    );
    await exactly(linking, 'a link to the node’s own socket');
    await plugins.call('GET', `${base}/die`); // answered by nobody
    await serving(); // it was started again
    await plugins.done('POST', `/api/plugins/${id}/disable`, {});
    await exactly(id, 'stopped');
    const { installed_at: at } = await plugins.record(id);
    await appendFile(join(plugins.node.paths.plugins, id, String(at), 'agent/main.mjs'), '//');
    await plugins.call('POST', `/api/plugins/${id}/enable`, {});
    expect((await plugins.record(id)).failure_reason).to.equal('tampered: agent/main.mjs');
    await exactly(id, 'tampered');
  });
});
