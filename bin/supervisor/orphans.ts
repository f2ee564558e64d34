import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../shared/errors.ts';

/**
 * The processes of a supervisor that was killed end by themselves, because their channel to it closes; one whose loop hangs
 * never notices, and holds the sockets that its successor needs. So every supervisor writes down whom it runs, and the next
 * one ends who is left (docs/threat-model.md H13). systemd does the same with the control group; `npm start` has none.
 */

interface Known {
  readonly name: string;
  readonly pid: number;
  /** What tells it from a later process with the same id: the boot, and its start in clock ticks since then. */
  readonly born: string;
}

/** How long they may take to end by themselves: a front lets its requests in flight finish. */
const GRACE_MS = 3000;
/** What the kernel may take to end a killed one; beyond that it is beyond us. */
const KILL_MS = 2000;
const POLL_MS = 20;

/** When a process was born; null for one that ended, and for one that ended and that nobody has asked about yet. */
function bornOf(pid: number): string | null {
  try {
    // The second field is the program's name in brackets, which may hold spaces and brackets of its own.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19] ?? ''}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}

function isKnown(value: unknown): value is Known {
  if (typeof value !== 'object' || value === null) return false;
  const { name, pid, born } = value as Partial<Record<keyof Known, unknown>>;
  return (
    typeof name === 'string' &&
    typeof born === 'string' &&
    typeof pid === 'number' &&
    Number.isSafeInteger(pid) &&
    pid > 1
  );
}

export interface Running {
  readonly name: string;
  readonly pid: number | null;
}

export class ChildRecord {
  readonly #path: string;
  readonly #onProblem: (text: string) => void;

  /** @param path a file of the supervisor's own in the run directory; JSON, `[{name, pid, born}]` */
  constructor(path: string, onProblem: (text: string) => void) {
    this.#path = path;
    this.#onProblem = onProblem;
  }

  /** Writes down whom this supervisor runs. At once: it may be killed in the next moment. Nobody running: no file. */
  write(running: readonly Running[]): void {
    const known = running.flatMap(({ name, pid }): readonly Known[] => {
      const born = pid === null ? null : bornOf(pid);
      return pid === null || born === null ? [] : [{ name, pid, born }];
    });
    try {
      if (known.length === 0) {
        rmSync(this.#path, { force: true });
        return;
      }
      // Not synced: after a power cut none of them is left.
      const next = `${this.#path}.next`;
      rmSync(next, { force: true });
      writeFileSync(next, JSON.stringify(known), { mode: 0o600, flag: 'wx' });
      renameSync(next, this.#path);
    } catch (error) {
      this.#onProblem(`cannot write ${this.#path}: ${messageOf(error)}`);
    }
  }

  /**
   * Waits for the processes of a dead supervisor, at most 3 s, and kills who is left then.
   * Only for whoever holds the supervisor's socket: with it, no other supervisor is alive.
   */
  async endOrphans(): Promise<void> {
    let left = this.#read();
    const remain = async (ms: number): Promise<void> => {
      const end = performance.now() + ms;
      while ((left = left.filter(({ pid, born }) => bornOf(pid) === born)).length > 0) {
        if (performance.now() > end) return;
        await delay(POLL_MS);
      }
    };
    await remain(GRACE_MS);
    for (const { name, pid } of left) {
      this.#onProblem(`killing ${name} (pid ${pid}): it outlived its supervisor`);
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        this.#onProblem(`cannot kill ${name} (pid ${pid}): ${messageOf(error)}`);
      }
    }
    await remain(KILL_MS);
    this.write([]);
  }

  #read(): readonly Known[] {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      return Array.isArray(value) ? value.filter(isKnown) : [];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#onProblem(`cannot read ${this.#path}: ${messageOf(error)}`);
      return [];
    }
  }
}
