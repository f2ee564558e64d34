import type { LogEvent, LogMode } from './marks.ts';

export type LogKind = 'dataflash' | 'ulog' | 'tlog';

/** A field of a message, by their numbers in the summary. */
export interface FieldId {
  readonly group: number;
  readonly field: number;
}

/** What the page shows of a log before anything is chosen. */
export interface LogSummary {
  readonly kind: LogKind;
  readonly groups: readonly {
    readonly name: string;
    readonly rows: number;
    readonly fields: readonly { readonly name: string; readonly unit: string; readonly isText: boolean }[];
  }[];
  readonly rows: number;
  /** First and last time, s on the clock of the log; null: no row has a time. */
  readonly span: readonly [from: number, to: number] | null;
  /** Time of day at zero of that clock, ms since 1970. */
  readonly utcOfZero: number | null;
  readonly modes: readonly LogMode[];
  readonly events: readonly LogEvent[];
  readonly full: boolean;
  readonly marksFull: boolean;
}
