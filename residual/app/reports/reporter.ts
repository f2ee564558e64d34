import { type ChildProcess, spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { deferred } from '../../../shared/async/deferred.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { offline } from '../../../shared/process/offline.ts';
import { offerToKernel } from '../../../shared/process/oom-score.ts';
import type {
  DividedLogs,
  ReportAnswer,
  ReportTask,
  ReportWork,
} from '../../../shared/reports/report-work.ts';
import type { SeriesWish } from '../../../shared/reports/series.ts';
import type { Call } from '../../../shared/routes/handler.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { FlightReport } from '../../../shared/schemas/flight-report.ts';
import type { LogSeries } from '../../../shared/schemas/log-series.ts';

const FILE = join(import.meta.dirname, `report-process${extname(import.meta.filename)}`);
/** A quarter of a gigabyte on the slowest board; the route has 15 s more. */
const REPORT_MS = 60_000;
/** Reading takes the same memory for every log; what needs more ends its process, not this one. */
const HEAP_FLAGS = ['--max-old-space-size=64', '--max-semi-space-size=2', '--optimize-for-size'];
/** Where the descriptors of the logs begin: before them are the standard ones and the channel. */
const FIRST_LOG = 4;
/** Above this process's own oom_score_adj: a report is what the machine misses least. */
const OOM = 500;
const STOP_MS = 3000;

type ReportResult = Exclude<ReportAnswer, { readonly done: number } | { readonly failure: unknown }>;
type ReportCaller = Partial<Pick<Call<Row>, 'gone' | 'progress'>>;

/**
 * Makes reports of logs, one at a time, in a process without network: the log comes from a vehicle, and may be huge, cut off or made
 * to harm.
 */
export class Reporter {
  readonly #limitMs: number;
  #busy = false;

  constructor(limitMs = REPORT_MS) {
    this.#limitMs = limitMs;
  }

  /**
   * @param log is closed at the end
   * @param waiting whom it is for; `gone` ends the work
   * @throws ApiError E_BUSY while another one is made; E_LOG for what is no log; E_STORE for what needs too much memory; E_TIMEOUT
   */
  async report(log: FileHandle, kind: ReportWork['kind'], waiting: ReportCaller = {}): Promise<FlightReport> {
    const answer = await this.#work([log], { kind }, waiting);
    if ('report' in answer) return answer.report;
    throw new ApiError('E_STORE', 'The log cannot be read.');
  }

  /** What some fields of a log were. @param log is closed at the end. @throws ApiError as `report`; E_NOT_FOUND for a field that is not there */
  async series(
    log: FileHandle,
    kind: ReportWork['kind'],
    series: SeriesWish,
    waiting: ReportCaller = {},
  ): Promise<LogSeries> {
    const answer = await this.#work([log], { kind, series }, waiting);
    if ('series' in answer) return answer.series;
    throw new ApiError('E_STORE', 'The log cannot be read.');
  }

  /**
   * The flights of a telemetry log, each by itself.
   * @param logs it, and those in which its last flight may go on; all are closed at the end
   * @throws ApiError as `report`
   */
  async flights(logs: readonly FileHandle[], waiting: ReportCaller = {}): Promise<DividedLogs> {
    const answer = await this.#work(logs, { kind: 'tlog', isDivided: true }, waiting);
    if ('divided' in answer) return answer.divided;
    throw new ApiError('E_STORE', 'The log cannot be read.');
  }

  async #work(
    logs: readonly FileHandle[],
    what: Omit<ReportWork, 'file' | 'size' | 'next'>,
    waiting: ReportCaller,
  ): Promise<ReportResult> {
    try {
      if (this.#busy) throw new ApiError('E_BUSY', 'Another report is being made. Ask again shortly.');
      this.#busy = true;
      try {
        const files = logs.map(async (log, index) => ({
          file: FIRST_LOG + index,
          size: (await log.stat()).size,
        }));
        const task = { ...what, logs: await Promise.all(files) };
        return await this.#inProcess(
          task,
          logs.map(({ fd }) => fd),
          waiting,
        );
      } finally {
        this.#busy = false;
      }
    } finally {
      for (const log of logs) await log.close();
    }
  }

  async #inProcess(
    task: ReportTask,
    files: readonly number[],
    { gone, progress }: ReportCaller,
  ): Promise<ReportResult> {
    const { promise, resolve, reject } = deferred<ReportResult>();
    const total = task.logs[0]?.size ?? 0;
    const ended = (problem: string): void =>
      reject(new ApiError('E_STORE', `The log cannot be read: ${problem}.`));
    const { program, args } = offline(process.execPath, [...HEAP_FLAGS, FILE]);
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc', ...files] });
    child.on('message', (answer: ReportAnswer) => {
      if ('done' in answer) progress?.({ done: answer.done, total, text: 'reading the log' });
      else if ('failure' in answer) reject(new ApiError(answer.failure.code, answer.failure.detail));
      else resolve(answer);
    });
    child.on('error', (error) => ended(messageOf(error)));
    child.on('close', (code, signal) => ended(`its process has ended (${signal ?? `code ${code}`})`));
    const exited = new Promise<void>((done) => {
      child.once('exit', () => done());
      child.once('error', () => done());
    });
    if (child.pid !== undefined) offerToKernel(child.pid, OOM).catch(() => undefined); // it has ended, or there is no /proc
    child.send(task, (error) => {
      if (error !== null) ended(messageOf(error));
    });
    const leave = (): void => reject(new ApiError('E_DRAINING', 'Nobody waits for this report.'));
    const late = (): void =>
      reject(new ApiError('E_TIMEOUT', `The log is too long for a report within ${this.#limitMs / 1000} s.`));
    const timer = setTimeout(late, this.#limitMs);
    gone?.addEventListener('abort', leave);
    if (gone?.aborted === true) leave();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      gone?.removeEventListener('abort', leave);
      await endOf(child, exited);
    }
  }
}

/** In 3 s at most: one that a disk holds ends when that lets it go. */
async function endOf(child: ChildProcess, exited: Promise<void>): Promise<void> {
  child.kill('SIGKILL');
  const late = deferred();
  const timer = setTimeout(late.resolve, STOP_MS);
  await Promise.race([exited, late.promise]);
  clearTimeout(timer);
}
