import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../shared/errors.ts';

/** The files of one kind in a folder that others write to as well. Links are not followed, and other names are not there. */
export class KeptFiles {
  readonly directory: string;
  readonly #isOne: (name: string) => boolean;
  readonly #what: string;

  /** @param what one is called, `recording` */
  constructor(directory: string, isOne: (name: string) => boolean, what: string) {
    this.directory = directory;
    this.#isOne = isOne;
    this.#what = what;
  }

  /** Sorted; none while there is no folder. */
  async names(): Promise<readonly string[]> {
    const all = await readdir(this.directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []; // nothing was stored yet
      throw error;
    });
    return all.filter((name) => this.#isOne(name)).toSorted();
  }

  /** Null for what is not there. */
  async look(name: string): Promise<Stats | null> {
    if (!this.#isOne(name)) return null;
    const found = await lstat(join(this.directory, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null; // deleted since
      throw error;
    });
    return found?.isFile() === true ? found : null;
  }

  /** Opens one for reading; the caller closes it. @throws ApiError E_NOT_FOUND */
  async open(name: string): Promise<FileHandle> {
    if (!this.#isOne(name)) throw this.notThere(name);
    const handle = await open(
      join(this.directory, name),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    ).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ELOOP') throw this.notThere(name);
      throw error;
    });
    const isFile = await handle.stat().then((found) => found.isFile());
    if (isFile) return handle;
    await handle.close();
    throw this.notThere(name);
  }

  /** @throws ApiError E_NOT_FOUND */
  async remove(name: string): Promise<void> {
    if ((await this.look(name)) === null) throw this.notThere(name);
    await unlink(join(this.directory, name));
  }

  /** Free bytes for users other than root; null if the folder does not exist yet. */
  async freeBytes(): Promise<number | null> {
    const found = await statfs(this.directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    return found === null ? null : found.bavail * found.bsize;
  }

  notThere(name: string): ApiError {
    return new ApiError('E_NOT_FOUND', `No ${this.#what} ${name}.`);
  }
}
