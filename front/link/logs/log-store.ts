import { mkdir, open, readdir, rename, stat, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../../shared/errors.ts';
import type { LogSink } from './log-fetch.ts';

const MIB = 1024 * 1024;
/** All logs together; the oldest are removed first. */
const MAX_BYTES = 2048 * MIB;
/** Stays free on the disk. */
const MIN_FREE_BYTES = 256 * MIB;
const NAME = /^([0-9a-z]+)_(\d+)_(\d+)_(\d+)\.(log|part)$/;

/** One log of one vehicle. A log that has grown is another one. */
interface LogKey {
  /** The vehicle's uid. */
  readonly vehicle: string;
  readonly id: number;
  readonly size: number;
  /** Seconds since 1970; 0: not known. */
  readonly time: number;
}

/** A log that the node has, or a part of it from its beginning. */
export interface HeldLog extends LogKey {
  readonly name: string;
  readonly have: number;
  readonly complete: boolean;
}

/** A log that is being written. */
export interface OpenLog extends LogSink {
  readonly name: string;
  /** Renames it: it is complete. */
  finish(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Logs that were fetched, a file each: `<uid>_<id>_<size>_<time>.log`, or `.part` while bytes are missing at its end. A file only
 * grows, so its length says how far the download came, whenever a process was killed.
 */
export class LogStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** What is there of a vehicle's logs. */
  async held(vehicle: string): Promise<readonly HeldLog[]> {
    return (await this.#files()).filter((file) => file.vehicle === vehicle);
  }

  /** Opens a log to go on with it. @throws ApiError E_DISK_FULL */
  async open(key: LogKey): Promise<OpenLog> {
    await mkdir(this.#directory, { recursive: true, mode: 0o755 });
    const stem = `${key.vehicle}_${key.id}_${key.size}_${key.time}`;
    const path = join(this.#directory, `${stem}.part`);
    await this.#makeRoom(stem, key.size);
    const file = await open(path, 'a', 0o644);
    let { size: length } = await file.stat();
    if (length > key.size) {
      await file.truncate(0); // not ours
      length = 0;
    }
    const log = {
      name: `${stem}.part`,
      length,
      append: async (bytes: Buffer): Promise<void> => {
        await file.appendFile(bytes);
        log.length += bytes.length;
      },
      finish: async (): Promise<string> => {
        await file.sync();
        await rename(path, join(this.#directory, `${stem}.log`));
        return `${stem}.log`;
      },
      close: async (): Promise<void> => file.close(),
    };
    return log;
  }

  /** @param stem of the log that needs room: its own file stays */
  async #makeRoom(stem: string, size: number): Promise<void> {
    const files = (await this.#files()).filter(({ name }) => !name.startsWith(`${stem}.`));
    const times = await Promise.all(
      files.map(async (file) => ({ ...file, at: (await stat(join(this.#directory, file.name))).mtimeMs })),
    );
    const { bavail, bsize } = await statfs(this.#directory);
    let free = bavail * bsize - MIN_FREE_BYTES;
    let kept = times.reduce((sum, { have }) => sum + have, 0);
    for (const { name, have } of times.toSorted((a, b) => a.at - b.at)) {
      if (kept + size <= MAX_BYTES && size <= free) break;
      await unlink(join(this.#directory, name));
      kept -= have;
      free += have;
    }
    if (size > MAX_BYTES || size > free)
      throw new ApiError('E_DISK_FULL', `No room for this log of ${Math.ceil(size / MIB)} MB.`);
  }

  async #files(): Promise<readonly HeldLog[]> {
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const files = await Promise.all(
      names.map(async (name): Promise<readonly HeldLog[]> => {
        const [, vehicle, id, size, time, end] = NAME.exec(name) ?? [];
        if (vehicle === undefined) return [];
        const { size: have } = await stat(join(this.#directory, name));
        const key = { vehicle, id: Number(id), size: Number(size), time: Number(time) };
        return [{ ...key, name, have, complete: end === 'log' }];
      }),
    );
    return files.flat();
  }
}
