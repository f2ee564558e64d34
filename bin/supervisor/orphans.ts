import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, messageOf } from '../../shared/errors.ts';
import { recordOf } from '../../shared/member.ts';

/**
 * The processes of a killed supervisor end by themselves, because their channel to it closes. But a process whose loop hangs
 * does not notice, and keeps the sockets that the next one needs. So every supervisor writes a list of its processes, and the
 * next supervisor kills those that are left (docs/threat-model.md H13). systemd does the same with the control group; `npm
 * start` has none.
 */

interface KnownProcess {
  readonly name: string;
  readonly pid: number;
  /** Distinguishes it from a later process with the same id: the boot, and its start in clock ticks since then. */
  readonly born: string;
}

/** How long they may take to end by themselves: a front lets its requests in flight finish. */
const GRACE_MS = 3000;
/** How long the kernel may take to end a killed process; then we give up. */
const KILL_MS = 2000;
const POLL_MS = 20;

/** When a process was started; null if it has ended, also if it is a zombie. */
function bornOf(pid: number): string | null {
  try {
    // The second field is the program's name in brackets, which may contain spaces and brackets.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19] ?? ''}`;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}

function isKnown(value: unknown): value is KnownProcess {
  const { name, pid, born } = recordOf(value);
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

  /**
   * Writes the list of this supervisor's processes at once, since it may be killed at any moment. Without processes there is no
   * file.
   */
  write(running: readonly Running[]): void {
    const known = running.flatMap(({ name, pid }): readonly KnownProcess[] => {
      const born = pid === null ? null : bornOf(pid);
      return pid === null || born === null ? [] : [{ name, pid, born }];
    });
    try {
      if (known.length === 0) {
        rmSync(this.#path, { force: true });
        return;
      }
      // Not synced: no process survives a power cut.
      const next = `${this.#path}.next`;
      rmSync(next, { force: true });
      writeFileSync(next, JSON.stringify(known), { mode: 0o600, flag: 'wx' });
      renameSync(next, this.#path);
    } catch (error) {
      this.#onProblem(`cannot write ${this.#path}: ${messageOf(error)}`);
    }
  }

  /**
   * Waits for the processes of a dead supervisor, at most 3 s, and kills those that are left then. Only the owner of the
   * supervisor's socket may call it: then no other supervisor is alive.
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

  #read(): readonly KnownProcess[] {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      return Array.isArray(value) ? value.filter(isKnown) : [];
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#onProblem(`cannot read ${this.#path}: ${messageOf(error)}`);
      return [];
    }
  }
}
