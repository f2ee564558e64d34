import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { EDGE_ATTACKS, type EdgeTarget } from '../support/edge-attacks.ts';
import { TestNode } from '../support/node.ts';
import { rawBody, rawHttp } from '../support/raw-http.ts';

const HOST = 'Host: localhost\r\n';
const AUTH = `X-SVC-Key: ${KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';

describe('bad input over a real socket', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
  });
  after(async () => node.stop());

  const send = async (bytes: string) => rawHttp(node.port, bytes);
  const alive = async () => expect((await node.fetch('/healthz')).status).to.equal(200);

  const target: EdgeTarget = {
    get: '/api/status',
    post: '/api/command',
    credential: AUTH,
    wrongCredential: 'X-SVC-Key: svc_no\r\n',
    maxBody: 64 * 1024,
  };
  for (const { name, bytes, status, code } of EDGE_ATTACKS)
    it(`A10 B5 B6 B14 G4 ${name} -> ${status} as JSON, node alive`, async () => {
      const answer = await send(bytes(target));
      expect(answer.status).to.equal(status);
      expect(rawBody(answer)).to.include({ code });
      expect(answer.text).to.not.include('100 Continue');
      await alive();
    });

  it('Expect: 100-continue with the key -> 100, then the answer', async () => {
    const answer = await send(
      `POST /api/command HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: 15\r\nExpect: 100-continue\r\n\r\n{"cmd":"dance"}`,
    );
    expect(answer.text).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  const post = async (body: string, headers: Record<string, string> = {}) =>
    node.json('/api/command', {
      method: 'POST',
      body,
      headers: { 'x-svc-key': KEY, 'content-type': 'application/json', ...headers },
    });

  const bodies: readonly [string, string, Record<string, string>, number, string][] = [
    ['malformed JSON', '{"cmd":', {}, 400, 'E_BAD_REQUEST'],
    ['G4 NaN', '{"cmd":NaN}', {}, 400, 'E_BAD_REQUEST'],
    ['G4 constructor', '{"cmd":"arm","constructor":{"prototype":{"polluted":1}}}', {}, 400, 'E_BAD_REQUEST'],
    ['wrong types', '{"cmd":5,"args":{}}', {}, 422, 'E_INVALID_VALUE'],
    ['an unknown member', '{"cmd":"arm","x":1}', {}, 422, 'E_INVALID_VALUE'],
    ['no body', '', {}, 422, 'E_INVALID_VALUE'],
    ['another media type', '{"cmd":"arm"}', { 'content-type': 'text/plain' }, 415, 'E_MEDIA_TYPE'],
    ['a packed body', '{"cmd":"arm"}', { 'content-encoding': 'gzip' }, 415, 'E_MEDIA_TYPE'],
    ['a body over its limit', JSON.stringify({ cmd: 'a'.repeat(70_000) }), {}, 413, 'E_TOO_LARGE'],
  ];
  for (const [path, status] of [
    ['/api/ping?x=1', 422],
    ['/api/status?verbose=1', 422],
    ['/healthz?x=1', 200],
    ['/?utm_source=mail', 200],
  ] as const)
    it(`a member of the query that nobody reads: ${path} -> ${status}`, async () => {
      const answer = await fetch(node.url + path, { headers: { 'x-svc-key': KEY } });
      expect(answer.status).to.equal(status);
      if (status === 422) expect(await answer.text()).to.match(/(?:x|verbose) is not known here/);
    });

  for (const [name, body, headers, status, code] of bodies) {
    it(`${name} -> ${status} ${code}`, async () => {
      const answer = await post(body, headers);
      expect(answer.status).to.equal(status);
      expect(answer.body).to.include({ code });
      expect(JSON.stringify(answer.body)).to.not.match(/node_modules|\.ts:\d|at .*\(/);
      expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
      await alive();
    });
  }

  it('lists every violation with its path', async () => {
    const { body } = await post('{"cmd":5,"args":{}}');
    expect(body['errors']).to.deep.equal([
      { path: '/cmd', message: 'must be text' },
      { path: '/args', message: 'must be a list' },
    ]);
  });

  it('bytes that are not UTF-8 -> 400', async () => {
    const head = `POST /api/command HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: 11\r\n\r\n`;
    const answer = await rawHttp(
      node.port,
      Buffer.concat([Buffer.from(`${head}{"cmd":"`), Buffer.from([0xff]), Buffer.from('"}')]),
    );
    expect(answer.status).to.equal(400);
  });

  it('a body for a route that takes none -> 400', async () => {
    const answer = await send(
      `GET /api/status HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: 2\r\n\r\n{}`,
    );
    expect(answer.status).to.equal(400);
  });

  it('HEAD answers as GET does, without a body', async () => {
    const head = await node.fetch('/api/status', { method: 'HEAD', headers: { 'x-svc-key': KEY } });
    expect(head.status).to.equal(200);
    expect(await head.text()).to.equal('');
    expect(Number(head.headers.get('content-length'))).to.be.greaterThan(100);
    expect((await node.fetch('/api/status', { method: 'HEAD' })).status).to.equal(401);
  });

  it('F1 an upgrade without a key -> 401 on every kind of path, and the connection ends', async () => {
    const ask = (path: string) =>
      send(
        `GET ${path} HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
    for (const path of ['/api/telemetry/ws', '/api/plugins/x/x/y', '/api/config', '/nope', '/healthz']) {
      const answer = await ask(path);
      expect(answer.status, path).to.equal(401);
      expect(answer.closed, path).to.equal(true);
      await node.fetch('/healthz');
    }
  });

  it('B2 B3 marks and hop-by-hop tricks change nothing behind the proxy', async () => {
    for (const headers of [
      'x-svc-principal: x\r\nX_SVC_Principal: y\r\nx-svc-mcp-scopes: admin\r\n',
      'Connection: close, x-svc-principal, x-svc-mcp-scopes\r\n',
      'Connection: x-svc-key\r\n',
    ]) {
      const answer = await send(`GET /api/config HTTP/1.1\r\n${HOST}${AUTH}${headers}\r\n`);
      expect(answer.status, headers).to.equal(200);
    }
  });

  it('answers carry no framework marks and may not be cached', async () => {
    const response = await node.fetch('/healthz');
    expect(response.headers.get('x-powered-by')).to.equal(null);
    expect(response.headers.get('etag')).to.equal(null);
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('CORS headers go to allowed origins only, also on refusals', async () => {
    const good = await node.fetch('/api/status', { headers: { origin: 'http://localhost:4000' } });
    expect(good.status).to.equal(401);
    expect(good.headers.get('access-control-allow-origin')).to.equal('http://localhost:4000');
    expect(good.headers.get('vary')).to.equal('Origin');
    const bad = await node.fetch('/api/status', {
      headers: { origin: 'http://evil.example', 'x-svc-key': KEY },
    });
    expect(bad.headers.get('access-control-allow-origin')).to.equal(null);
  });
});
