import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../errors.ts';

/** Primary result codes of SQLite. */
const SQLITE = { error: 1, corrupt: 11, notADatabase: 26 } as const;
/** The files of one database. */
const SUFFIXES = ['', '-wal', '-shm'] as const;
/** How many damaged ones are kept for analysis. */
const KEEP_BROKEN = 2;

/**
 * Whether an error of SQLite says that the file is no, or no longer, database of ours. For statements that fit our tables
 * only: SQLITE_ERROR is a table that is not ours.
 */
export function isDamage(error: unknown): boolean {
  const code =
    typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  return code === SQLITE.notADatabase || code === SQLITE.corrupt || code === SQLITE.error;
}

/** Moves a damaged database out of the way, and removes older ones that were. @returns its new path */
export function setAside(path: string, nowMs: number): string {
  const aside = `${path}.broken-${nowMs}`;
  for (const suffix of SUFFIXES) moveIfThere(path + suffix, aside + suffix);
  const folder = dirname(path);
  const broken = readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(path)}.broken-`) && /\.broken-\d+$/.test(name))
    .toSorted();
  for (const name of broken.slice(0, Math.max(0, broken.length - KEEP_BROKEN))) {
    for (const suffix of SUFFIXES) rmSync(join(folder, name + suffix), { force: true });
  }
  return aside;
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
