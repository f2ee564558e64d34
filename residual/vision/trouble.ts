import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bootTime } from '../../shared/boot-clock.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { parseJson, recordOf } from '../../shared/member.ts';

/** So often a model may end the process; then it is not loaded again. */
const MOST = 2;

/**
 * Remembers, in a file, that a model is being started: where the file is found at the next start, the process has ended in the
 * middle. It counts within one run of the machine, as a power cut is nobody's fault.
 */
export class Trouble {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** @returns false, and begins nothing, if the model has ended the process too often */
  async begin(): Promise<boolean> {
    const { boot_id: boot } = bootTime();
    const count = await this.#count(boot);
    if (count >= MOST) return false;
    await mkdir(dirname(this.#path), { recursive: true });
    await writeAtomic(this.#path, JSON.stringify({ boot, count: count + 1 }));
    return true;
  }

  /** It works, or has failed without harm. */
  async over(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  async #count(boot: string): Promise<number> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}';
      throw error;
    });
    const { boot: of, count } = recordOf(parseJson(text));
    return of === boot && typeof count === 'number' ? count : 0;
  }
}
