import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { writeAtomic } from '../../shared/files/atomic-write.ts';

/** So long is the newest answer good, ms: anybody may ask. */
const GOOD_MS = 2000;
/** Room that has to be there besides what the database has taken already. */
const ROOM_BYTES = 64 * 1024;

/** Result codes of SQLite (https://www.sqlite.org/rescode.html), the lowest byte of an extended one. */
const SQLITE = { readOnly: 8, io: 10, full: 13, cannotOpen: 14 } as const;

const FULL = "The hub's disk is full. Make room; nodes keep their events until then.";
const READ_ONLY = "The hub's disk cannot be written: it is read-only.";
const BROKEN = "The hub's disk fails to read or write.";

/** What is wrong with the disk, in words; null for an error that says nothing about it. */
export function diskProblem(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code, errcode, cause }: Error & { readonly code?: unknown; readonly errcode?: unknown } = error;
  if (code === 'ENOSPC' || code === 'EDQUOT') return FULL;
  if (code === 'EROFS') return READ_ONLY;
  if (code === 'EIO') return BROKEN;
  if (code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number')
    switch (errcode & 0xff) {
      case SQLITE.full:
        return FULL;
      case SQLITE.readOnly:
        return READ_ONLY;
      case SQLITE.io:
      case SQLITE.cannotOpen:
        return BROKEN;
    }
  return diskProblem(cause);
}

/** Whether the disk takes what the hub has to store: found out by writing to it. */
export class DiskProbe {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #monotonic: () => number;
  #newest: { readonly at: number; readonly problem: Promise<string | null> } | null = null;

  /** @param folder of the hub. @param monotonic ms */
  constructor(db: DatabaseSync, folder: string, monotonic: () => number) {
    this.#db = db;
    this.#file = join(folder, 'health');
    this.#monotonic = monotonic;
  }

  /** What is wrong with it, in words; null: it took what was written just now. */
  async problem(): Promise<string | null> {
    const at = this.#monotonic();
    if (this.#newest === null || at - this.#newest.at > GOOD_MS)
      this.#newest = { at, problem: this.#write(at) };
    return this.#newest.problem;
  }

  /** Both: a full disk may still take a small write to a file that has its space already. */
  async #write(at: number): Promise<string | null> {
    try {
      this.#db
        .prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
        .run('health', Math.floor(at));
      await writeAtomic(this.#file, ' '.repeat(ROOM_BYTES));
      return null;
    } catch (error) {
      return diskProblem(error) ?? 'The hub cannot write its database.';
    }
  }
}
