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
  /** Of all logs, oldest first, as the folder was when the newest was begun. */
  #sizes = new Map<string, number>();

  /** @param maxMb of all together; the oldest are deleted first */
  constructor(directory: string, maxMb: number) {
    this.#directory = directory;
    this.#maxBytes = maxMb * MIB;
  }

  /** @param startedAt ms since 1970. @throws ApiError E_DISK_FULL, before there is a file */
  async create(startedAt: number): Promise<TlogFile> {
    await mkdir(this.#directory, { recursive: true, mode: 0o750 });
    await this.#look();
    await this.#makeRoom('', 0);
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
        this.#sizes.set(name, size);
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

  async #look(): Promise<void> {
    this.#sizes = new Map();
    for (const name of (await readdir(this.#directory)).filter((each) => NAME.test(each)).toSorted()) {
      const found = await stat(join(this.#directory, name)).catch(() => null); // deleted meanwhile
      if (found !== null) this.#sizes.set(name, found.size);
    }
  }

  /**
   * Deletes the oldest logs until there is room for so many bytes more of this one; none where that would not be enough, because others
   * have filled the disk. @throws ApiError E_DISK_FULL
   */
  async #makeRoom(own: string, bytes: number): Promise<void> {
    const old = [...this.#sizes].filter(([name]) => name !== own);
    const all = sumOf(this.#sizes.values());
    const { bavail, bsize } = await statfs(this.#directory);
    const missing = Math.max(all + bytes - this.#maxBytes, MIN_FREE_BYTES + bytes - bavail * bsize);
    const isFull = bavail * bsize < MIN_FREE_BYTES + bytes;
    if (isFull && sumOf(old.map(([, size]) => size)) < missing) throw new ApiError('E_DISK_FULL');
    let freed = 0;
    for (const [name, size] of old) {
      if (freed >= missing) return;
      await unlink(join(this.#directory, name)).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error; // somebody else has deleted it
      });
      this.#sizes.delete(name);
      freed += size;
    }
  }
}

function sumOf(sizes: Iterable<number>): number {
  return [...sizes].reduce((sum, size) => sum + size, 0);
}
