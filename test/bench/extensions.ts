import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { packFolder } from '../../shared/plugins/pack.ts';
import { IDLE } from '../support/extensions.ts';
import { TestNode } from '../support/node.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { tempDir } from '../support/temp.ts';
import { cpuMicros, pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

const IDLE_MS = 10_000;
const ROUNDS = 5;
const REQUESTS = 4000;
const EXTENSIONS = 10;
const LARGE_FILES = 5;
const LARGE_BYTES = 9_900_000;

const SERVE = `
import { createServer } from 'node:http';
createServer((req, res) => res.end('{"ok":true}')).listen(process.env.SVC_PLUGIN_HTTP_SOCKET);
process.on('SIGTERM', () => process.exit(0));
`;

/** Milliseconds from the first process to all of them ready. */
async function started(start: () => Promise<TestNode>): Promise<readonly [TestNode, number]> {
  const at = performance.now();
  const node = await start();
  await node.fetch('/healthz');
  return [node, performance.now() - at];
}

function rssMib(pid: number): number {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}

async function cpuPerRequest(plugins: PluginNode, path: string, pids: readonly number[]): Promise<number> {
  const spent = (): number => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
  const before = spent();
  const run = await autocannon({
    url: `${plugins.node.url}${path}`,
    headers: { ...PluginNode.headers },
    connections: 10,
    amount: REQUESTS,
  });
  if (run.non2xx > 0 || run.errors > 0) throw new Error(`${path}: ${run.non2xx} answers were not 2xx`);
  return (spent() - before) / REQUESTS;
}

/** What extensions cost: an install of 50 MB, a passthrough request, ten that do nothing, a start with ten. */
export async function benchExtensions(): Promise<readonly Result[]> {
  const config = 'logging:\n  level: warn\n';
  const plugins = await PluginNode.start({ config });
  const { node } = plugins;
  try {
    const residual = node.pid('svc-residual');
    const folder = await tempDir();
    await mkdir(join(folder, 'agent'));
    await writeFile(join(folder, 'agent/main.mjs'), IDLE);
    for (let i = 0; i < LARGE_FILES; i++)
      await writeFile(join(folder, `agent/large${i}.bin`), randomBytes(LARGE_BYTES));
    await writeFile(
      join(folder, 'manifest.yaml'),
      'id: org.example.large\nversion: 1.0.0\nname: Large\ncompatibility: {svc_version: ">=0.1.0"}\nagent: {entrypoint: agent/main.mjs, runtime: node}\n',
    );
    const archive = join(folder, 'large.svcplug');
    await packFolder(folder, { sign: { key: plugins.signer.key, signer: plugins.signer.id } }, archive);
    const idleRss = rssMib(residual);
    let peak = idleRss;
    const watch = setInterval(() => {
      peak = Math.max(peak, rssMib(residual));
    }, 20);
    const at = performance.now();
    const { status, body } = await plugins.install(archive);
    const installMs = performance.now() - at;
    clearInterval(watch);
    if (status !== 200) throw new Error(JSON.stringify(body));

    const http = 'org.example.http';
    await plugins.run({
      id: http,
      agent: ['entrypoint: agent/main.mjs', 'runtime: node', 'http: true'],
      files: { 'agent/main.mjs': SERVE },
    });
    const path = `/api/plugins/${http}/x/ok`;
    await plugins.until(
      'it serves',
      async () => plugins.call('GET', path),
      (answer) => answer.status === 200,
    );
    const front = node.pid('svc-control');
    const proxied: number[] = [];
    const passed: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      proxied.push(await cpuPerRequest(plugins, '/api/config', [front, residual]));
      passed.push(await cpuPerRequest(plugins, path, [front, residual]));
    }
    await plugins.done('DELETE', `/api/plugins/${http}`);
    await plugins.done('DELETE', '/api/plugins/org.example.large');

    const share = async (): Promise<number> => {
      const before = cpuMicros(residual);
      await delay(IDLE_MS);
      return ((cpuMicros(residual) - before) / (IDLE_MS * 1000)) * 100;
    };
    await delay(2000);
    const without = await share();
    const pssBefore = pssMib(residual);
    for (let i = 0; i < EXTENSIONS; i++) await plugins.run({ id: `org.example.idle${i}` });
    await delay(2000);
    const withTen = await share();
    const pssAfter = pssMib(residual);

    const starts: number[][] = [[], []];
    let current = node;
    for (let round = 0; round < ROUNDS; round++) {
      for (const on of [true, false]) {
        for (let i = 0; i < EXTENSIONS; i++) {
          const verb = on ? 'enable' : 'disable';
          await current.post(`/api/plugins/org.example.idle${i}/${verb}`, {}, PluginNode.headers);
        }
        await current.stop({ keep: true });
        const [next, ms] = await started(async () => {
          const again = await TestNode.resume(current, {});
          await again.until((services) => services.every(({ state }) => state === 'running'));
          return again;
        });
        starts[on ? 0 : 1]?.push(ms);
        current = next;
      }
    }
    await current.stop();
    return [
      { name: 'install of 50 MB', value: installMs / 1000, unit: 's', goal: 5 },
      { name: 'RSS of svc-residual meanwhile, growth', value: peak - idleRss, unit: 'MiB', goal: 64 },
      {
        name: 'CPU of a passthrough GET / a proxied GET',
        value: median(passed) / median(proxied),
        unit: 'ratio',
        goal: 1.6,
        note: `${median(passed).toFixed(0)} / ${median(proxied).toFixed(0)} us in front and residual`,
      },
      {
        name: 'CPU of svc-residual for ten idle extensions',
        value: withTen - without,
        unit: '% core',
        goal: 5,
      },
      { name: 'PSS of svc-residual for ten idle extensions', value: pssAfter - pssBefore, unit: 'MiB' },
      {
        name: 'start of the node with ten that run, later by',
        value: median(starts[0] ?? []) - median(starts[1] ?? []),
        unit: 'ms',
        goal: 300,
      },
    ];
  } finally {
    if (node.supervisor.exitCode === null) await node.stop();
  }
}
