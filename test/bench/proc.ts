import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const TICK_US = 1e6 / Number(execFileSync('getconf', ['CLK_TCK']).toString());

/** CPU time that a process has used, user and kernel, in microseconds. Resolution is one tick (10 ms). */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** As `cpuMicros`, with those that it has started, also if they have ended. */
export function cpuOfTree(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const ended = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const pids = children === '' ? [] : children.split(' ').map(Number);
  const past = (Number(ended[13]) + Number(ended[14])) * TICK_US;
  return pids.reduce((total, child) => total + cpuMicros(child), cpuMicros(pid) + past);
}

/** Proportional set size in MiB: memory shared with others counts by its share. */
export function pssMib(pid: number): number {
  const match = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return Number(match?.[1] ?? Number.NaN) / 1024;
}

/** Bytes that a process has caused to be written to disks. */
export function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? Number.NaN);
}

/** How often the threads of a process have waited and were woken. Those of a thread that has ended are lost. */
export function wakeUps(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const file = `/proc/${pid}/task/${thread}/status`;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(text)?.[1] ?? 0);
  }, 0);
}

/** The name of a node's process, as in docs/contract/node.md#processes. */
export function nameOf(pid: number): string {
  const entry = /\/(\w+)\/([\w-]+)\/main\.[jt]s/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  if (entry?.[2] === 'app') return 'svc-residual';
  return entry?.[1] === 'sim' ? `svc-${entry[2]}-sim` : `svc-${entry?.[2] ?? '?'}`;
}
