import { readFile } from 'node:fs/promises';

// USER_HZ: the same on every Linux that Node runs on (time(7)).
const TICKS_PER_SECOND = 100;

/** Processor time of a process since it started, seconds (proc_pid_stat(5), utime and stime). Null: it is gone, or not for us to see. */
export async function cpuSecondsOf(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null); // it may have ended between two looks
  // The name before it may have spaces and brackets of its own.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks / TICKS_PER_SECOND : null;
}
