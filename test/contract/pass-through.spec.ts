import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request, type Server } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { Origins } from '../../front/control/edge/origins.ts';
import { PrincipalWatch } from '../../front/control/edge/principal-watch.ts';
import { ResidualProxy } from '../../front/control/forward/residual-proxy.ts';
import { Records } from '../../front/control/middleware/records.ts';
import { FrontServer } from '../../front/control/server.ts';
import { OpenSockets } from '../../front/control/sockets/open-sockets.ts';
import type { UpgradeHandler } from '../../residual/app/base.ts';
import { createResidualServer } from '../../residual/app/server.ts';
import { connectionProof } from '../../shared/auth/principal-mark.ts';
import { PeerBudgets } from '../../shared/http/edge/rate.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { AnyHandler, Call } from '../../shared/routes/handler.ts';
import type { Row } from '../../shared/routes/row.ts';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { edgeState, KEY } from '../support/edge.ts';
import { SECRET } from '../support/front.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const SOCKET = 'vision.detections.ws.ws';
const UPLOAD = 'plugins.install.post';
const BODY_MS = 400;
const TIMEOUT_MS = 400;

/** The table with code behind every row, and short times. */
const rows = (ROWS as readonly Row[]).map(
  (row): Row => ({
    ...row,
    built: true,
    limits: { ...row.limits, timeoutMs: TIMEOUT_MS, bodyMs: row.id === UPLOAD ? row.limits.bodyMs : BODY_MS },
  }),
);

