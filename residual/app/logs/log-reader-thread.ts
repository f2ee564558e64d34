/** The thread of log-reader.ts: it has the read-only connection, and answers one question after the other. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { toOwner } from '../../../shared/async/own-thread.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { ownDatabase } from '../../../shared/files/own-database.ts';
import { LogQuery } from './log-query.ts';
import { type Answer, type FromReader, LogReaderWork, type Question } from './log-reader-work.ts';

const BUSY_MS = 250;
/** Of the kernel's -20 to 19: on a board whose processors are busy, a question about the past waits, not a flight. */
const NICENESS = 5;

try {
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
} catch {
  // Where the system does not allow it, questions are answered at the priority of the others.
}

const { path }: { readonly path: string } = workerData;
const db = new DatabaseSync(ownDatabase(path), { readOnly: true, timeout: BUSY_MS });
// What a search has found so far is in memory, about 15 bytes a record: in a file it would wear out the card.
db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192');
const work = new LogReaderWork(new LogQuery(db));

parentPort?.on('message', ({ id, name, args }: Question) => {
  toOwner({ id, ...answerTo(name, args) } satisfies FromReader);
});
toOwner('opened' satisfies FromReader);

function answerTo(name: Question['name'], args: Question['args']): Omit<Answer, 'id'> {
  try {
    return { result: (work[name] as (...given: readonly unknown[]) => unknown).apply(work, [...args]) };
  } catch (error) {
    if (!(error instanceof ApiError)) return { failure: { code: null, detail: messageOf(error) } };
    return { failure: { code: error.code, detail: error.message, extras: error.extras } };
  }
}
