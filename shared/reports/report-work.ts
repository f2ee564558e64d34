import { readSync } from 'node:fs';
import type { ErrorCode } from '../errors.ts';
import { LogBytes } from '../logs/log-bytes.ts';
import type { FlightReport } from '../schemas/flight-report.ts';
import type { LogSeries } from '../schemas/log-series.ts';
import { type FlightInLog, FlightsInLog } from './flights-in-log.ts';
import { type FileKind, reportOfLog } from './report.ts';
import { type SeriesWish, seriesOfLog } from './series.ts';
import { tlogBegin, tlogReader } from './tlog.ts';

/** A log, or several, to be read. */
export interface ReportWork {
  /** Descriptor of the open log. */
  readonly file: number;
  readonly size: number;
  readonly kind: FileKind;
  /** Each flight of it by itself, in place of the report of all of it. */
  readonly isDivided?: boolean;
  /** What some of its fields were, in place of the report. */
  readonly series?: SeriesWish;
  /** Telemetry logs in which its last flight may go on, in their order. */
  readonly next?: readonly Pick<ReportWork, 'file' | 'size'>[];
}

/** What the process is given: its logs are `file`, and then `next`. */
export interface ReportTask extends Pick<ReportWork, 'kind' | 'isDivided' | 'series'> {
  readonly logs: readonly Pick<ReportWork, 'file' | 'size'>[];
}

/** What telemetry logs have. */
export interface DividedLogs {
  readonly flights: readonly FlightInLog[];
  /** Of the first log, and of those in which its last flight goes on, how many flights each has. */
  readonly counts: readonly number[];
}

/** In which a log has said when it begins. */
const HEAD_BYTES = 1024 * 1024;

export type ReportAnswer =
  /** Bytes that were read: more will come. */
  | { readonly done: number }
  | { readonly report: FlightReport }
  | { readonly divided: DividedLogs }
  | { readonly series: LogSeries }
  | { readonly failure: { readonly code: ErrorCode; readonly detail: string } };

/** @param onRead told how many bytes were read. @throws ApiError E_LOG for what is no log */
export function reportOf(
  work: Pick<ReportWork, 'file' | 'size' | 'kind'>,
  onRead: (done: number) => void = () => undefined,
): FlightReport {
  return reportOfLog(bytesOf(work, onRead), work.kind);
}

/** @param onRead told how many bytes were read. @throws ApiError as `seriesOfLog` */
export function seriesOf(
  work: Pick<ReportWork, 'file' | 'size' | 'kind'>,
  wish: SeriesWish,
  onRead: (done: number) => void,
): LogSeries {
  return seriesOfLog(bytesOf(work, onRead), work.kind, wish);
}

/** @param onRead told how many bytes were read. @returns none for what is no log, or has no flight */
export function flightsOf(work: ReportWork, onRead: (done: number) => void): DividedLogs {
  const flights = new FlightsInLog();
  const read = tlogReader(flights);
  read(bytesOf(work, onRead));
  for (const log of work.next ?? []) {
    const begin = tlogBegin(bytesOf({ ...log, size: Math.min(log.size, HEAD_BYTES) }, onRead));
    if (!flights.goesOn(begin)) break;
    read(bytesOf(log, onRead));
  }
  return { flights: flights.flights(), counts: flights.counts };
}

function bytesOf(
  { file, size }: Pick<ReportWork, 'file' | 'size'>,
  onRead: (done: number) => void,
): LogBytes {
  return new LogBytes((into, at) => readSync(file, into, 0, into.length, at), size, onRead);
}
