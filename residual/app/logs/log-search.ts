import type { SQLInputValue } from 'node:sqlite';
import { GRAVE_LEVEL } from './log-database.ts';
import type { LogFilter } from './log-filter.ts';

/** A piece of SQL, and the values of its marks. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** A record in the order of a page: those after it were stored before it; values have no number, and go by time. */
export interface Place {
  readonly ts: number;
  readonly id: number;
}

/**
 * A query for `id` and `ts_us` of the log records that fit, those written last first; a LIMIT may follow. The order is that of writing: a
 * clock that was ahead for a while hides nothing that came later.
 *
 * SQLite does not know how the records are spread over levels, sources and words. So each query names the index that it walks from
 * the newest end, and all of its conditions but the words stand in that index: a record that does not fit costs some 40 ns. Each
 * source has an order of its own; several of them are merged.
 */
export function findLogs(filter: LogFilter, after: Place | null = null): Sql {
  const { minLevel, sources } = filter;
  const others = conditionsOf(filter, after);
  const words = wordsOf(filter);
  if (minLevel !== null && minLevel >= GRAVE_LEVEL)
    return walk('logs_grave_in_order', [
      literal(`level >= ${GRAVE_LEVEL}`),
      ...among(sources),
      ...others,
      ...words,
    ]);
  const [first, ...more] = new Set(sources);
  if (first === undefined) return walk('logs_in_order', [...others, ...words]);
  const ofSource = (source: string): Sql =>
    walk('logs_of_source', [condition('source = ?', source), ...others]);
  if (more.length === 0) return walk('logs_of_source', [condition('source = ?', first), ...others, ...words]);
  return merge([first, ...more].map(ofSource), words);
}

const ORDER = 'ORDER BY id DESC';

function walk(index: string, conditions: readonly Sql[]): Sql {
  return {
    sql: `SELECT id, ts_us FROM logs INDEXED BY ${index}${where(conditions)} ${ORDER}`,
    values: conditions.flatMap(({ values }) => values),
  };
}

/** The words are looked up once, not for each source. LIMIT -1 keeps SQLite from turning the two queries into one. */
function merge(parts: readonly Sql[], words: readonly Sql[]): Sql {
  const all = parts.map(({ sql }) => sql.slice(0, -ORDER.length)).join(' UNION ALL ');
  return {
    sql: `SELECT id, ts_us FROM (${all} ${ORDER} LIMIT -1)${where(words)}`,
    values: [...parts, ...words].flatMap(({ values }) => values),
  };
}

function conditionsOf({ fromUs, toUs, session, minLevel }: LogFilter, after: Place | null): readonly Sql[] {
  return [
    ...(fromUs === null ? [] : [condition('ts_us >= ?', fromUs)]),
    ...(toUs === null ? [] : [condition('ts_us < ?', toUs)]),
    ...(session === null ? [] : [condition('session = ?', session)]),
    // Everything has the lowest level, or a higher one.
    ...(minLevel === null || minLevel === 0 ? [] : [condition('level >= ?', minLevel)]),
    ...(after === null ? [] : [condition('id < ?', after.id)]),
  ];
}

function wordsOf({ text, fromUs }: LogFilter): readonly Sql[] {
  if (text === null) return [];
  if (fromUs === null) return [condition('id IN (SELECT rowid FROM logs_fts WHERE logs_fts MATCH ?)', text)];
  // The text search starts at the first record of the window.
  const from =
    'rowid >= coalesce((SELECT id FROM logs INDEXED BY logs_in_order WHERE ts_us >= ? ORDER BY id LIMIT 1), 9e15)';
  return [condition(`id IN (SELECT rowid FROM logs_fts WHERE logs_fts MATCH ? AND ${from})`, text, fromUs)];
}

function among(sources: readonly string[]): readonly Sql[] {
  return sources.length === 0
    ? []
    : [condition(`source IN (${sources.map(() => '?').join(', ')})`, ...sources)];
}

function condition(sql: string, ...values: readonly SQLInputValue[]): Sql {
  return { sql, values };
}

function literal(sql: string): Sql {
  return { sql, values: [] };
}

function where(conditions: readonly Sql[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
}
