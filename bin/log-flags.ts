import { Flags } from '@oclif/core';
import type { JsonObject } from '../shared/member.ts';

/** Conditions on log records, as the query API names them. */
export const windowFlags = {
  since: Flags.string({ summary: 'so long ago (10m, 2h, 1d), or a time' }),
  from: Flags.string({ summary: 'a time: ISO 8601, or microseconds since 1970' }),
  to: Flags.string({ summary: 'a time, not included' }),
};

export const recordFlags = {
  ...windowFlags,
  level: Flags.option({
    options: ['trace', 'debug', 'info', 'warn', 'error'] as const,
    summary: 'this and above',
  })(),
  source: Flags.string({ summary: 'process, for example svc-link; repeatable', multiple: true }),
  text: Flags.string({ summary: 'words that must all occur' }),
  session: Flags.integer({ summary: 'number of a session' }),
};

/** Flags that say which node is asked, and how the answer is shown. */
const GLOBAL_FLAGS: ReadonlySet<string> = new Set(['json', 'host', 'key', 'node', 'via']);

/** The query of a request, from a command's flags without the global ones: lists are joined by commas, absent flags left out. */
export function queryOf(flags: JsonObject): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined || value === false || GLOBAL_FLAGS.has(name)) continue;
    const text = Array.isArray(value)
      ? value.join(',')
      : value === true
        ? '1'
        : `${value as string | number}`;
    if (text !== '') query.set(name.replaceAll('-', '_'), text);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** A record of any kind, as the query API gives it. */
export interface LogRow {
  readonly ts_us: number;
  readonly source?: string;
  readonly level?: string;
  readonly msg?: string;
  readonly kind?: string;
  readonly severity?: string;
  readonly detail?: unknown;
  readonly metric?: string;
  readonly value?: number;
}

/** One record as a line for a person. */
export function recordLine(row: LogRow): string {
  const time = new Date(row.ts_us / 1000).toISOString();
  if (row.metric !== undefined) return `${time} ${row.metric} ${row.value ?? ''}`;
  if (row.kind !== undefined)
    return `${time} ${(row.severity ?? '').padEnd(5)} ${row.kind} ${JSON.stringify(row.detail)}`;
  return `${time} ${(row.level ?? '').padEnd(5)} ${(row.source ?? '').padEnd(14)} ${row.msg ?? ''}`;
}
