import { type FileHandle, mkdir, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ApiError } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { storedFile } from '../../../shared/schemas/video.ts';
import { KeptFiles } from '../kept-files.ts';

/** The stored files of video: recordings (.mp4) and pictures (.jpg), in one folder. */

export type StoredFile = Made<typeof storedFile>;

const KINDS = { '.mp4': 'recording', '.jpg': 'snapshot' } as const;
// The oldest are deleted first: a client that keeps storing pictures must not fill the disk.
const MAX_SNAPSHOTS = 500;
const MAX_LISTED = 2000;

export class Recordings {
  readonly directory: string;
  readonly #files: KeptFiles;

  constructor(directory: string) {
    this.directory = directory;
    this.#files = new KeptFiles(directory, (name) => kindOf(name) !== null, 'recording');
  }

  /** Of recordings and pictures, oldest first. */
  async names(): Promise<readonly string[]> {
    return this.#files.names();
  }

  /** Newest first, at most 2000. */
  async list(): Promise<readonly StoredFile[]> {
    // Names begin with their time; only the newest are read.
    const newest = (await this.#files.names()).toReversed();
    const files = await Promise.all(newest.slice(0, MAX_LISTED).map(async (name) => this.#describe(name)));
    return files.filter((file) => file !== null);
  }

  /** Bytes; 0 if it was deleted. */
  async sizeOf(name: string): Promise<number> {
    return (await this.#describe(name))?.size_bytes ?? 0;
  }

  /** @throws ApiError E_NOT_FOUND */
  async find(name: string): Promise<StoredFile> {
    const file = await this.#describe(name);
    if (file === null) throw this.#files.notThere(name);
    return file;
  }

  /** As KeptFiles. @throws ApiError E_NOT_FOUND */
  async open(name: string): Promise<FileHandle> {
    return this.#files.open(name);
  }

  /** @throws ApiError E_NOT_FOUND */
  async remove(name: string): Promise<void> {
    await this.#files.remove(name);
  }

  /** Writes one picture completely or not at all. @returns the stored file */
  async storeSnapshot(jpeg: Buffer, capturedAt: string): Promise<StoredFile> {
    await mkdir(this.directory, { recursive: true, mode: 0o750 });
    const free = await this.freeBytes();
    // Keeps the picture's size free as a reserve for other writers on this disk.
    if (free !== null && free < 2 * jpeg.length) throw new ApiError('E_DISK_FULL');
    const name = `${capturedAt.replaceAll(/[-:]/g, '')}.jpg`;
    await writeAtomic(join(this.directory, name), jpeg, 0o640);
    await this.#forgetOldSnapshots();
    return this.find(name);
  }

  /** As KeptFiles. */
  async freeBytes(): Promise<number | null> {
    return this.#files.freeBytes();
  }

  /** The disk that the folder is or will be on, bytes, free for users other than root; null if it cannot be read. */
  async space(): Promise<{ readonly total: number; readonly free: number } | null> {
    for (const folder of [this.directory, dirname(this.directory)]) {
      const found = await statfs(folder).catch(() => null); // not there yet: its parent is on the same disk
      if (found !== null) return { total: found.blocks * found.bsize, free: found.bavail * found.bsize };
    }
    return null;
  }

  async #forgetOldSnapshots(): Promise<void> {
    const names = (await this.#files.names()).filter((name) => kindOf(name) === 'snapshot');
    for (const name of names.slice(0, Math.max(0, names.length - MAX_SNAPSHOTS)))
      await unlink(join(this.directory, name));
  }

  async #describe(name: string): Promise<StoredFile | null> {
    const kind = kindOf(name);
    const found = await this.#files.look(name);
    if (kind === null || found === null) return null;
    return { name, kind, size_bytes: found.size, modified_at: found.mtime.toISOString() };
  }
}

function kindOf(name: string): StoredFile['kind'] | null {
  if (name.startsWith('.') || name.includes('/')) return null;
  const ending = name.slice(-4);
  return ending === '.mp4' || ending === '.jpg' ? KINDS[ending] : null;
}
