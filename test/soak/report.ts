import type { Verdict } from './invariants.ts';
import type { Slope } from './slopes.ts';

/** Milliseconds; null where nothing was asked. */
export interface Latency {
  readonly count: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

export interface FaultSummary {
  readonly name: string;
  readonly count: number;
  /** From the kill, or the end of what was done, until the node was whole again, ms. */
  readonly whole_ms: { readonly median: number | null; readonly max: number | null };
  readonly bound_ms: number;
}

export interface ProcessSlopes {
  readonly process: string;
  readonly runs: number;
  /** MiB an hour. */
  readonly rss: Slope | null;
  readonly files: Slope | null;
  readonly threads: Slope | null;
  /** The last values seen; MiB and counts. */
  readonly last: { readonly rss: number; readonly files: number; readonly threads: number } | null;
}

/** What `npm run soak` writes. */
export interface SoakReport {
  readonly started_at: string;
  readonly ended_at: string;
  readonly duration_s: number;
  readonly asked_s: number;
  /** Why it ended before that; null: it did not. */
  readonly cut_short: string | null;
  readonly seed: number;
  readonly version: string;
  /** Null outside of a clone. */
  readonly commit: string | null;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly ok: boolean;
  readonly invariants: readonly Verdict[];
  readonly faults: readonly FaultSummary[];
  /** Faults that this machine cannot make, and why. */
  readonly skipped: readonly { readonly name: string; readonly why: string }[];
  readonly latency: Readonly<Record<'between faults' | 'during faults', Latency>>;
  readonly slopes: readonly ProcessSlopes[];
  /** How much of each was done. */
  readonly load: Readonly<Record<string, number>>;
  /** When which fault was made, seconds since the start; the newest 2000. */
  readonly history: readonly {
    readonly at_s: number;
    readonly fault: string;
    readonly whole_ms: number | null;
  }[];
}

/** The report for people. @param level of its title */
export function markdownOf(report: SoakReport, level = 1): string {
  const h = '#'.repeat(level);
  const state = report.ok ? 'every invariant held' : 'AN INVARIANT WAS BROKEN';
  const lines = [
    `${h} Soak: ${state}`,
    '',
    `${report.started_at}, ${duration(report.duration_s)} of ${duration(report.asked_s)}${report.cut_short === null ? '' : ` (${report.cut_short})`}, seed ${report.seed}, version ${report.version}, commit ${report.commit ?? 'unknown'}.`,
    '',
    `Machine: ${Object.entries(report.machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}.`,
    '',
    `${h}# Invariants`,
    '',
    ...table(
      ['Invariant', 'Rule', 'Outcome', 'Checked', 'Broken', 'Numbers'],
      report.invariants.map((verdict) => [
        verdict.name,
        verdict.rule,
        verdict.outcome,
        verdict.checked,
        verdict.broken,
        Object.entries(verdict.numbers)
          .map(([name, value]) => `${name} ${value === null ? 'not measured' : round(value)}`)
          .join('; '),
      ]),
    ),
    ...report.invariants.flatMap(({ name, breaches }) => breaches.map((breach) => `- ${name}: ${breach}`)),
    ...(report.ok ? [] : ['']),
    `${h}# Faults`,
    '',
    ...table(
      ['Fault', 'Times', 'Whole again, median', 'Longest', 'Bound'],
      report.faults.map(({ name, count, whole_ms: whole, bound_ms: bound }) => [
        name,
        count,
        seconds(whole.median),
        seconds(whole.max),
        seconds(bound),
      ]),
    ),
    ...report.skipped.map(({ name, why }) => `- skipped: ${name} (${why})`),
    ...(report.skipped.length === 0 ? [] : ['']),
    `${h}# Time of GET /api/status`,
    '',
    ...table(
      ['When', 'Requests', 'p50 ms', 'p99 ms', 'Longest ms'],
      Object.entries(report.latency).map(([when, { count, p50, p99, max }]) => [
        when,
        count,
        number(p50),
        number(p99),
        number(max),
      ]),
    ),
    `${h}# Growth an hour`,
    '',
    'Of the part in which no process was killed, after its warm-up: the slope with its 95 % interval.',
    '',
    ...table(
      ['Process', 'Runs', 'RSS MiB/h', 'Open files/h', 'Threads/h', 'RSS, files, threads at the end'],
      report.slopes.map(({ process, runs, rss, files, threads, last }) => [
        process,
        runs,
        slope(rss),
        slope(files),
        slope(threads),
        last === null ? 'not measured' : `${round(last.rss)} MiB, ${last.files}, ${last.threads}`,
      ]),
    ),
    `${h}# Load`,
    '',
    ...table(['What', 'Count'], Object.entries(report.load)),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

/** A table of Markdown, with an empty line after it. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): readonly string[] {
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

function slope(found: Slope | null): string {
  return found === null
    ? 'not measured'
    : `${round(found.per_hour)} (${round(found.low)} to ${round(found.high)})`;
}

function number(value: number | null): string | number {
  return value === null ? 'not measured' : round(value);
}

function seconds(ms: number | null): string {
  return ms === null ? 'not measured' : `${round(ms / 1000)} s`;
}

function duration(s: number): string {
  return s < 600 ? `${Math.round(s)} s` : `${Math.round(s / 60)} min`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
