import { readFile } from 'node:fs/promises';

/** The processes that this one has started and that still run. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''); // it has ended
  return text.split(' ').filter(Boolean).map(Number);
}

/** Memory of a process and all of its descendants that the kernel cannot take back, MiB: without mapped files. */
export async function treeMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kib = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
  const children = await Promise.all((await childrenOf(pid)).map(treeMemory));
  return kib / 1024 + children.reduce((sum, mib) => sum + mib, 0);
}
