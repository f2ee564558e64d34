import { readFile } from 'node:fs/promises';

/** Memory of a process in MiB, shared pages by its share (PSS); null where the kernel does not say. */
export async function memoryOf(pid: number): Promise<number | null> {
  try {
    const match = /^Pss:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'));
    return match === null ? null : Math.round(Number(match[1]) / 102.4) / 10;
  } catch {
    return null; // it ended meanwhile, or is another user's
  }
}
