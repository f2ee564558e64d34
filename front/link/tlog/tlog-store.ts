import { type FileHandle, mkdir, open, readdir, stat, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, codeOf } from '../../../shared/errors.ts';

const MIB = 1024 * 1024;
/** Stays free on the disk. */
const MIN_FREE_BYTES = 256 * MIB;
/** Of all logs together, what one file may take: the oldest go one by one. */
const SHARE = 4;
const NAME = /^\d{8}T\d{6}\.\d{3}Z(?:_\d+)?\.tlog$/;
const MAX_ALIKE = 100;

/** A log that is being written. */
export interface TlogFile {
  readonly name: string;
  /** It has its share; the next frames belong into another one. */
  readonly isLong: boolean;
  /** Resolves when the bytes are on the disk. @throws ApiError E_DISK_FULL */
  append(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** The telemetry logs of the node, in one folder; their names are their times, so that they sort. */
export class TlogStore {
  readonly #directory: string;
  readonly #maxBytes: number;

  /** @param maxMb of all together; the oldest are deleted first */
  constructor(directory: string, maxMb: number) {
    this.#directory = directory;
    this.#maxBytes = maxMb * MIB;
  }

  /** @param startedAt ms since 1970 */
  async create(startedAt: number): Promise<TlogFile> {
    await mkdir(this.#directory, { recursive: true, mode: 0o750 });
    const stem = new Date(startedAt).toISOString().replaceAll(/[-:]/g, '');
    const { handle, name } = await this.#open(stem);
    let size = 0;
    const longest = this.#maxBytes / SHARE;
    return {
      name,
      get isLong() {
        return size >= longest;
      },
      append: async (bytes) => {
        await this.#makeRoom(name, bytes.length);
        await handle.appendFile(bytes);
        await handle.datasync();
        size += bytes.length;
      },
      close: async () => handle.close(),
    };
  }

  async #open(stem: string): Promise<{ readonly handle: FileHandle; readonly name: string }> {
    for (let count = 1; count <= MAX_ALIKE; count++) {
      const name = `${stem}${count === 1 ? '' : `_${count}`}.tlog`;
      try {
        return { handle: await open(join(this.#directory, name), 'ax', 0o640), name };
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
    }
    throw new Error(`there are ${MAX_ALIKE} logs of ${stem}`);
  }

  /** Deletes the oldest logs until there is room for so many bytes of this one. @throws ApiError E_DISK_FULL */
  async #makeRoom(own: string, bytes: number): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => NAME.test(name)).toSorted();
    const sizes = new Map<string, number>();
    for (const name of names) {
      const found = await stat(join(this.#directory, name)).catch(() => null); // deleted meanwhile
      sizes.set(name, found?.size ?? 0);
    }
    let total = [...sizes.values()].reduce((sum, size) => sum + size, 0) + bytes;
    const old = names.filter((name) => name !== own);
    for (;;) {
      const { bavail, bsize } = await statfs(this.#directory);
      const isFull = bavail * bsize < MIN_FREE_BYTES + bytes;
      if (total <= this.#maxBytes && !isFull) return;
      const oldest = old.shift();
      if (oldest === undefined) {
        if (isFull) throw new ApiError('E_DISK_FULL');
        return; // it alone is over the bound by what was added now, and ends with that
      }
      await unlink(join(this.#directory, oldest));
      total -= sizes.get(oldest) ?? 0;
    }
  }
}
