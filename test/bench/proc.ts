import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TICK_US = 1e6 / Number(execFileSync('getconf', ['CLK_TCK']).toString());

/** CPU time that a process has used, user and kernel, in microseconds. Resolution is one tick (10 ms). */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** Proportional set size in MiB: memory shared with others counts by its share. */
export function pssMib(pid: number): number {
  const match = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return Number(match?.[1] ?? Number.NaN) / 1024;
}
