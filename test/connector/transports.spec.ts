import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { BearerAuth } from '../../connector/authenticate.ts';
import { LanPlane } from '../../connector/planes/plane.ts';
import { HttpFace } from '../../connector/transports/http.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { callTool, connectStdio, HttpConnector, PROGRAM } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { gone } from '../support/events.ts';
import { StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Json = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

/** Sends one request, by hand. */
async function send(url: string, method: string, headers: Headers, body?: Json): Promise<IncomingMessage> {
  const asked = request(url, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...headers,
    },
  });
  asked.end(body === undefined ? undefined : JSON.stringify({ jsonrpc: '2.0', ...body }));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

/** What a client of the 2025 protocol says of itself. */
const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 't', version: '1' },
} as const;

/** A session of the 2025 protocol. @returns the headers of its requests */
async function openSession(url: string, token: string): Promise<Headers> {
  const authorization = `Bearer ${token}`;
  const answer = await send(url, 'POST', { authorization }, { id: 1, method: 'initialize', params: CLIENT });
  await text(answer);
  const headers = { authorization, 'mcp-session-id': String(answer.headers['mcp-session-id']) };
  await text(await send(url, 'POST', headers, { method: 'notifications/initialized' }));
  return headers;
}

/** The first event of a stream whose data fits, with its id. */
async function event(stream: IncomingMessage, fits: string): Promise<{ id: string; data: string }> {
  let id = '';
  for await (const line of createInterface(stream)) {
    if (line.startsWith('id: ')) id = line.slice('id: '.length);
    if (line.startsWith('data: ') && line.includes(fits)) return { id, data: line.slice('data: '.length) };
  }
  throw new Error(`the stream ended without ${fits}`);
}

