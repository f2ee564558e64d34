import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import type { Queries } from './database/tables.ts';
import { readMeta, writeMeta } from './stores/meta.ts';

/** So long is the newest answer good, ms: anybody may ask. */
const GOOD_MS = 2000;
/** Between two writes while all is well, ms: more would wear a card out. In between it is looked at. */
const WRITE_MS = 30_000;
/** Room that has to be there besides what the database has taken already. */
const ROOM_BYTES = 64 * 1024;

/** Result codes of SQLite (https://www.sqlite.org/rescode.html), the lowest byte of an extended one. */
const SQLITE = { readOnly: 8, io: 10, full: 13, cannotOpen: 14 } as const;

const FULL = "The hub's disk is full. Make room; nodes keep their events until then.";
const READ_ONLY = "The hub's disk cannot be written: it is read-only.";
const BROKEN = "The hub's disk fails to read or write.";
const AWAY = "The hub's database is away.";
const SLOW = "The hub's database is too slow, or was told to stop.";
const PASSWORD = "The hub's database refuses its user or password.";

/** SQLSTATE (https://www.postgresql.org/docs/15/errcodes-appendix.html), and what the network says. */
const POSTGRES: Readonly<Record<string, string>> = {
  '53100': "The disk of the hub's database is full. Make room; nodes keep their events until then.",
  '53200': "The hub's database is out of memory.",
  '53300': "The hub's database has too many connections.",
  '25006': "The hub's database cannot be written: it is read-only.",
  '28000': PASSWORD,
  '28P01': PASSWORD,
  '57014': SLOW,
  '57P01': AWAY,
  '57P02': AWAY,
  '57P03': AWAY,
  '08000': AWAY,
  '08003': AWAY,
  '08006': AWAY,
  '58030': BROKEN,
  ECONNREFUSED: AWAY,
  ECONNRESET: AWAY,
  EHOSTUNREACH: AWAY,
  ENETUNREACH: AWAY,
  ENOTFOUND: AWAY,
  EAI_AGAIN: AWAY,
  ETIMEDOUT: AWAY,
};
/** Errors of `pg` that have no code. */
const LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

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
  if (typeof code === 'string' && code in POSTGRES) return POSTGRES[code] ?? null;
  if (LOST.test(error.message)) return error.message.startsWith('Query read') ? SLOW : AWAY;
  return diskProblem(cause);
}

/** Whether the disk takes what the hub has to store: found out by writing to it. */
export class DiskProbe {
  readonly #db: Queries;
  readonly #folder: string;
  /** When it last took what was written, monotonic ms. */
  #written = Number.NEGATIVE_INFINITY;
  readonly #monotonic: () => number;
  #newest: { readonly at: number; readonly problem: Promise<string | null> } | null = null;

  /** @param folder of the hub. @param monotonic ms */
  constructor(db: Queries, folder: string, monotonic: () => number) {
    this.#db = db;
    this.#folder = folder;
    this.#monotonic = monotonic;
  }

  /** What is wrong with it, in words; null: it took what was last written, half a minute ago at most, and has room and answers now. */
  async problem(): Promise<string | null> {
    const at = this.#monotonic();
    if (this.#newest === null || at - this.#newest.at > GOOD_MS)
      this.#newest = { at, problem: this.#look(at) };
    return this.#newest.problem;
  }

  async #look(at: number): Promise<string | null> {
    try {
      if (at - this.#written >= WRITE_MS || !(await this.#seemsWell())) await this.#write(at);
      return null;
    } catch (error) {
      this.#written = Number.NEGATIVE_INFINITY; // a write has to show that it is well again
      return diskProblem(error) ?? 'The hub cannot write its database.';
    }
  }

  /** Without a write. */
  async #seemsWell(): Promise<boolean> {
    await readMeta(this.#db, 'health');
    const { bavail, bsize } = await statfs(this.#folder);
    return bavail * bsize > ROOM_BYTES;
  }

  /** Both: a full disk may still take a small write to a file that has its space already. */
  async #write(at: number): Promise<void> {
    await writeMeta(this.#db, 'health', Math.floor(at));
    await writeAtomic(join(this.#folder, 'health'), ' '.repeat(ROOM_BYTES));
    this.#written = at;
  }
}
