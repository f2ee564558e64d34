import type { ErrorCode } from '../../../shared/errors.ts';
import type { JsonObject } from '../../../shared/member.ts';
import type { LogFilter } from './log-filter.ts';
import type { LogQuery } from './log-query.ts';

/** A part of an export: so many lines, or what came in so many ms; then other questions have their turn. */
const PART_LINES = 1000;
const PART_MS = 20;

export interface Question {
  readonly id: number;
  readonly name: keyof LogReaderWork;
  readonly args: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly failure?: {
    /** null: no ApiError. */
    readonly code: ErrorCode | null;
    readonly detail: string;
    readonly extras?: JsonObject;
  };
}

/** `opened`: once, before anything else. */
export type FromReader = Answer | 'opened';

/** What the thread of the log reader can be asked: queries, and exports by a number that the asker gives. */
export class LogReaderWork {
  readonly list: LogQuery['list'];
  readonly newest: LogQuery['newest'];
  readonly page: LogQuery['page'];
  readonly aggregate: LogQuery['aggregate'];
  readonly sessions: LogQuery['sessions'];
  readonly contents: LogQuery['contents'];
  readonly #query: LogQuery;
  readonly #exports = new Map<number, ReturnType<LogQuery['all']>>();

  constructor(query: LogQuery) {
    this.#query = query;
    this.list = query.list.bind(query);
    this.newest = query.newest.bind(query);
    this.page = query.page.bind(query);
    this.aggregate = query.aggregate.bind(query);
    this.sessions = query.sessions.bind(query);
    this.contents = query.contents.bind(query);
  }

  open(id: number, filter: LogFilter, limit: number): void {
    this.#exports.set(id, this.#query.all(filter, limit));
  }

  /** @returns lines of JSON, at least one; '' at the end */
  next(id: number): string {
    const lines: string[] = [];
    const due = performance.now() + PART_MS;
    do {
      const row = this.#exports.get(id)?.next();
      if (row === undefined || row.done === true) break;
      lines.push(`${JSON.stringify(row.value)}\n`);
    } while (lines.length < PART_LINES && performance.now() < due);
    return lines.join('');
  }

  close(id: number): void {
    this.#exports.get(id)?.return(undefined);
    this.#exports.delete(id);
  }
}
