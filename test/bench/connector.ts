import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { PROGRAM } from '../support/connector.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

const ROUNDS = 5;
const SETTLE_MS = 1000;
const ANSWER_MS = 30_000;
const GOAL_TIMES = 1.2;
const GOAL_MIB = 60;

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'svc-bench', version: '1' },
  },
};

interface Start {
  /** From the start of the process to the answer of `initialize`. */
  readonly ms: number;
  /** Of all of its processes, after a second. */
  readonly mib: number;
  readonly processes: number;
}

/** A process and those that it has started. */
function familyOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => familyOf(Number(child))))];
}

async function start(command: readonly string[], home: string): Promise<Start> {
  const [program = '', ...args] = command;
  const at = performance.now();
  const server = spawn(program, args, {
    env: { PATH: process.env['PATH'], HOME: home, SVC_ETC_DIR: home },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const gone = once(server, 'exit');
  try {
    server.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    const lines = createInterface(server.stdout);
    const [answer] = (await once(lines, 'line', { signal: AbortSignal.timeout(ANSWER_MS) })) as [string];
    const ms = performance.now() - at;
    if (!answer.includes('"result"')) throw new Error(`${command.join(' ')}: ${answer}`);
    await wait(SETTLE_MS);
    const family = familyOf(server.pid ?? 0);
    const mib = family.map(pssMib).reduce((sum, each) => sum + each, 0);
    return { ms, mib, processes: family.length };
  } finally {
    server.kill('SIGTERM');
    await gone;
  }
}

/**
 * The connector as an AI application starts it, from the checkout, on the Node of this bench; `SVC_BENCH_MCP_PEER` is the command
 * of another server over stdio (`node /path/to/mcp-server-everything`), which is started in turn with it.
 */
export async function benchConnector(): Promise<readonly Result[]> {
  const home = await tempDir();
  const own = [process.execPath, PROGRAM, '--target', 'agent', '127.0.0.1'];
  const peer = process.env['SVC_BENCH_MCP_PEER']?.split(' ') ?? null;
  const ours: Start[] = [];
  const theirs: Start[] = [];
  try {
    await start(own, home); // fills the compile cache, as the first start after an installation does
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await start(own, home));
      if (peer !== null) theirs.push(await start(peer, home));
    }
  } finally {
    await removeDir(home);
  }
  const ms = (starts: readonly Start[]): number => median(starts.map((each) => each.ms));
  const mib = (starts: readonly Start[]): number => median(starts.map((each) => each.mib));
  const limit = theirs.length === 0 ? {} : { goal: GOAL_TIMES * ms(theirs) };
  return [
    { name: 'start to the answer of initialize', value: ms(ours), unit: 'ms', ...limit },
    { name: 'PSS', value: mib(ours), unit: 'MiB', goal: GOAL_MIB },
    { name: 'processes', value: Math.max(...ours.map((each) => each.processes)), unit: '', goal: 1 },
    ...(theirs.length === 0
      ? []
      : [
          { name: 'the peer: start to the answer of initialize', value: ms(theirs), unit: 'ms' },
          { name: 'the peer: PSS', value: mib(theirs), unit: 'MiB' },
        ]),
  ];
}
