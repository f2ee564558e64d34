/** Numbers of point 4, before and after: node --experimental… test support of the tree in cwd. */
import { readFileSync, statSync, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
const root = process.cwd();
const { Broker } = await import(join(root, 'test/support/mosquitto.ts'));
const folder = await mkdtemp(join(tmpdir(), 'attack-'));
const rss = (pid: number): string => {
  const t = readFileSync(`/proc/${pid}/status`, 'utf8');
  return `${Math.round(Number(/VmRSS:\s+(\d+)/.exec(t)?.[1]) / 1024)} MiB (peak ${Math.round(Number(/VmHWM:\s+(\d+)/.exec(t)?.[1]) / 1024)})`;
};
const broker = await Broker.start(folder, 'F');
const hub = await broker.client('hub');
try {
  console.log('start', rss(broker.pid));
  // 1. retained
  let node = await broker.client('node-a');
  node.on('error', () => undefined);
  let taken = 0; const reasons: Record<string, number> = {};
  const mb = Buffer.alloc(Number(process.env.SIZE ?? 1_000_000), 'x');
  for (let n = 1; n <= 300 && node.connected; n++) {
    await new Promise<void>((resolve) => {
      const t = setTimeout(resolve, 3000);
      node.publish(`svc/1/F/x${n}/reply/node-a`, mb, { qos: 1, retain: true }, (e: any) => { clearTimeout(t); const r = e ? String(e.code ?? e.message) : 'ok'; reasons[r] = (reasons[r] ?? 0) + 1; if (!e) taken++; resolve(); });
    });
    if (!node.connected && n < 5) { await new Promise((r) => setTimeout(r, 50)); node = await broker.client('node-a'); node.on('error', () => undefined); }
  }
  process.kill(broker.pid, 'SIGUSR1');
  await new Promise((r) => setTimeout(r, 1500));
  const db = join(folder, 'mosquitto', 'mosquitto.db');
  console.log('300 x 1 MB retained: taken', taken, JSON.stringify(reasons), rss(broker.pid), 'disk', existsSync(db) ? Math.round(statSync(db).size / 1e6) : 0, 'MB');
  node.end(true);
  // 2. calls to another node
  const victim = await broker.client('node-b');
  let bytes = 0;
  victim.on('message', (_t: string, p: Buffer) => { bytes += p.length; });
  await victim.subscribeAsync(['svc/1/F/node-b/call/+'], { qos: 1 });
  const flood = await broker.client('node-c');
  flood.on('error', () => undefined);
  const at = performance.now();
  let sent = 0;
  while (performance.now() - at < 3000 && sent < 60e6 && flood.connected) {
    flood.publish('svc/1/F/node-b/call/node-c', mb, { qos: 0 }); sent += mb.length;
    await new Promise((r) => setTimeout(r, 40));
  }
  await new Promise((r) => setTimeout(r, 1000));
  console.log('calls to another node: sent', sent / 1e6, 'MB, it got', bytes / 1e6, 'MB', rss(broker.pid));
  flood.end(true); victim.end(true);
  // 3. subscriptions
  const sub = await broker.client('node-d');
  sub.on('error', () => undefined);
  let granted = 0;
  const before = rss(broker.pid);
  const begin = performance.now();
  let subs = 0;
  for (let n = 0; n < 2525 && sub.connected; n += 25) {
    const topics = Array.from({ length: 25 }, (_, k) => `${n + k}-${'y'.repeat(38_000)}`);
    subs += 25;
    await Promise.race([sub.subscribeAsync(topics, { qos: 0 }).then((g: any[]) => { granted += g.filter((x) => x.qos < 3).length; }, () => undefined), new Promise((r) => setTimeout(r, 3000))]);
  }
  await new Promise((r) => setTimeout(r, 500));
  console.log('2525 subscriptions of 38 kB: asked', subs, 'granted', granted, 'connected', sub.connected, 'ms', Math.round(performance.now() - begin), before, '->', rss(broker.pid));
  sub.end(true);
  await new Promise((r) => setTimeout(r, 1000));
  console.log('gone', rss(broker.pid), 'hub connected', hub.connected);
} finally {
  hub.end(true);
  await broker.kill();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
