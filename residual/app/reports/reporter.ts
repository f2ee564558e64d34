import type { FileHandle } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { OwnThread } from '../../../shared/async/own-thread.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Call } from '../../../shared/routes/handler.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { FlightReport } from '../../../shared/schemas/flight-report.ts';
import type { DividedLogs, ReportAnswer, ReportWork } from './report-work.ts';

const FILE = join(import.meta.dirname, `report-thread${extname(import.meta.filename)}`);
/** A quarter of a gigabyte on the slowest board; the route has 15 s more. */
const REPORT_MS = 60_000;
/** Reading takes the same memory for every log; what needs more ends its thread, not this process. */
const HEAP = { oldMb: 64, youngMb: 8 };

type Made = Exclude<ReportAnswer, { readonly done: number } | { readonly failure: unknown }>;
type Waiting = Partial<Pick<Call<Row>, 'gone' | 'progress'>>;

/** Makes reports of logs, one at a time, in a thread: the log comes from a vehicle, and may be huge, cut off or made to harm. */
export class Reporter {
  readonly #limitMs: number;
  #busy = false;

  constructor(limitMs = REPORT_MS) {
    this.#limitMs = limitMs;
  }

  /**
   * @param log is closed at the end
   * @param waiting whom it is for; `gone` ends the work
   * @throws ApiError E_BUSY while another one is made; E_STORE for what is no log, or needs too much memory; E_TIMEOUT
   */
  async report(log: FileHandle, kind: ReportWork['kind'], waiting: Waiting = {}): Promise<FlightReport> {
    const answer = await this.#work([log], { kind }, waiting);
    if ('report' in answer) return answer.report;
    throw new ApiError('E_STORE', 'The log cannot be read.');
  }

  /**
   * The flights of a telemetry log, each by itself.
   * @param logs it, and those in which its last flight may go on; all are closed at the end
   * @throws ApiError as `report`
   */
  async flights(logs: readonly FileHandle[], waiting: Waiting = {}): Promise<DividedLogs> {
    const answer = await this.#work(logs, { kind: 'tlog', isDivided: true }, waiting);
    if ('divided' in answer) return answer.divided;
    throw new ApiError('E_STORE', 'The log cannot be read.');
  }

  async #work(
    logs: readonly FileHandle[],
    what: Omit<ReportWork, 'file' | 'size' | 'next'>,
    waiting: Waiting,
  ): Promise<Made> {
    try {
      if (this.#busy) throw new ApiError('E_BUSY', 'Another report is being made. Ask again shortly.');
      this.#busy = true;
      try {
        const files = logs.map(async (log) => ({ file: log.fd, size: (await log.stat()).size }));
        const [first, ...next] = await Promise.all(files);
        if (first === undefined) throw new ApiError('E_NOT_FOUND', 'There is no log.');
        return await this.#inThread({ ...first, next, ...what }, waiting);
      } finally {
        this.#busy = false;
      }
    } finally {
      for (const log of logs) await log.close();
    }
  }

  async #inThread(work: ReportWork, { gone, progress }: Waiting): Promise<Made> {
    const { promise, resolve, reject } = Promise.withResolvers<Made>();
    const thread = new OwnThread<never, ReportAnswer>({
      file: FILE,
      data: work,
      heap: HEAP,
      onMessage(answer) {
        if ('done' in answer) progress?.({ done: answer.done, total: work.size, text: 'reading the log' });
        else if ('failure' in answer) reject(new ApiError(answer.failure.code, answer.failure.detail));
        else resolve(answer);
      },
      onEnd: (problem) => reject(new ApiError('E_STORE', `The log cannot be read: ${problem}.`)),
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
      await thread.end(); // before the log is closed: its number may soon be another file's
    }
  }
}
