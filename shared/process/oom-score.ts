import { readFile, writeFile } from 'node:fs/promises';

const HIGHEST = 1000;

/**
 * Offers a process to the kernel before this one, when the machine has no memory left (proc_pid_oom_score_adj(5): from -1000,
 * never, to 1000, first). Nobody needs a right to raise it.
 * @param above how far above this one's own, 0 to 1000
 */
export async function offerToKernel(pid: number, above: number): Promise<void> {
  const own = Number(await readFile('/proc/self/oom_score_adj', 'utf8'));
  await writeFile(`/proc/${pid}/oom_score_adj`, String(Math.min(HIGHEST, own + above)));
}
