import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createNetServer, type Server as NetServer } from 'node:net';
import { expect } from 'chai';
import { markKey, PRINCIPAL_HEADER, verifyPrincipal } from '../../shared/auth/principal-mark.ts';
import { KEY } from '../support/edge.ts';
import { type LoneFront, SECRET, startFront } from '../support/front.ts';
import { rawHttp } from '../support/raw-http.ts';

describe('the proxy to the residual', () => {
  let front: LoneFront;
  let upstream: Server | NetServer | null = null;
  before(async () => {
    front = await startFront();
  });
  after(async () => front.stop());
  afterEach(async () => {
    if (upstream === null) return;
    if ('closeAllConnections' in upstream) upstream.closeAllConnections();
    upstream.close();
    await once(upstream, 'close');
    upstream = null;
  });

  async function behind(handle: (req: IncomingMessage, res: ServerResponse) => void): Promise<void> {
    const server = createServer(handle);
    upstream = server;
    server.listen(front.paths.residualSocket);
    await once(server, 'listening');
  }
  const get = async (path = '/api/config', headers: Record<string, string> = {}) =>
    fetch(`${front.url}${path}`, { headers: { 'x-svc-key': KEY, ...headers } });

  it('answers 503 with Retry-After while nobody is there, and the front stays alive', async () => {
    const response = await get();
    expect(response.status).to.equal(503);
    expect(response.headers.get('retry-after')).to.equal('1');
    expect(await response.json()).to.include({ code: 'E_UPSTREAM_DOWN' });
  });

  it('forwards the decided bytes, signs the caller, and takes every credential and mark off', async () => {
    let seen: IncomingMessage | null = null;
    await behind((req, res) => {
      seen = req;
      res.end('{}');
    });
    const path = '/api/config?a=1&b=%20&a=2';
    const response = await get(path, {
      'x-svc-mcp-token': 't',
      'x-svc-dashboard-session': 's',
      cookie: 'c=1',
      authorization: 'Bearer x',
      'x-svc-principal': 'forged',
      'x-svc-mcp-scopes': 'admin',
      x_svc_mcp_scopes: 'admin',
      'x-svc-onbox': '1',
      'x-svc-relay-ticket': 'r',
      'x-kept': 'yes',
    });
    expect(response.status).to.equal(200);
    const req = seen as unknown as IncomingMessage;
    expect(req.url).to.equal(path);
    const names = Object.keys(req.headers);
    expect(names.filter((name) => /svc|cookie|authorization/i.test(name))).to.deep.equal([PRINCIPAL_HEADER]);
    expect(req.headers['x-kept']).to.equal('yes');
    const mark = verifyPrincipal(
      markKey(SECRET),
      String(req.headers[PRINCIPAL_HEADER]),
      'GET',
      path,
      Date.now(),
    );
    expect(mark?.principal).to.deep.include({ kind: 'key', id: 'pairing-key' });
  });

  it('B3 a Connection header that names our mark does not take it off', async () => {
    let mark: unknown = null;
    await behind((req, res) => {
      mark = req.headers[PRINCIPAL_HEADER];
      res.setHeader('content-length', '2').end('{}');
    });
    const answer = await rawHttp(
      front.port,
      `GET /api/config HTTP/1.1\r\nHost: localhost\r\nX-SVC-Key: ${KEY}\r\nConnection: x-svc-principal\r\n\r\n`,
    );
    expect(answer.status).to.equal(200);
    expect(mark).to.be.a('string');
  });

  it('passes a JSON body on, byte for byte', async () => {
    let body = '';
    await behind((req, res) => {
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => res.end('{}'));
    });
    const text = '{ "key": "agent.name",   "value": "\u00e4" }';
    const response = await fetch(`${front.url}/api/config`, {
      method: 'PUT',
      headers: { 'x-svc-key': KEY, 'content-type': 'application/json' },
      body: text,
    });
    expect(response.status).to.equal(200);
    expect(body).to.equal(text);
  });

  it('H4 a residual that breaks off in the middle of a body cuts the client off, and never looks complete', async () => {
    await behind((_req, res) => {
      res.writeHead(200, { 'content-length': '1000' });
      res.write('{"half":');
      setImmediate(() => res.destroy());
    });
    const failed = await get()
      .then(async (response) => response.text())
      .then(() => null)
      .catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
  });

  it('a residual that breaks off before it answers is 502', async () => {
    await behind((req) => req.socket.destroy());
    const response = await get();
    expect(response.status).to.equal(502);
    expect(await response.json()).to.include({ code: 'E_UPSTREAM' });
  });

  it('a residual that never answers is 504 after the time-out of the row', async function () {
    this.timeout(15_000);
    await behind(() => undefined);
    const response = await get();
    expect(response.status).to.equal(504);
    expect(await response.json()).to.include({ code: 'E_TIMEOUT' });
  });

  for (const [name, head] of [
    ['a header with CR LF in the wrong place', 'X-A: b\rc\r\n'],
    ['10 000 headers', 'X-A: b\r\n'.repeat(10_000)],
    ['no HTTP at all', ''],
  ] as const) {
    it(`B15 ${name} from the residual is 502, and the client's connection lives`, async () => {
      const server = createNetServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () =>
          socket.end(
            head === '' ? 'rubbish\r\n\r\n' : `HTTP/1.1 200 OK\r\n${head}Content-Length: 2\r\n\r\n{}`,
          ),
        );
      });
      upstream = server;
      server.listen(front.paths.residualSocket);
      await once(server, 'listening');
      const response = await get();
      expect(response.status).to.equal(502);
      expect((await fetch(`${front.url}/healthz`)).status).to.equal(200);
    });
  }
});

describe('the residual alone', () => {
  it('answers nobody without a valid mark', () => {
    const key = markKey(SECRET);
    expect(verifyPrincipal(key, undefined, 'GET', '/', 0)).to.equal(null);
    expect(verifyPrincipal(key, 'x.y', 'GET', '/', 0)).to.equal(null);
    expect(verifyPrincipal(null, 'x.y', 'GET', '/', 0)).to.equal(null);
  });
});
