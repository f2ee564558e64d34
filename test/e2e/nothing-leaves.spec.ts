import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { callTool, connectStdio } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { ELSEWHERE, type Inside, watchLeaving, whatLeft } from '../support/leaving.ts';
import { NO_SYSTEM_BUS, noNamespaces } from '../support/netns.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { KEYED } from '../support/video-node.ts';

const run = promisify(execFile);
const NAME = `svcq${process.pid}`;
/** A library that asks for news does so soon, and again: that of models asked each second. */
const WATCHED_MS = 30_000;
const PREFIX = ['ip', 'netns', 'exec', NAME] as const;
const inside: Inside = async (...command) => (await run('ip', [...PREFIX.slice(1), ...command])).stdout;
const MDNS_ON = 'discovery:\n  mdns: true\n';

describe('what leaves a drone, a ground station, a hub and a connector', function () {
  this.timeout(180_000);
  let home: string;
  let node: TestNode;
  let ground: TestNode;
  let hub: ChildProcess | null = null;
  let connector: Client | null = null;
  before(async function () {
    if (noNamespaces() !== null) return this.skip();
    await run('ip', ['netns', 'add', NAME]);
    await watchLeaving(inside);
    await run('mkdir', ['-p', `/etc/netns/${NAME}`]);
    await run('sh', ['-c', `echo nameserver ${ELSEWHERE} >/etc/netns/${NAME}/resolv.conf`]);
    const common = { pairing: { key: KEY }, env: NO_SYSTEM_BUS, prefix: PREFIX } as const;
    const radio = await freePort();
    const drone = `video:\n  source: test\n  radio: '127.0.0.1:${radio}'\nvision:\n  detector: marker\n`;
    node = await TestNode.start({ ...common, config: drone + MDNS_ON });
    ground = await TestNode.start({
      ...common,
      simulated: false,
      config: `agent:\n  profile: ground-station\nvideo:\n  source: 'rtp:127.0.0.1:${radio}'\n${MDNS_ON}`,
    });
    home = await tempDir();
    hub = await demoHub(home);
    connector = await connectStdio({
      args: ['--target', 'agent', `127.0.0.1:${node.port}`],
      home,
      key: KEY,
      prefix: PREFIX,
    });
  });
  after(async () => {
    await connector?.close();
    if (hub !== null) {
      hub.kill('SIGTERM');
      await once(hub, 'exit');
    }
    await Promise.all([node?.stop(), ground?.stop()]);
    await run('ip', ['netns', 'del', NAME]).catch(() => undefined);
    await run('rm', ['-rf', `/etc/netns/${NAME}`]);
    if (home !== undefined) await removeDir(home);
  });

  /** With its broker, as README starts it. */
  async function demoHub(dir: string): Promise<ChildProcess> {
    const [program, ...before] = PREFIX;
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const flags = ['--port', '--https-port', '--broker-port'].flatMap((flag, index) => [
      flag,
      `${ports[index]}`,
    ]);
    const args = [...before, process.execPath, join(ROOT, 'bin/svc-hub.js'), '--demo', ...flags];
    const child = spawn(program, args, { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] });
    for await (const line of createInterface(child.stdout)) if (/Ctrl-C/.test(line)) break;
    child.stdout.resume();
    return child;
  }

  it('is what their configurations name, with every feature at work: here, their announcements by mDNS', async () => {
    const ask = async ({ port }: TestNode, path: string): Promise<string> => {
      const key = `x-svc-key: ${KEYED['x-svc-key']}`;
      const curl = ['curl', '-s', '-m', '10', '-H', key, `http://127.0.0.1:${port}${path}`];
      return inside(...curl);
    };
    await askAgain(
      'a detection',
      async () => ask(node, '/api/vision/detections/latest'),
      (text) => text.includes('"model_id":"marker"'),
    );
    const until = performance.now() + WATCHED_MS;
    while (performance.now() < until) {
      for (const path of [
        '/api/status',
        '/api/video',
        '/api/v1/diagnostics',
        '/api/update',
        '/api/maps',
        '/',
      ])
        await Promise.all([ask(node, path), ask(ground, path)]);
      if (connector !== null) await callTool(connector, 'status_get');
      await delay(1000);
    }
    const { mdns, other } = await whatLeft(inside);
    expect(mdns, 'the count works').to.not.deep.equal([]);
    expect(other).to.deep.equal([]);
  });

  it('cannot come from the detector, which has no network', async () => {
    const networkOf = async (pid: number): Promise<string> => readlink(`/proc/${pid}/ns/net`);
    expect(await networkOf(node.pid('svc-vision'))).to.not.equal(await networkOf(node.pid('svc-video')));
    const { stdout } = await run('nsenter', ['-t', String(node.pid('svc-vision')), '-n', 'ip', '-o', 'link']);
    expect(stdout.trim().split('\n'), stdout).to.have.length(1);
    expect(stdout).to.include('lo:').and.include('DOWN');
  });
});
