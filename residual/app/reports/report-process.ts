/** The process of reporter.ts: it reads the logs that are open as its descriptors, and answers once. */
import { setPriority } from 'node:os';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { memberOf } from '../../../shared/member.ts';
import {
  flightsOf,
  type ReportAnswer,
  type ReportTask,
  reportOf,
  seriesOf,
} from '../../../shared/reports/report-work.ts';

/** Of the kernel's -20 to 19: the past waits for a flight that is under way. */
const NICENESS = 10;

const owner = process.ppid;

try {
  setPriority(NICENESS);
} catch {
  // Where the system does not allow it, it has the priority of the others.
}

process.once('message', (task: ReportTask) => {
  process.send?.(answer(task) satisfies ReportAnswer, () => process.exit());
});

function answer({ logs, ...what }: ReportTask): ReportAnswer {
  const onRead = (done: number): void => {
    if (process.ppid !== owner) process.exit(1); // nobody waits for it
    process.send?.({ done } satisfies ReportAnswer);
  };
  try {
    const [first, ...next] = logs;
    if (first === undefined) throw new ApiError('E_NOT_FOUND', 'There is no log.');
    const work = { ...first, next, ...what };
    if (what.series !== undefined) return { series: seriesOf(work, what.series, onRead) };
    return what.isDivided === true
      ? { divided: flightsOf(work, onRead) }
      : { report: reportOf(work, onRead) };
  } catch (error) {
    if (error instanceof ApiError) return { failure: { code: error.code, detail: error.message } };
    // What the system says is about the disk; all else is about what the log has in it.
    const code = typeof memberOf(error, 'syscall') === 'string' ? 'E_STORE' : 'E_LOG';
    return { failure: { code, detail: `The log cannot be read: ${messageOf(error)}.` } };
  }
}