describe('the transports of the connector', function () {
  this.timeout(120_000);
  let home: string;
  let stub: StubNode;
  let now = 0;
  /** A telemetry that is new each time. */
  const moving = (): void => {
    let count = 0;
    stub.answers.set('GET /api/telemetry', () => [200, { count: count++ }]);
  };
  beforeEach(async () => {
    home = await tempDir();
    stub = await StubNode.start();
  });
  afterEach(async () => {
    await stub.leave();
    await removeDir(home);
  });

  for (const [who, launch] of [
    ['with the pairing key', (): string[] => []],
    ['with a token', (): string[] => ['--token', stub.token('read')]],
  ] as const) {
    it(`stdio ${who} starts and stays up while the node is away, and learns its id later`, async () => {
      await stub.leave();
      const args = ['--target', 'agent', stub.url, ...launch()];
      const client = await connectStdio({ args, home, key: KEY });
      const names = async (): Promise<string> => JSON.stringify((await client.listResources()).resources);
      expect(await names()).to.include('svc://local/status');
      expect((await callTool(client, 'status_get')).value).to.include({ reason: 'rest_down' });
      const changed = new Promise<void>((resolve) => {
        client.setNotificationHandler('notifications/resources/list_changed', () => resolve());
      });
      await stub.listen();
      expect((await callTool(client, 'status_get')).value).to.include({ version: '1' });
      await changed;
      expect(await names()).to.include('svc://stub/status');
      expect((await callTool(client, 'status_get', { node: 'stub' })).isError).to.equal(false);
      expect((await callTool(client, 'status_get', { node: 'local' })).isError, 'an alias').to.equal(false);
      await client.close();
    });
  }

  it('declares no log messages, since it sends none', async () => {
    const client = await connectStdio({ args: ['--target', 'agent', stub.url], home, key: KEY });
    expect(client.getServerCapabilities()).to.not.have.property('logging');
    await client.close();
  });

  it('errors have the codes of the protocol', async () => {
    const client: Client = await connectStdio({ args: ['--target', 'agent', stub.url], home, key: KEY });
    const code = async (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        () => 'no error',
        (error: unknown) => (error as { code?: unknown }).code,
      );
    const uri = (kind: string, node = 'stub'): { uri: string } => ({ uri: `svc://${node}/${kind}` });
    const seen = {
      tool: await code(client.callTool({ name: 'no.such' })),
      resource: await code(client.readResource(uri('nothing'))),
      node: await code(client.readResource(uri('status', 'elsewhere'))),
      subscription: await code(client.subscribeResource(uri('nothing'))),
      unfollowed: await code(client.subscribeResource(uri('system'))),
      prompt: await code(client.getPrompt({ name: 'no_such' })),
      argument: await code(client.getPrompt({ name: 'triage_issue', arguments: { node: 'stub' } })),
      completion: await code(
        client.complete({
          ref: { type: 'ref/prompt', name: 'no_such' },
          argument: { name: 'node', value: '' },
        }),
      ),
    };
    for (const [what, got] of Object.entries(seen)) expect(got, what).to.equal(-32602);
    await stub.leave();
    expect(await code(client.readResource(uri('status')))).to.equal(-32603);
    await client.close();
  });

  describe('over HTTP', () => {
    let connector: HttpConnector;
    beforeEach(async () => {
      connector = await HttpConnector.start({ args: ['--target', 'agent', stub.url], home, key: KEY });
    });
    afterEach(async () => connector[Symbol.asyncDispose]());

    it('a stream that broke goes on after the last event that came', async () => {
      moving();
      const headers = await openSession(connector.url, stub.token('read'));
      const first = await send(connector.url, 'GET', headers);
      const params = { uri: 'svc://stub/telemetry' };
      await text(
        await send(connector.url, 'POST', headers, { id: 2, method: 'resources/subscribe', params }),
      );
      const { id } = await event(first, 'resources/updated');
      first.destroy();
      const asked = Promise.withResolvers<void>();
      let more = 0;
      stub.answers.set('GET /api/telemetry', () => {
        if (++more === 3) asked.resolve();
        return [200, { later: more }];
      });
      await asked.promise; // two more updates were missed
      const again = await send(connector.url, 'GET', { ...headers, 'last-event-id': id });
      const next = await event(again, 'resources/updated');
      again.destroy();
      const number = (of: string): number => Number(of.split('_').at(-1));
      expect(number(next.id)).to.equal(number(id) + 1);
    });

    it('a call that is cancelled ends its stream; nothing of it is left', async () => {
      const asked = Promise.withResolvers<void>();
      stub.answers.set('GET /api/video/snapshot', () => {
        asked.resolve();
        return 'hang';
      });
      const headers = await openSession(connector.url, stub.token('read'));
      const params = { name: 'video_snapshot', arguments: {} };
      const stream = await send(connector.url, 'POST', headers, { id: 5, method: 'tools/call', params });
      const told = text(stream);
      await asked.promise;
      const began = performance.now();
      await text(
        await send(connector.url, 'POST', headers, {
          method: 'notifications/cancelled',
          params: { requestId: 5 },
        }),
      );
      expect(await told).to.not.include('"id":5');
      expect(performance.now() - began).to.be.below(3000); // the node has 8 s
      // The same id is another call.
      stub.answers.set('GET /api/video/snapshot', [503, { detail: 'No picture yet.', code: 'E_NO_FRAME' }]);
      const again = await send(connector.url, 'POST', headers, { id: 5, method: 'tools/call', params });
      expect(await text(again))
        .to.include('No picture yet.')
        .and.not.include('does not answer');
    });

    for (const accept of ['*/*', 'application/*, text/*'])
      it(`takes a client that accepts ${accept}`, async () => {
        const authorization = `Bearer ${stub.token('read')}`;
        const answer = await fetch(connector.url, {
          method: 'POST',
          headers: { authorization, accept, 'content-type': 'application/json' },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'initialize',
            params: CLIENT,
          }),
        });
        expect([answer.status, (await answer.text()).includes('"serverInfo"')]).to.deep.equal([200, true]);
      });

    it('two Authorization headers are none, whichever is right', async () => {
      const right = `Bearer ${stub.token('read')}`;
      const ask = async (authorization: readonly string[]): Promise<number> => {
        const answer = await send(connector.url, 'POST', { authorization } as never, {
          id: 1,
          method: 'initialize',
          params: CLIENT,
        });
        await text(answer);
        return answer.statusCode ?? 0;
      };
      expect(await ask([right])).to.equal(200);
      expect(await ask([right, 'Bearer x'])).to.equal(401);
      expect(await ask(['Bearer x', right])).to.equal(401);
    });

    it('a subscription of the 2026 protocol is served with the credential of the subscriber', async () => {
      const tokens = new Set<unknown>();
      stub.answers.set('GET /api/telemetry', ({ headers }) => {
        tokens.add(headers['x-svc-mcp-token'] ?? 'the key of the connector');
        return [200, { count: tokens.size + Math.random() }];
      });
      const token = stub.token('read');
      const stream = await send(
        connector.url,
        'POST',
        {
          authorization: `Bearer ${token}`,
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'subscriptions/listen',
        },
        {
          id: 1,
          method: 'subscriptions/listen',
          params: {
            notifications: { resourceSubscriptions: ['svc://stub/telemetry'] },
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          },
        },
      );
      await event(stream, 'resources/updated');
      stream.destroy();
      expect([...tokens]).to.deep.equal([token]);
    });
  });

  /** The face of HTTP alone, with `now` as its clock, while `use` runs. */
  async function withFace(use: (url: string) => Promise<void>): Promise<void> {
    const plane = new LanPlane('agent', [{ id: 'stub', name: null, baseUrl: stub.url, key: KEY }]);
    const bearer = new BearerAuth(plane, () => performance.now(), Date.now);
    const face = new HttpFace({
      depsOf: () => ({
        calls: {} as never,
        plane,
        resources: { forget: () => undefined } as never,
        prompts: () => [],
        connected: new Set(),
        stateKey: new Uint8Array(32),
        questions: {} as never,
      }),
      transport: 'http',
      authenticate: async (req) => bearer.authenticate(req),
      hosts: null,
      health: async () => Promise.resolve({ ok: true }),
      onRefused: () => undefined,
      now: () => now,
      log: createLogger('svc-mcp', 'error'),
    });
    face.server.listen(0, '127.0.0.1');
    await once(face.server, 'listening');
    const address = face.server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}/mcp`;
    try {
      await use(url);
    } finally {
      await face.stop();
    }
  }

  const ping = async (url: string, headers: Headers): Promise<number | undefined> => {
    const answer = await send(url, 'POST', headers, { id: 9, method: 'ping' });
    await text(answer);
    return answer.statusCode;
  };

  it('a session with an open stream outlives ten minutes without a request; one without does not', async () => {
    await withFace(async (url) => {
      const followed = await openSession(url, stub.token('read'));
      const stream = await send(url, 'GET', followed);
      const left = await openSession(url, stub.token('read'));
      now += 11 * 60_000;
      await openSession(url, stub.token('read')); // looks for those that nobody uses
      expect([await ping(url, followed), await ping(url, left)]).to.deep.equal([200, 404]);
      stream.destroy();
    });
  });

  it('140 sessions of one caller, with their streams, end its own oldest and nobody else’s', async () => {
    await withFace(async (url) => {
      const other = await openSession(url, stub.token('read'));
      const idle = await openSession(url, stub.token('read'));
      const stream = await send(url, 'GET', other);
      const flood = stub.token('read');
      const opened: Headers[] = [];
      const streams: IncomingMessage[] = [];
      for (let n = 0; n < 14; n++)
        for (const headers of await Promise.all(
          Array.from({ length: 10 }, async () => openSession(url, flood)),
        )) {
          now++;
          opened.push(headers);
          streams.push(await send(url, 'GET', headers));
        }
      expect([await ping(url, other), await ping(url, idle)]).to.deep.equal([200, 200]);
      expect(stream.readableEnded || stream.destroyed).to.equal(false);
      const alive = await Promise.all(opened.map(async (headers) => ping(url, headers)));
      expect(alive.filter((status) => status === 200)).to.have.length(16);
      expect(alive.slice(-10)).to.deep.equal(Array.from({ length: 10 }, () => 200));
      // A hundred others get in: none of them costs one who has a single session.
      const many = await Promise.all(
        Array.from({ length: 115 }, async () => openSession(url, stub.token('read'))),
      );
      expect(await ping(url, other)).to.equal(200);
      for (const headers of many) expect(await ping(url, headers)).to.equal(200);
      for (const each of [stream, ...streams]) each.destroy();
    });
  });

  it('one whose client is killed in the middle of a call ends, and leaves nothing behind', async () => {
    const asked = Promise.withResolvers<void>();
    stub.answers.set('GET /api/video/snapshot', () => {
      asked.resolve();
      return 'hang';
    });
    const client = spawn(
      process.execPath,
      [
        '-e',
        `const child = require('node:child_process').spawn(process.execPath, ${JSON.stringify([PROGRAM, '--target', 'agent', stub.url])}, { stdio: ['pipe', 'pipe', 'ignore'] });
         console.log(child.pid); process.stdin.pipe(child.stdin); child.stdout.pipe(process.stdout);`,
      ],
      {
        env: {
          PATH: process.env['PATH'],
          HOME: home,
          SVC_RUN_DIR: join(home, 'run'),
          SVC_MCP_AGENT_KEY: KEY,
        },
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
    const pid = Number((await lines.next()).value);
    const say = (message: Json): boolean =>
      client.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    say({
      id: 1,
      method: 'initialize',
      params: CLIENT,
    });
    await lines.next();
    say({ method: 'notifications/initialized' });
    say({ id: 2, method: 'tools/call', params: { name: 'video_snapshot', arguments: {} } });
    await asked.promise;
    client.kill('SIGKILL');
    await gone(pid);
    expect(existsSync(join(home, 'run'))).to.equal(false);
  });

  it('an older Node hands over to another process, and when it is killed nothing stays on the port', async () => {
    const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.11.0"}})';
    const args = ['--target', 'agent', stub.url, '--transport', 'http', '--http-port', '0', '--no-mdns'];
    const wrapper = spawn(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(old)}`, PROGRAM, ...args],
      {
        env: { PATH: process.env['PATH'], HOME: home, SVC_RUN_DIR: home, SVC_ETC_DIR: home },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let port = 0;
    for await (const line of createInterface(wrapper.stderr)) {
      port = Number(/listening on http:\S+:(\d+)\/mcp/.exec(line)?.[1] ?? port);
      if (port !== 0) break;
    }
    const children = await text(
      spawn('pgrep', ['-P', String(wrapper.pid)], { stdio: ['ignore', 'pipe', 'ignore'] }).stdout,
    );
    const child = Number(children.trim());
    expect(child).to.be.above(1);
    wrapper.kill('SIGKILL');
    await gone(child);
    const refused = connectTcp(port, '127.0.0.1');
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).to.equal('ECONNREFUSED');
  });
});
