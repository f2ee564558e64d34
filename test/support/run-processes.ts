import { readdirSync, readFileSync } from 'node:fs';

export interface Found {
  readonly pid: number;
  /** The entry file: `svc-control` is front/control/main. */
  readonly entry: string;
}

/**
 * Our processes of the node with that run directory, whoever started them, by their entry. Read from the kernel at the moment
 * of asking: a process id that was remembered may be another's by now.
 */
export function processesOf(run: string): readonly Found[] {
  const found: Found[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environ = readFileSync(`/proc/${pid}/environ`, 'utf8');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const entry = command.find((word) => /\/main\.[jt]s$/.test(word));
      if (entry !== undefined && environ.includes(`SVC_RUN_DIR=${run}\0`))
        found.push({ pid: Number(pid), entry });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ESRCH' && code !== 'EACCES') throw error; // it ended while we looked, or is not ours
    }
  }
  return found.toSorted((a, b) => a.entry.localeCompare(b.entry));
}
