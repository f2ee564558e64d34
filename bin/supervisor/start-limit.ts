import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';

/** Even on a busy machine, a start that takes longer than this many times its limit has failed. */
const MOST = 6;
const NS_PER_MS = 1e6;

/** How long one process has to wait for the CPU. */
interface Busyness {
  /** Load average of the last minute: processes that want to run. */
  readonly load: number;
  readonly cores: number;
  /** How long this process has waited for a core, ms. */
  readonly waitedMs: number;
}

/** The time limit of a start, ms. @param limitMs the limit on a quiet machine */
export function startLimit(limitMs: number, { load, cores, waitedMs }: Busyness): number {
  return Math.min(MOST * limitMs, limitMs * Math.max(1, load / cores) + waitedMs);
}

/** Reads the waiting time of a process's main thread from the kernel; if that fails, only the load average is used. */
export async function busyness(pid: number): Promise<Busyness> {
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => ''); // the process has ended, or the kernel does not have it
  const waited = Number(text.split(' ')[1] ?? 0) / NS_PER_MS;
  const [load = 0] = loadavg();
  return { load, cores: availableParallelism(), waitedMs: Number.isFinite(waited) ? waited : 0 };
}
