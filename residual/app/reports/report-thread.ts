/** The thread of reporter.ts: it reads one log and answers once. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { workerData } from 'node:worker_threads';
import { toOwner } from '../../../shared/async/own-thread.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { flightsOf, type ReportAnswer, type ReportWork, reportOf } from './report-work.ts';

/** Of the kernel's -20 to 19: the past waits for a flight that is under way. */
const NICENESS = 10;

try {
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
} catch {
  // Where the system does not allow it, it has the priority of the others.
}

const work: ReportWork = workerData;
toOwner(answer() satisfies ReportAnswer);

function answer(): ReportAnswer {
  const onRead = (done: number): void => toOwner({ done } satisfies ReportAnswer);
  try {
    return work.isDivided === true
      ? { divided: flightsOf(work, onRead) }
      : { report: reportOf(work, onRead) };
  } catch (error) {
    if (error instanceof ApiError) return { failure: { code: error.code, detail: error.message } };
    return { failure: { code: 'E_STORE', detail: `The log cannot be read: ${messageOf(error)}.` } };
  }
}
