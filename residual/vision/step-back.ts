import { readFile, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { messageOf } from '../../shared/errors.ts';

const NICE = 10;
/** Of 1000, at least: where the memory of the machine ends, the kernel takes this process before the link and the video. */
const OUT_OF_MEMORY = 500;

/**
 * Makes this process, and the threads that it starts from now on, give way to the others.
 * @param onProblem told what the system does not allow
 */
export async function stepBack(onProblem: (sentence: string) => void): Promise<void> {
  try {
    setPriority(NICE);
    // The supervisor may have offered it before.
    const own = Number(await readFile('/proc/self/oom_score_adj', 'utf8'));
    if (own < OUT_OF_MEMORY) await writeFile('/proc/self/oom_score_adj', String(OUT_OF_MEMORY));
  } catch (error) {
    onProblem(`runs at the priority of the others: ${messageOf(error)}`);
  }
}
