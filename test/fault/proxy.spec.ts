import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createNetServer, type Server as NetServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createResidualServer } from '../../residual/app/server.ts';
import {
  connectionProof,
  decodeMark,
  encodeMark,
  isProof,
  PRINCIPAL_HEADER,
  PROOF_HEADER,
} from '../../shared/auth/principal-mark.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { KEY } from '../support/edge.ts';
import { type LoneFront, SECRET, startFront } from '../support/front.ts';
import { rawHttp } from '../support/raw-http.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('the proxy to the residual', () => {
  let front: LoneFront;
  let upstream: Server | NetServer | null = null;
  before(async () => {
    front = await startFront('mcp:\n  token_accept_enabled: true\n');
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

  it('forwards the decided bytes and what was decided, and takes every credential and mark off', async () => {
    let seen: IncomingMessage | null = null;
    await behind((req, res) => {
      seen = req;
      res.end('{}');
    });
    const path = '/api/plugins/com.example.one/gcs/main.js?a=1&b=%20&a=2';
    const response = await get(path, {
      'x-svc-mcp-token': 't',
      'x-svc-dashboard-session': 's',
      cookie: 'c=1',
      authorization: 'Bearer x',
      'x-svc-principal': 'forged',
      'x-svc-mcp-scopes': 'admin',
      x_svc_mcp_scopes: 'admin',
      'x-svc-onbox': '1',
      'x-svc-relay-caller': 'key k *',
      'x-kept': 'yes',
    });
    expect(response.status).to.equal(200);
    const req = seen as unknown as IncomingMessage;
    expect(req.url).to.equal(path);
    const names = Object.keys(req.headers);
    expect(names.filter((name) => /svc|cookie|authorization/i.test(name)).sort()).to.deep.equal([
      PRINCIPAL_HEADER,
      PROOF_HEADER,
    ]);
    expect(req.headers['x-kept']).to.equal('yes');
    expect(req.headers[PROOF_HEADER]).to.equal(connectionProof(SECRET));
    const mark = decodeMark(req.headers[PRINCIPAL_HEADER]);
    expect(mark).to.deep.include({
      row: 'plugins.id.gcs.path.get',
      params: { id: 'com.example.one', path: 'main.js' },
      forced: false,
    });
    expect(mark?.principal).to.deep.include({ kind: 'key', id: 'pairing-key' });
  });

  it('tells the scopes of a verified token, and of nobody else', async () => {
    const seen: unknown[] = [];
    await behind((req, res) => {
      seen.push(req.headers['x-svc-mcp-scopes']);
      res.end('{}');
    });
    const minted = await fetch(`${front.url}/api/mcp/tokens`, {
      method: 'POST',
      headers: { 'x-svc-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ scopes: ['read', 'safe_write'] }),
    });
    const { token } = (await minted.json()) as { readonly token: string };
    const claimed = { 'x-svc-mcp-scopes': 'admin' };
    await fetch(`${front.url}/api/config`, { headers: { ...claimed, 'x-svc-mcp-token': token } });
    await get('/api/config', claimed);
    expect(seen).to.deep.equal(['read,safe_write', undefined]);
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
    this.timeout(120_000);
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
  let dir: string;
  let server: Server;
  const ended: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const mark = encodeMark({
    row: 'config.get',
    params: {},
    forced: false,
    principal: { kind: 'key', id: 'pairing-key', scopes: null },
  });
  before(async () => {
    dir = await tempDir();
    server = createResidualServer({
      rows: ROWS,
      upgrades: new Map(),
      handlers: new Map(
        ['config.get', 'config.key.get', 'logs.get'].map((id) => [
          id,
          ({ principal }) => ({ who: principal.id }),
        ]),
      ),
      proof: connectionProof(SECRET),
      end: async (ids) => {
        ended.push(...ids);
        return [];
      },
      log: createLogger('test', 'error'),
    });
    server.listen(join(dir, 'residual.sock'));
    await once(server, 'listening');
  });
  after(async () => {
    agent.destroy();
    server.close();
    await once(server, 'close');
    await removeDir(dir);
  });

  async function ask(
    headers: Record<string, string>,
    through: Agent | false = false,
    path = '/api/config',
  ): Promise<number> {
    const req = request({
      socketPath: join(dir, 'residual.sock'),
      path,
      agent: through,
      headers,
    });
    req.end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    await once(res.resume(), 'end');
    return res.statusCode ?? 0;
  }

  it('answers nobody who cannot prove to be the front, and no request without what was decided', async () => {
    expect(await ask({ [PRINCIPAL_HEADER]: mark })).to.equal(401);
    const wrong = connectionProof('another boot') ?? '';
    expect(await ask({ [PRINCIPAL_HEADER]: mark, [PROOF_HEADER]: wrong })).to.equal(401);
    expect(await ask({ [PRINCIPAL_HEADER]: mark, [PROOF_HEADER]: '' })).to.equal(401);
    expect(await ask({ [PROOF_HEADER]: connectionProof(SECRET) ?? '' })).to.equal(401);
  });

  it('takes a proof for the connection that it came on, and for no other', async () => {
    const proof = { [PRINCIPAL_HEADER]: mark, [PROOF_HEADER]: connectionProof(SECRET) ?? '' };
    expect(await ask(proof, agent)).to.equal(200);
    expect(await ask({ [PRINCIPAL_HEADER]: mark }, agent)).to.equal(200);
    expect(await ask({ [PRINCIPAL_HEADER]: mark })).to.equal(401);
  });

  it('refuses a request that was decided as one row and comes in as another', async () => {
    const headers = { [PRINCIPAL_HEADER]: mark, [PROOF_HEADER]: connectionProof(SECRET) ?? '' };
    expect(await ask(headers, false, '/api/config/agent.name')).to.equal(500);
    expect(await ask(headers, false, '/api/logs')).to.equal(500);
    expect(await ask(headers, false, '/api/nowhere')).to.equal(500);
    expect(await ask(headers, false, '/api/config?a=1')).to.equal(200);
  });

  it('refuses an upgrade that was decided as one row and comes in as another', async () => {
    const upgrade = async (path: string): Promise<number> => {
      const req = request({
        socketPath: join(dir, 'residual.sock'),
        path,
        headers: {
          connection: 'upgrade',
          upgrade: 'websocket',
          [PROOF_HEADER]: connectionProof(SECRET) ?? '',
          [PRINCIPAL_HEADER]: encodeMark({
            row: 'vision.detections.ws.ws',
            params: {},
            forced: false,
            principal: { kind: 'key', id: 'pairing-key', scopes: null },
          }),
        },
      });
      req.end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      await once(res.resume(), 'end');
      return res.statusCode ?? 0;
    };
    expect(await upgrade('/api/vision/detections/ws')).to.equal(501); // its own row: nothing stands behind it
    expect(await upgrade('/api/plugins/example/x/ws')).to.equal(500);
    expect(await upgrade('/api/nowhere')).to.equal(500);
  });

  it('a process without a secret believes nobody', () => {
    expect(connectionProof('')).to.equal(null);
    expect(isProof('', null)).to.equal(false);
  });
});