/** What no row that is built today does: a WebSocket and a streamed body go through the front to the residual. */
describe('through the front to the residual', () => {
  const log = createLogger('test', 'fatal');
  const handlers = new Map<string, AnyHandler>();
  const upgrades = new Map<string, UpgradeHandler>();
  let holds = true;
  let dir: string;
  let front: FrontServer;
  let proxy: ResidualProxy;
  let principalWatch: PrincipalWatch;
  let residual: Server;
  let port: number;

  before(async () => {
    dir = await tempDir();
    residual = createResidualServer({
      rows,
      handlers: new Map(rows.map(({ id }) => [id, (call) => handlers.get(id)?.(call)])),
      upgrades,
      proof: connectionProof(SECRET),
      end: async () => [],
      log,
    });
    residual.listen(join(dir, 'residual.sock'));
    await once(residual, 'listening');
    principalWatch = new PrincipalWatch(() => () => holds);
    const budgets = new PeerBudgets(
      () => performance.now(),
      () => undefined,
    );
    proxy = new ResidualProxy({
      socketPath: join(dir, 'residual.sock'),
      proof: connectionProof(SECRET) ?? '',
      now: () => performance.now(),
      principalWatch,
      log,
    });
    front = new FrontServer({
      state: edgeState({ matcher: compileTable(rows).matcher, features: new Set(FEATURES) }),
      origins: new Origins({ trusts: () => false }, 1024),
      budgets,
      records: new Records(budgets, {
        refused: () => undefined,
        announce: () => ({ written: async () => true, settle: () => undefined }),
        state: { lost: 0, problem: null, stalled: null, disk: null, broken: null },
      }),
      spend: () => true,
      seen: () => undefined,
      handlers: new Map(),
      socketHandlers: new Map(),
      sockets: new OpenSockets(log, principalWatch),
      principalWatch,
      proxy,
      relay: null,
      longestBodyMs: 900_000,
      drainMs: 100,
      log,
    });
    proxy.start();
    await front.listenTcp('127.0.0.1', 0);
    ({ port } = front);
  });
  after(async () => {
    await front.stop();
    proxy.stop();
    principalWatch.stop();
    residual.closeAllConnections();
    residual.close();
    await removeDir(dir);
  });

  describe('a WebSocket', () => {
    const echo = new WebSocketServer({ noServer: true });
    const seen: Call<Row>[] = [];
    before(() => {
      upgrades.set(SOCKET, (call, req, socket, head) => {
        seen.push(call);
        echo.handleUpgrade(req, socket, head, (ws) => ws.on('message', (data) => ws.send(data)));
      });
    });
    const open = (
      headers: Record<string, string> = { 'x-svc-key': KEY },
      path = '/api/vision/detections/ws',
    ) => new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    const refusal = async (socket: WebSocket): Promise<{ status: number | undefined; body: string }> => {
      socket.on('error', () => undefined);
      const [req, res] = (await once(socket, 'unexpected-response')) as [ClientRequest, IncomingMessage];
      const body = Buffer.concat(await Readable.from(res).toArray()).toString();
      req.destroy();
      return { status: res.statusCode, body };
    };

    it('is decided upon first, and the residual is told what was decided', async () => {
      expect((await refusal(open({}))).status).to.equal(401);
      expect(seen).to.deep.equal([]);
      const socket = open(undefined, '/api/vision/detections/ws?a=1');
      await once(socket, 'open');
      expect(seen.pop()).to.deep.include({ query: 'a=1', forced: false });
      socket.send('there and back');
      const [answer] = (await once(socket, 'message')) as [Buffer];
      expect(answer.toString()).to.equal('there and back');
      socket.close();
      await once(socket, 'close');
    });

    it('ends on both sides with the principal that opened it', async () => {
      const socket = open();
      await once(socket, 'open');
      const [behind] = echo.clients;
      if (behind === undefined) throw new Error('the residual has no socket');
      const ended = Promise.all([once(socket, 'close'), once(behind, 'close')]);
      holds = false;
      principalWatch.recheck();
      await ended;
      holds = true;
    });

    it('gets the error of a residual that refuses it, and 504 from one that does not answer', async () => {
      const other = '/api/plugins/example/x/ws';
      const refused = await refusal(open(undefined, other));
      expect(refused.status).to.equal(501);
      expect(JSON.parse(refused.body)).to.include({ code: 'E_NOT_IMPLEMENTED' });

      upgrades.set(SOCKET, () => undefined);
      const late = await refusal(open());
      expect(late.status).to.equal(504);
      expect(JSON.parse(late.body)).to.include({ code: 'E_TIMEOUT' });
    });
  });

  describe('a body', () => {
    const install = (headers: Record<string, string | number> = {}): ClientRequest =>
      request({
        port,
        method: 'POST',
        path: '/api/plugins/install',
        headers: { 'x-svc-key': KEY, 'content-type': 'application/octet-stream', ...headers },
      });
    const answerTo = async (
      req: ClientRequest,
    ): Promise<{ status: number; body: Record<string, unknown> }> => {
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      const body = Buffer.concat(await Readable.from(res).toArray()).toString();
      return { status: res.statusCode ?? 0, body: JSON.parse(body) as Record<string, unknown> };
    };

    it('of 50 MB streams: the residual reads its beginning before its end is sent', async () => {
      const chunk = randomBytes(1_000_000);
      const first = Promise.withResolvers<void>();
      handlers.set(UPLOAD, async ({ body }) => {
        const hash = createHash('sha256');
        for await (const part of body as Readable) {
          first.resolve();
          hash.update(part as Buffer);
        }
        return { sha256: hash.digest('hex') };
      });
      const req = install();
      req.write(chunk);
      await first.promise;
      for (let sent = 1; sent < 50; sent++) if (!req.write(chunk)) await once(req, 'drain');
      req.end();
      const whole = createHash('sha256');
      for (let sent = 0; sent < 50; sent++) whole.update(chunk);
      expect(await answerTo(req)).to.deep.equal({ status: 200, body: { sha256: whole.digest('hex') } });
    });

    it('may take longer than the answer may, if its row says so', async () => {
      handlers.set(UPLOAD, async ({ body }) => ({ parts: (await (body as Readable).toArray()).length > 0 }));
      const req = install();
      req.write('begins');
      const later = new AbortController();
      setTimeout(() => later.abort(), TIMEOUT_MS + 400);
      await once(later.signal, 'abort');
      req.end('ends');
      expect(await answerTo(req)).to.deep.equal({ status: 200, body: { parts: true } });
    });

    it('without a length ends at the limit of its row with 413', async () => {
      handlers.set(UPLOAD, async ({ body }) => (await (body as Readable).toArray()).length);
      const limit = rows.find(({ id }) => id === UPLOAD)?.limits.bodyBytes ?? 0;
      const req = install();
      req.on('error', () => undefined); // the rest is not read
      const answer = answerTo(req);
      const chunk = Buffer.alloc(1_000_000);
      for (let sent = 0; sent <= limit && !req.destroyed; sent += chunk.length)
        if (!req.write(chunk)) await Promise.race([once(req, 'drain'), answer]);
      expect(await answer).to.deep.include({ status: 413 });
      req.destroy();
    });

    it('in JSON that does not come in its time is 408, and nobody is asked', async () => {
      handlers.set('config.put', () => expect.fail('half a body'));
      const req = request({
        port,
        method: 'PUT',
        path: '/api/config',
        headers: { 'x-svc-key': KEY, 'content-type': 'application/json', 'content-length': 100 },
      });
      req.write('{"key":');
      const { status, body } = await answerTo(req);
      expect([status, body['code']]).to.deep.equal([408, 'E_REQUEST_TIMEOUT']);
      req.destroy();
    });

    it('that does not come in its time is 408, and the residual is told that it broke off', async () => {
      const broken = Promise.withResolvers<unknown>();
      handlers.set('maps.name.put', async ({ body }) =>
        (body as Readable).toArray().catch((error: unknown) => broken.resolve(error)),
      );
      const req = request({
        port,
        method: 'PUT',
        path: '/api/maps/field.pmtiles',
        headers: { 'x-svc-key': KEY, 'content-length': 10 },
      });
      req.write('half');
      expect(await answerTo(req)).to.deep.include({ status: 408 });
      expect(await broken.promise).to.include({ code: 'E_BAD_REQUEST' });
      req.destroy();
    });
  });

  it('a request that waits for a connection is late as soon as any other', async () => {
    handlers.set('config.get', async () => new Promise(() => undefined));
    const from = performance.now();
    const statuses = await Promise.all(
      Array.from({ length: 140 }, async () => {
        const response = await fetch(`http://127.0.0.1:${port}/api/config`, {
          headers: { 'x-svc-key': KEY },
        });
        await response.body?.cancel();
        return response.status;
      }),
    );
    expect(new Set(statuses)).to.deep.equal(new Set([504]));
    expect(performance.now() - from).to.be.lessThan(2 * TIMEOUT_MS + 15_000);
  });
});
