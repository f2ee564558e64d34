import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';

/** However busy the machine: a start that takes longer than this many times its limit has failed. */
const MOST = 6;
const NS_PER_MS = 1e6;

/** How busy the machine is for one process. */
export interface Busyness {
  /** Processes that want to run, in the last minute. */
  readonly load: number;
  readonly cores: number;
  /** How long this process stood in line for a core, ms. */
  readonly waitedMs: number;
}

/** How long a start may take that takes `limitMs` at most on a quiet machine, ms. */
export function patience(limitMs: number, { load, cores, waitedMs }: Busyness): number {
  return Math.min(MOST * limitMs, limitMs * Math.max(1, load / cores) + waitedMs);
}

/** What the kernel says of the main thread of a process; where it says nothing, the load alone. */
export async function busyness(pid: number): Promise<Busyness> {
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => ''); // gone, or a kernel without it
  const waited = Number(text.split(' ')[1] ?? 0) / NS_PER_MS;
  const [load = 0] = loadavg();
  return { load, cores: availableParallelism(), waitedMs: Number.isFinite(waited) ? waited : 0 };
}
