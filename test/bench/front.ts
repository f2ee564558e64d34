import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { WebSocket } from 'ws';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { cpuMicros } from './proc.ts';
import { median, type Result } from './result.ts';

const ROUNDS = 5;
const REQUESTS = 20_000;

interface Subject {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** CPU of the server process for one request, in microseconds. */
async function cpuPerRequest(subject: Subject): Promise<number> {
  const before = cpuMicros(subject.pid);
  const run = await autocannon({
    url: subject.url,
    headers: subject.headers,
    connections: 10,
    amount: REQUESTS,
  });
  if (run.non2xx > 0 || run.errors > 0)
    throw new Error(`${subject.name}: ${run.non2xx} answers were not 2xx`);
  return (cpuMicros(subject.pid) - before) / REQUESTS;
}

/** Paths whose answer through the edge is held against node:http sending the same bytes. */
const SAME_BYTES = ['/api/ping', '/api/status', '/api/telemetry', '/api/config'] as const;
const PROXIED = '/api/config';
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'date', 'keep-alive']);
const STREAM_CLIENTS = 20;
const STREAM_MS = 5000;

/** CPU of the front for one more client of the telemetry WebSocket, as a share of a core. */
async function streamShare(node: TestNode, front: number): Promise<number> {
  const share = async (): Promise<number> => {
    const before = cpuMicros(front);
    await delay(STREAM_MS);
    return (cpuMicros(front) - before) / (STREAM_MS * 1000);
  };
  const idle = await share();
  const sockets = await Promise.all(
    Array.from({ length: STREAM_CLIENTS }, async () => {
      const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/telemetry/ws`, {
        headers: { 'x-svc-key': KEY },
      });
      await once(socket, 'open');
      return socket;
    }),
  );
  const busy = await share();
  for (const socket of sockets) socket.terminate();
  return ((busy - idle) / STREAM_CLIENTS) * 100;
}

/** The front with its whole edge, and through the proxy, against node:http alone; interleaved, so that noise hits all alike. */
export async function benchFront(): Promise<readonly Result[]> {
  const raw = fork(join(import.meta.dirname, 'raw-server.ts'));
  const [{ port }] = (await once(raw, 'message')) as [{ port: number }];
  const bareBase = await tempDir();
  const bareScript = join(import.meta.dirname, 'bare-proxy.ts');
  const bareSocket = join(bareBase, 'up.sock');
  const upstream = fork(bareScript, [bareSocket, 'upstream']);
  await once(upstream, 'message');
  const bare = fork(bareScript, [bareSocket, 'proxy']);
  const [{ port: barePort }] = (await once(bare, 'message')) as [{ port: number }];
  const node = await TestNode.start({
    pairing: { key: KEY },
    config: 'logging:\n  level: warn\nmcp:\n  token_accept_enabled: true\n',
  });
  try {
    const front = node.pid('svc-control');
    const key = { 'x-svc-key': KEY };
    await node.post('/api/dashboard/pin/set', { pin: '2468' }, key);
    const { body: signedIn } = await node.post('/api/dashboard/pin/verify', { pin: '2468' });
    const { body: minted } = await node.post('/api/mcp/tokens', { scopes: ['read'] }, key);
    for (const path of SAME_BYTES) {
      const answer = await fetch(`${node.url}${path}`, { headers: key });
      const text = await answer.text();
      raw.send({ path, text });
      await once(raw, 'message');
      if (path !== PROXIED) continue;
      const kept = [...answer.headers].filter(([name]) => !OF_THE_CONNECTION.has(name));
      upstream.send({ text, headers: Object.fromEntries(kept) });
      await once(upstream, 'message');
    }
    const through = (name: string, path: string, headers: Record<string, string>): Subject => ({
      name,
      pid: front,
      url: `${node.url}${path}`,
      headers,
    });
    const telemetry = '/api/telemetry';
    const subjects: readonly Subject[] = [
      ...SAME_BYTES.map((path) => ({
        name: `raw ${path}`,
        pid: raw.pid ?? 0,
        url: `http://127.0.0.1:${port}${path}`,
        headers: {},
      })),
      through('public', '/api/ping', {}),
      through('status', '/api/status', key),
      through('telemetry', telemetry, key),
      through('session', telemetry, { 'x-svc-dashboard-session': String(signedIn['session']) }),
      through('token', telemetry, { 'x-svc-mcp-token': String(minted['token']) }),
      { name: 'bare proxy', pid: bare.pid ?? 0, url: `http://127.0.0.1:${barePort}${PROXIED}`, headers: {} },
      through('proxied', PROXIED, key),
    ];
    const seen = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
    for (let round = -1; round < ROUNDS; round++) {
      for (const subject of subjects) {
        const cost = await cpuPerRequest(subject);
        if (round >= 0) seen.get(subject.name)?.push(cost); // the first round warms up
      }
    }
    const cost = (name: string): number => median(seen.get(name) ?? []);
    const us = (name: string, subject: string): Result => ({ name, value: cost(subject), unit: 'us' });
    // Of the same round each, so that what slows the machine down slows both.
    const times = (name: string, subject: string, than: string, goal: number): Result => ({
      name,
      value: median(
        (seen.get(subject) ?? []).map((value, round) => value / (seen.get(than)?.[round] ?? Number.NaN)),
      ),
      unit: 'x',
      goal,
    });
    return [
      us('node:http alone, CPU per request', 'raw /api/ping'),
      us('public GET /api/ping through the edge, CPU per request', 'public'),
      us('node:http alone, the bytes of GET /api/status', 'raw /api/status'),
      us('keyed GET /api/status', 'status'),
      us('node:http alone, the bytes of GET /api/telemetry', 'raw /api/telemetry'),
      us('keyed GET /api/telemetry', 'telemetry'),
      us('session GET, the same answer', 'session'),
      us('token GET, the same answer', 'token'),
      { name: 'token above key', value: cost('token') - cost('telemetry'), unit: 'us', goal: 60 },
      us('proxied GET /api/config, CPU of the front per request', 'proxied'),
      us('http-proxy-middleware alone, CPU per request', 'bare proxy'),
      times('http-proxy-middleware alone against raw', 'bare proxy', 'raw /api/ping', 6),
      times('public GET against raw', 'public', 'raw /api/ping', 1.6),
      times('keyed GET /api/status against raw', 'status', 'raw /api/status', 2),
      times('keyed GET /api/telemetry against raw', 'telemetry', 'raw /api/telemetry', 2),
      times('proxied GET against http-proxy-middleware alone, same bytes', 'proxied', 'bare proxy', 1.8),
      {
        name: 'one more client of the telemetry WebSocket, share of a core',
        value: await streamShare(node, front),
        unit: '%',
      },
    ];
  } finally {
    for (const child of [raw, bare, upstream]) child.disconnect();
    await removeDir(bareBase);
    await node.stop();
  }
}
