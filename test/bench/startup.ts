import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ROOT } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

/** As in svc.service. */
const SMALL = ['--max-semi-space-size=1', '--optimize-for-size'];
const ROUNDS = 7;
const SETTLE_MS = 8000;
const POLL_MS = 5;

/**
 * Starts the compiled node (`npm run build` first) in `base` up to the first 200.
 * @param meanwhile is given what lists the node's processes: some start after that
 * @returns how long that took, ms
 */
export async function coldStart(
  base: string,
  port: number,
  meanwhile: (pids: () => readonly number[]) => Promise<void>,
): Promise<number> {
  const env = {
    ...process.env,
    SVC_ETC_DIR: join(base, 'etc'),
    SVC_RUN_DIR: join(base, 'run'),
    SVC_STATE_DIR: join(base, 'state'),
    MALLOC_ARENA_MAX: '1',
    NODE_COMPILE_CACHE: join(base, 'state/compile-cache'),
  };
  const at = performance.now();
  const node = spawn(process.execPath, [...SMALL, join(ROOT, 'dist/bin/supervisor/main.js')], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  node.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
  while (!(await answers(port))) {
    if (node.exitCode !== null) throw new Error(lines.join(''));
    await wait(POLL_MS); // a busy loop would take a core from what is being measured
  }
  const ms = performance.now() - at;
  const children = (): string => readFileSync(`/proc/${node.pid}/task/${node.pid}/children`, 'utf8');
  try {
    await meanwhile(() => [node.pid ?? 0, ...children().trim().split(' ').map(Number)]);
  } finally {
    const gone = once(node, 'exit');
    node.kill('SIGTERM');
    await gone;
  }
  return ms;
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`)
    .then(({ status }) => status === 200)
    .catch(() => false);
}

/** From the start of the supervisor to the first answer, and the memory of the idle node. */
export async function benchStartup(): Promise<readonly Result[]> {
  const base = await tempDir();
  const port = await freePort();
  await mkdir(join(base, 'etc'));
  await writeFile(join(base, 'etc/config.yaml'), `api:\n  port: ${port}\nmavlink:\n  source: sim\n`);
  try {
    const times: number[] = [];
    let pss: readonly number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const ms = await coldStart(base, port, async (pids) => {
        if (round < ROUNDS) return;
        await wait(SETTLE_MS); // parameters down, heaps collected
        pss = pids().map(pssMib);
      });
      if (round > 0) times.push(ms); // the first start fills the compile cache, as an installation's first start does
    }
    return [
      { name: 'cold start to the first 200, compiled', value: median(times), unit: 'ms', goal: 700 },
      {
        name: `PSS of the idle node, ${pss.length} processes`,
        value: pss.reduce((a, b) => a + b, 0),
        unit: 'MiB',
        goal: 200,
      },
    ];
  } finally {
    await removeDir(base);
  }
}
