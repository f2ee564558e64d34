import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { benchLogQueries } from './log-queries.ts';
import { cpuMicros } from './proc.ts';
import { median, type Result } from './result.ts';

const INGEST = 200_000;
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
    return [...(await ingest(node)), commandLine(node), ...(await benchLogQueries())];
  } finally {
    await node.stop();
  }
}
