import { mkdir, readdir, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';

/** Files kept: firmwares that the node has seen lately. A file is at most 1 MiB, the limit of a transfer. */
const MAX_FILES = 8;

/** Vehicles' descriptions of their parameters, as files that came from the vehicle; the newest eight are kept. */
export class MetadataStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Whether the file is there; then it counts as used now. */
  async has(name: string): Promise<boolean> {
    try {
      const path = join(this.#directory, name);
      if ((await stat(path)).size === 0) return false;
      const now = new Date();
      await utimes(path, now, now);
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }

  async write(name: string, bytes: Buffer): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o755 });
    await writeAtomic(join(this.#directory, name), bytes, 0o644);
    const names = (await readdir(this.#directory)).filter((each) => /\.json(?:\.xz)?$/.test(each));
    if (names.length <= MAX_FILES) return;
    const times = await Promise.all(
      names.map(async (each) => ({ each, at: (await stat(join(this.#directory, each))).mtimeMs })),
    );
    const oldest = times.toSorted((a, b) => a.at - b.at).slice(0, names.length - MAX_FILES);
    for (const { each } of oldest) if (each !== name) await unlink(join(this.#directory, each));
  }
}
