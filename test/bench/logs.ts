import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openLogDatabase } from '../../residual/app/logs/log-database.ts';
import { readFilter } from '../../residual/app/logs/log-filter.ts';
import { LogQuery } from '../../residual/app/logs/log-query.ts';
import { LogStore, type NumberedRecord } from '../../residual/app/logs/log-store.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { cpuMicros } from './proc.ts';
import { median, type Result } from './result.ts';

const INGEST = 200_000;
const ROWS = 5_000_000;
const BATCH = 10_000;
const DAY_US = 86_400e6;
const QUERIES = 20;
const CALLS = 7;

/** Records a second through the ingest socket of a running node, until the last one is acknowledged. */
async function ingest(node: TestNode): Promise<readonly Result[]> {
  const socket = connect(node.paths.logSocket);
  await once(socket, 'connect');
  let ack = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split('\n')) ack = (JSON.parse(line) as { ack: number }).ack;
    if (ack >= INGEST) resolve();
  });
  socket.write('{"shipper":"bench"}\n');
  const pid = node.pid('svc-residual');
  const cpu = cpuMicros(pid);
  const started = performance.now();
  const time = new Date().toISOString();
  for (let seq = 1; seq <= INGEST; seq++) {
    const line = `${seq} {"time":"${time}","level":"info","service":"svc-bench","msg":"record ${seq} of the bench, as long as a line usually is","n":${seq}}\n`;
    if (!socket.write(line)) await once(socket, 'drain');
  }
  await promise;
  const seconds = (performance.now() - started) / 1000;
  socket.destroy();
  const { body } = await node.json('/api/logs/stats', { headers: { 'x-svc-key': KEY } });
  const stored = (body['rows'] as { logs: number }).logs;
  return [
    {
      name: `ingest of ${INGEST} records`,
      value: INGEST / seconds,
      unit: 'records/s',
      goal: 20_000,
      higher: true,
    },
    { name: 'ingest: lost', value: Math.max(0, INGEST - stored), unit: 'records', goal: 0 },
    { name: 'ingest: CPU of svc-residual per record', value: (cpuMicros(pid) - cpu) / INGEST, unit: 'us' },
  ];
}

/** Queries of the last hour among five million rows spread over 30 days. */
async function queries(): Promise<readonly Result[]> {
  const dir = await tempDir();
  const path = join(dir, 'logs.db');
  const now = Date.now();
  const { db } = openLogDatabase(path, now, createLogger('bench', 'silent'));
  const store = new LogStore(db, path, { maxBytes: 1 << 40, maxAgeDays: 365 }, () => now * 1000);
  const step = (30 * DAY_US) / ROWS;
  for (let at = 0; at < ROWS; at += BATCH) {
    const records: NumberedRecord[] = Array.from({ length: BATCH }, (_, index) => ({
      seq: at + index + 1,
      record: {
        tsUs: Math.round(now * 1000 - 30 * DAY_US + (at + index) * step),
        source: `svc-${(at + index) % 5}`,
        level: (at + index) % 50 === 0 ? 'warn' : 'info',
        message: `vehicle ${(at + index) % 97} said ${(at + index) % 1009}`,
        fields: null,
      },
    }));
    store.append('bench', records);
  }
  const query = new LogQuery(new DatabaseSync(path, { readOnly: true }));
  const results: Result[] = [];
  for (const [name, members] of [
    ['last hour, newest 200', { since: '1h' }],
    ['last hour of one process, warnings', { since: '1h', source: 'svc-0', level: 'warn' }],
    ['last hour, with a word', { since: '1h', text: 'vehicle 42' }],
  ] as const) {
    const times: number[] = [];
    for (let count = 0; count < QUERIES; count++) {
      const started = performance.now();
      query.page(readFilter(members, now), 200, null);
      times.push(performance.now() - started);
    }
    results.push({ name: `${name}, among ${ROWS} rows`, value: median(times), unit: 'ms', goal: 50 });
  }
  store.close();
  await removeDir(dir);
  return results;
}

/** `svc status` from a cold process. */
function commandLine(node: TestNode): Result {
  const env = {
    ...process.env,
    SVC_ETC_DIR: node.paths.etc,
    SVC_RUN_DIR: node.paths.run,
    SVC_STATE_DIR: node.paths.state,
  };
  const times = Array.from({ length: CALLS }, () => {
    const started = performance.now();
    execFileSync(process.execPath, [join(ROOT, 'bin/svc.js'), 'status'], { env });
    return performance.now() - started;
  });
  return { name: 'svc status from a cold process', value: median(times), unit: 'ms', goal: 250 };
}

export async function benchLogs(): Promise<readonly Result[]> {
  const node = await TestNode.start({ pairing: { key: KEY } });
  try {
    return [...(await ingest(node)), commandLine(node), ...(await queries())];
  } finally {
    await node.stop();
  }
}
