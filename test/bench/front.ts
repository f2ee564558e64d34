import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { cpuMicros } from './proc.ts';
import { median, type Result } from './result.ts';

const ROUNDS = 5;
const REQUESTS = 30_000;

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
    const commands = `${node.url}/api/commands`;
    const subjects: readonly Subject[] = [
      { name: 'raw', pid: raw.pid ?? 0, url: `http://127.0.0.1:${port}/api/ping`, headers: {} },
      { name: 'raw large', pid: raw.pid ?? 0, url: `http://127.0.0.1:${port}/api/commands`, headers: {} },
      { name: 'public', pid: front, url: `${node.url}/api/ping`, headers: {} },
      { name: 'keyed', pid: front, url: `${node.url}/api/commands`, headers: key },
      {
        name: 'session',
        pid: front,
        url: commands,
        headers: { 'x-svc-dashboard-session': String(signedIn['session']) },
      },
      { name: 'token', pid: front, url: commands, headers: { 'x-svc-mcp-token': String(minted['token']) } },
      { name: 'bare proxy', pid: bare.pid ?? 0, url: `http://127.0.0.1:${barePort}/api/config`, headers: {} },
      { name: 'proxied', pid: front, url: `${node.url}/api/config`, headers: key },
    ];
    const seen = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
    for (let round = -1; round < ROUNDS; round++) {
      for (const subject of subjects) {
        const cost = await cpuPerRequest(subject);
        if (round >= 0) seen.get(subject.name)?.push(cost); // the first round warms up
      }
    }
    const cost = (name: string): number => median(seen.get(name) ?? []);
    const base = cost('raw');
    return [
      { name: 'node:http alone, CPU per request', value: base, unit: 'us' },
      { name: 'public GET through the edge, CPU per request', value: cost('public'), unit: 'us' },
      { name: 'node:http alone, the 2.8 kB answer of the keyed GET', value: cost('raw large'), unit: 'us' },
      { name: 'keyed GET through the edge, CPU per request', value: cost('keyed'), unit: 'us' },
      { name: 'session GET, the same answer', value: cost('session'), unit: 'us' },
      { name: 'token GET, the same answer', value: cost('token'), unit: 'us' },
      { name: 'token above public', value: cost('token') - cost('public'), unit: 'us', goal: 60 },
      { name: 'proxied GET, CPU of the front per request', value: cost('proxied'), unit: 'us' },
      { name: 'http-proxy-middleware alone, CPU per request', value: cost('bare proxy'), unit: 'us' },
      { name: 'http-proxy-middleware alone against raw', value: cost('bare proxy') / base, unit: 'x' },
      { name: 'public GET against raw', value: cost('public') / base, unit: 'x', goal: 1.6 },
      { name: 'keyed GET against raw', value: cost('keyed') / cost('raw large'), unit: 'x', goal: 1.6 },
      { name: 'proxied GET against raw', value: cost('proxied') / base, unit: 'x', goal: 6 },
    ];
  } finally {
    for (const child of [raw, bare, upstream]) child.disconnect();
    await removeDir(bareBase);
    await node.stop();
  }
}
