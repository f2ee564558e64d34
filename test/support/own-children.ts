import { readdir, readFile } from 'node:fs/promises';

/** The process that this one, or another, has started and that runs that file of Node by now; null: none. */
export async function ownChild(file: string, owner: number | 'self' = 'self'): Promise<number | null> {
  for (const task of await readdir(`/proc/${owner}/task`)) {
    const children = await readFile(`/proc/${owner}/task/${task}/children`, 'utf8').catch(() => ''); // a thread that has ended
    for (const pid of children.trim().split(' ')) {
      const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''); // so has that process
      if (words.startsWith(process.execPath) && words.includes(file)) return Number(pid);
    }
  }
  return null;
}
