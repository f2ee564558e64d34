import type { FlightReport } from '../../../../../../shared/schemas/flight-report.ts';
import type { Points } from './read/points.ts';
import type { FieldId, LogSummary } from './read/summary.ts';
import type { Track } from './read/track.ts';

/** What the page asks the worker that has the log. */
export interface LogQuestions {
  open: { readonly ask: { readonly file: Blob }; readonly answer: LogSummary };
  points: {
    readonly ask: {
      readonly fields: readonly FieldId[];
      readonly from: number;
      readonly to: number;
      readonly buckets: number;
    };
    readonly answer: readonly Points[];
  };
  values: {
    readonly ask: { readonly fields: readonly FieldId[]; readonly at: number };
    readonly answer: readonly (number | null)[];
  };
  /** Null: a telemetry log, whose report the node makes. */
  report: { readonly ask: Readonly<Record<string, never>>; readonly answer: FlightReport | null };
  track: { readonly ask: Readonly<Record<string, never>>; readonly answer: Track | null };
  csv: {
    readonly ask: { readonly fields: readonly FieldId[]; readonly from: number; readonly to: number };
    readonly answer: Blob;
  };
}

/** A question with its number. */
export type WorkerQuestion = {
  [Kind in keyof LogQuestions]: { readonly id: number; readonly kind: Kind } & LogQuestions[Kind]['ask'];
}[keyof LogQuestions];

/** What the worker says: how far it is, or the answer to a question, whose type is the question's. */
export type WorkerAnswer<Answer = never> =
  | { readonly done: number }
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly failure: string };
