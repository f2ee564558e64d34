import { readFile } from 'node:fs/promises';

/**
 * Memory of a process in MiB: shared pages by its share (PSS), or all of its resident pages (RSS) on a kernel without
 * smaps_rollup; null for a process that has ended or that we may not read.
 */
export async function memoryOf(pid: number): Promise<number | null> {
  const pss = /^Pss:\s+(\d+) kB/m.exec(await read(`/proc/${pid}/smaps_rollup`))?.[1];
  return pss === undefined ? residentMiB(await read(`/proc/${pid}/status`)) : mib(pss);
}

/** VmRSS of the text of /proc/PID/status, MiB; null where there is none. In kB there, whatever the board's page size. */
export function residentMiB(status: string): number | null {
  const rss = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  return rss === undefined ? null : mib(rss);
}

function mib(kib: string): number {
  return Math.round(Number(kib) / 102.4) / 10;
}

async function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => ''); // it has ended, or belongs to another user
}
