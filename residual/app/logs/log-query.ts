import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { ApiError } from '../../../shared/errors.ts';
import { LOG_LEVELS } from '../../../shared/rpc/logs.ts';
import { fingerprint, type LogFilter, type RecordKind, wrong } from './log-filter.ts';

/** Counting stops here: an exact number would need a full scan. */
const MAX_COUNTED = 100_000;
const EVENT_SEVERITIES = LOG_LEVELS;
const MAX_BUCKETS = 5000;
/** How many records may be stored out of time order. */
const LATE_ROWS = 50_000;

export const AGGREGATES = ['avg', 'min', 'max', 'p50', 'p95', 'p99', 'last', 'count'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

export interface Page {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

export interface Bucket {
  readonly bucket_us: number;
  readonly metric: string;
  /** What was asked for, of `agg`. */
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly count: number;
}

interface Where {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** Reads the database, newest first, on a read-only connection. */
export class LogQuery {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** @param cursor `next` of the page before @throws ApiError E_NOT_FOUND for the cursor of another filter */
  page(filter: LogFilter, limit: number, cursor: string | null, offset = 0): Page {
    const rows = [...this.#rows(filter, limit + 1, cursor, offset)];
    const more = rows.length > limit;
    const page = more ? rows.slice(0, limit) : rows;
    const last = page.at(-1);
    const next =
      more && last !== undefined
        ? Buffer.from(`${Number(last['ts_us'])}.${Number(last['id'])}.${fingerprint(filter)}`).toString(
            'base64url',
          )
        : null;
    return { rows: page, next };
  }

  /** Every record, newest first, one at a time. */
  *all(filter: LogFilter, limit: number): Generator<Readonly<Record<string, unknown>>> {
    yield* this.#rows(filter, limit, null, 0);
  }

  /** How many records match, null for more than 100 000. */
  count(filter: LogFilter): number | null {
    const { sql, values } = whereOf(filter, null);
    const row = this.#db
      .prepare(
        `SELECT count(*) AS n FROM (SELECT 1 FROM ${tableOf(filter.kind)} ${sql} LIMIT ${MAX_COUNTED + 1})`,
      )
      .get(...values);
    const count = Number(row?.['n'] ?? 0);
    return count > MAX_COUNTED ? null : count;
  }

  /** @param bucketUs width of a bucket, microseconds */
  aggregate(filter: LogFilter, bucketUs: number, how: Aggregate): readonly Bucket[] {
    const { sql, values } = whereOf({ ...filter, kind: 'metrics' }, null);
    const rows = this.#db
      .prepare(
        `SELECT (t.ts_us / CAST(? AS INTEGER)) * CAST(? AS INTEGER) AS bucket, n.name AS metric, t.value AS value FROM ${tableOf('metrics')} ${sql} ORDER BY metric, bucket, t.ts_us`,
      )
      .iterate(bucketUs, bucketUs, ...values);
    const out: Bucket[] = [];
    let inBucket: number[] = [];
    let at: { readonly bucket: number; readonly metric: string } | null = null;
    const close = (key: typeof at): void => {
      if (key === null) return;
      if (out.length >= MAX_BUCKETS)
        throw wrong('bucket', `gives more than ${MAX_BUCKETS} buckets; take a wider one`);
      out.push({
        bucket_us: key.bucket,
        metric: key.metric,
        value: reduce(inBucket, how),
        min: reduce(inBucket, 'min'),
        max: reduce(inBucket, 'max'),
        mean: reduce(inBucket, 'avg'),
        count: inBucket.length,
      });
    };
    for (const row of rows) {
      const key = { bucket: Number(row['bucket']), metric: String(row['metric']) };
      if (at?.bucket !== key.bucket || at.metric !== key.metric) {
        close(at);
        at = key;
        inBucket = [];
      }
      inBucket.push(Number(row['value']));
    }
    close(at);
    return out;
  }

  sessions(
    filter: { readonly fromUs: number | null; readonly toUs: number | null },
    kind: string | null,
    open: boolean,
    limit: number,
  ): readonly Readonly<Record<string, unknown>>[] {
    const conditions = ['1 = 1'];
    const values: SQLInputValue[] = [];
    const add = (condition: string, value: SQLInputValue): void => {
      conditions.push(condition);
      values.push(value);
    };
    if (filter.fromUs !== null) add('started_us >= ?', filter.fromUs);
    if (filter.toUs !== null) add('started_us < ?', filter.toUs);
    if (kind !== null) add('kind = ?', kind);
    if (open) conditions.push('ended_us IS NULL');
    const rows = this.#db
      .prepare(
        `SELECT s.*, (SELECT count(*) FROM logs WHERE ts_us >= s.started_us - 5000000 AND ts_us <= coalesce(s.ended_us, 9e15) + 5000000 AND session = s.id) AS log_count, (SELECT count(*) FROM events WHERE session = s.id) AS event_count FROM sessions s WHERE ${conditions.join(' AND ')} ORDER BY started_us DESC, id DESC LIMIT ?`,
      )
      .all(...values, limit);
    return rows.map((row) => ({
      id: row['id'],
      kind: row['kind'],
      started_us: row['started_us'],
      ended_us: row['ended_us'],
      reason: row['reason'],
      meta: parsed(row['meta']),
      log_count: row['log_count'],
      event_count: row['event_count'],
      span_us: row['ended_us'] === null ? null : Number(row['ended_us']) - Number(row['started_us']),
    }));
  }

  *#rows(
    filter: LogFilter,
    limit: number,
    cursor: string | null,
    offset: number,
  ): Generator<Readonly<Record<string, unknown>>> {
    const { sql, values } = whereOf(filter, cursor);
    const statement = this.#db.prepare(
      `SELECT ${COLUMNS[filter.kind]} FROM ${tableOf(filter.kind)} ${sql} ORDER BY ${ORDER[filter.kind]} LIMIT ? OFFSET ?`,
    );
    for (const row of statement.iterate(...values, limit, offset)) yield shape(filter.kind, row);
  }
}

const COLUMNS: Readonly<Record<RecordKind, string>> = {
  logs: 't.id, t.ts_us, t.session, t.source, t.level, t.msg, t.fields',
  events: 't.id, t.ts_us, t.session, t.kind, t.source, t.severity, t.detail',
  metrics: 't.metric AS id, t.ts_us, t.session, n.name, t.value',
};
const ORDER: Readonly<Record<RecordKind, string>> = {
  logs: 't.ts_us DESC, t.id DESC',
  events: 't.ts_us DESC, t.id DESC',
  metrics: 't.ts_us DESC, t.metric DESC',
};

/** `metrics` has what versions up to 1.0 wrote. SQLite merges the two, each in the order of its own key. */
const METRICS = `(SELECT ts_us, metric, value, session FROM samples
  UNION ALL SELECT ts_us, metric, value, session FROM metrics) t JOIN metric_names n ON n.id = t.metric`;

function tableOf(kind: RecordKind): string {
  return kind === 'metrics' ? METRICS : `${kind} t`;
}

function whereOf(filter: LogFilter, cursor: string | null): Where {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const add = (condition: string, ...given: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...given);
  };
  const among = (column: string, list: readonly string[]): void => {
    if (list.length > 0) add(`${column} IN (${list.map(() => '?').join(', ')})`, ...list);
  };
  if (filter.fromUs !== null) add('t.ts_us >= ?', filter.fromUs);
  if (filter.toUs !== null) add('t.ts_us < ?', filter.toUs);
  if (filter.session !== null) add('t.session = ?', filter.session);
  if (filter.kind !== 'metrics') among('t.source', filter.sources);
  if (filter.kind === 'events') among('t.kind', filter.eventKinds);
  // By number: only this SQLite applies to each of the two tables.
  if (filter.kind === 'metrics' && filter.metrics.length > 0)
    add(
      `t.metric IN (SELECT id FROM metric_names WHERE name IN (${filter.metrics.map(() => '?').join(', ')}))`,
      ...filter.metrics,
    );
  if (filter.minLevel !== null && filter.kind === 'logs') add('t.level >= ?', filter.minLevel);
  if (filter.minLevel !== null && filter.kind === 'events') add('t.severity >= ?', filter.minLevel);
  if (filter.text !== null && filter.kind === 'logs') {
    // Row ids rise with time, except for late records: the text search starts a little before the window.
    const from = `rowid >= coalesce((SELECT id FROM logs WHERE ts_us >= ? ORDER BY ts_us LIMIT 1), 9e15) - ${LATE_ROWS}`;
    const range = filter.fromUs === null ? '' : ` AND ${from}`;
    add(
      `t.id IN (SELECT rowid FROM logs_fts WHERE logs_fts MATCH ?${range})`,
      filter.text,
      ...(filter.fromUs === null ? [] : [filter.fromUs]),
    );
  }
  if (cursor !== null) {
    const { ts, id } = readCursor(cursor, filter);
    const column = filter.kind === 'metrics' ? 't.metric' : 't.id';
    add(`(t.ts_us < ? OR (t.ts_us = ? AND ${column} < ?))`, ts, ts, id);
  }
  return { sql: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

function readCursor(cursor: string, filter: LogFilter): { readonly ts: number; readonly id: number } {
  const [ts, id, mark] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  if (mark !== fingerprint(filter) || !/^\d{1,17}$/.test(ts ?? '') || !/^\d{1,17}$/.test(id ?? ''))
    throw new ApiError('E_NOT_FOUND', 'This cursor does not belong to these conditions. Repeat without it.');
  return { ts: Number(ts), id: Number(id) };
}

function shape(kind: RecordKind, row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const head = { id: row['id'], ts_us: row['ts_us'], session: row['session'] };
  switch (kind) {
    case 'logs':
      return {
        ...head,
        source: row['source'],
        level: LOG_LEVELS[Number(row['level'])] ?? 'info',
        msg: row['msg'],
        fields: parsed(row['fields']),
      };
    case 'events':
      return {
        ...head,
        kind: row['kind'],
        source: row['source'],
        severity: EVENT_SEVERITIES[Number(row['severity'])] ?? 'info',
        detail: parsed(row['detail']),
      };
    case 'metrics':
      return { ...head, metric: row['name'], value: row['value'] };
  }
}

function parsed(text: unknown): unknown {
  return typeof text === 'string' ? (JSON.parse(text) as unknown) : null;
}

function reduce(values: readonly number[], how: Aggregate): number {
  const sorted = how.startsWith('p') ? values.toSorted((a, b) => a - b) : values;
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  switch (how) {
    case 'avg':
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    case 'min':
      return values.reduce((least, value) => Math.min(least, value), Infinity);
    case 'max':
      return values.reduce((most, value) => Math.max(most, value), -Infinity);
    case 'p50':
      return at(0.5);
    case 'p95':
      return at(0.95);
    case 'p99':
      return at(0.99);
    case 'last':
      return values.at(-1) ?? Number.NaN;
    case 'count':
      return values.length;
  }
}
