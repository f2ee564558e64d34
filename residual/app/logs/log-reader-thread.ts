/** The thread of log-reader.ts: it has the read-only connection, and answers one question after the other. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { LogFilter } from './log-filter.ts';
import { LogQuery } from './log-query.ts';
import type { Answer, Question } from './log-reader.ts';

/** A part of an export: so many lines, or what came in so many ms; then other questions have their turn. */
const PART_LINES = 1000;
const PART_MS = 20;
const BUSY_MS = 250;
/** Of the kernel's -20 to 19: on a board whose processors are busy, a question about the past waits, not a flight. */
const NICENESS = 5;

setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);

const db = new DatabaseSync((workerData as { path: string }).path, { readOnly: true, timeout: BUSY_MS });
// What a search has found so far is in memory, about 15 bytes a record: in a file it would wear out the card.
db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192');
const query = new LogQuery(db);
const exports = new Map<number, ReturnType<LogQuery['all']>>();

/** What the thread can be asked, besides the queries: exports, by a number that the asker gives. */
export class LogReaderWork {
  readonly list = query.list.bind(query);
  readonly page = query.page.bind(query);
  readonly aggregate = query.aggregate.bind(query);
  readonly sessions = query.sessions.bind(query);
  readonly contents = query.contents.bind(query);

  open(id: number, filter: LogFilter, limit: number): void {
    exports.set(id, query.all(filter, limit));
  }

  /** @returns lines of JSON; '' at the end */
  next(id: number): string {
    const lines: string[] = [];
    const due = performance.now() + PART_MS;
    while (lines.length < PART_LINES && performance.now() < due) {
      const row = exports.get(id)?.next();
      if (row === undefined || row.done === true) break;
      lines.push(`${JSON.stringify(row.value)}\n`);
    }
    return lines.join('');
  }

  close(id: number): void {
    exports.get(id)?.return(undefined);
    exports.delete(id);
  }
}

const work = new LogReaderWork();
parentPort?.on('message', ({ id, name, args }: Question) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage({ id, ...answerTo(name, args) } satisfies Answer);
});

function answerTo(name: Question['name'], args: Question['args']): Omit<Answer, 'id'> {
  try {
    return { result: (work[name] as (...given: readonly unknown[]) => unknown)(...args) };
  } catch (error) {
    if (!(error instanceof ApiError)) return { failure: { code: null, detail: messageOf(error) } };
    return { failure: { code: error.code, detail: error.message, extras: error.extras } };
  }
}
