import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { ApiError } from '../../../shared/errors.ts';
import { isRecord, type JsonObject, parseJson, recordOf } from '../../../shared/member.ts';
import { LOG_LEVELS, type LogLevel } from '../../../shared/rpc/logs.ts';
import type { aggregates } from '../../../shared/schemas/logs.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import { FLIGHT_FILE } from './flight-files.ts';
import { fingerprint, type LogFilter, type RecordKind, wrong } from './log-filter.ts';
import { findLogs, type Place, type Sql } from './log-search.ts';

/** Counting stops here: an exact number would need a full scan. */
const MAX_COUNTED = 100_000;
const MAX_BUCKETS = 5000;
/** Of one flight. */
const MOST_FILES = 200;

export const AGGREGATES = ['avg', 'min', 'max', 'p50', 'p95', 'p99', 'last', 'count'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

interface Head {
  readonly id: number;
  readonly ts_us: number;
  readonly session: number | null;
}

/** A log record as the store has it. */
export interface StoredLog extends Head {
  readonly source: string;
  readonly level: LogLevel;
  readonly msg: string;
  readonly fields: JsonObject | null;
}

interface StoredEvent extends Head {
  readonly kind: string;
  readonly source: string;
  readonly severity: LogLevel;
  readonly detail: unknown;
}

interface StoredMetric extends Head {
  readonly metric: string;
  readonly value: number;
}

/** One of the three. */
type Stored = Head & Partial<Omit<StoredLog & StoredEvent & StoredMetric, keyof Head>>;

/** A run of the node or a flight; `files`: what a flight has written. */
interface StoredSession {
  readonly id: number;
  readonly number: number | null;
  readonly kind: 'boot' | 'flight';
  readonly started_us: number;
  readonly ended_us: number | null;
  readonly reason: string | null;
  readonly meta: unknown;
  readonly log_count: number;
  readonly event_count: number;
  readonly span_us: number | null;
  readonly files: readonly unknown[] | null;
}

export interface Page {
  readonly rows: readonly Stored[];
  readonly next: string | null;
}

export type Bucket = Made<typeof aggregates>['data'][number];

export interface LogList {
  readonly rows: readonly StoredLog[];
  /** null: more than 100 000. */
  readonly total: number | null;
}

/** How many rows each table has, and the time of the log record that was written first and of the last one. */
export interface Contents {
  readonly rows: {
    readonly logs: number;
    readonly events: number;
    readonly metrics: number;
    readonly sessions: number;
  };
  readonly oldest_ts_us: number | null;
  readonly newest_ts_us: number | null;
}

/** Reads the database, what was written last first, on a read-only connection. */
export class LogQuery {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Log records, and how many there are of them. */
  list(filter: LogFilter, limit: number, offset: number): LogList {
    const { sql, values } = findLogs(filter);
    if (offset + limit > MAX_COUNTED) {
      const rows = [...this.#logs(filter, limit, null, offset)];
      const more = rows.length > 0 && offset + rows.length > MAX_COUNTED;
      return { rows, total: more ? null : this.#count(filter) };
    }
    // One walk for both.
    const found = this.#db
      .prepare(
        `WITH found AS MATERIALIZED (${sql} LIMIT ${MAX_COUNTED + 1}) SELECT ${COLUMNS.logs}, (SELECT count(*) FROM found) AS total FROM (SELECT id FROM found LIMIT ? OFFSET ?) f CROSS JOIN logs t ON t.id = f.id`,
      )
      .all(...values, limit, offset);
    const rows = found.map(logIn);
    // Behind the end there is no row to carry the number.
    if (found[0] === undefined) return { rows, total: offset === 0 ? 0 : this.#count(filter) };
    const total = Number(found[0]['total']);
    return { rows, total: total > MAX_COUNTED ? null : total };
  }

  /** @param cursor `next` of the page before @throws ApiError E_NOT_FOUND for the cursor of another filter */
  page(filter: LogFilter, limit: number, cursor: string | null): Page {
    const rows = [...this.#rows(filter, limit + 1, cursor)];
    const more = rows.length > limit;
    const page = more ? rows.slice(0, limit) : rows;
    const last = page.at(-1);
    const next =
      more && last !== undefined
        ? Buffer.from(`${last.ts_us}.${last.id}.${fingerprint(filter)}`).toString('base64url')
        : null;
    return { rows: page, next };
  }

  /** Log records, newest first. */
  newest(filter: LogFilter, limit: number): readonly StoredLog[] {
    return [...this.#logs(filter, limit, null, 0)];
  }

  /** Every record, newest first, one at a time. */
  *all(filter: LogFilter, limit: number): Generator<Stored> {
    yield* this.#rows(filter, limit, null);
  }

  contents(): Contents {
    const count = (table: string): number =>
      Number(this.#db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'] ?? 0);
    const end = (order: 'ASC' | 'DESC'): number | null => {
      const row = this.#db.prepare(`SELECT ts_us FROM logs ORDER BY id ${order} LIMIT 1`).get();
      return row === undefined ? null : Number(row['ts_us']);
    };
    return {
      rows: {
        logs: count('logs'),
        events: count('events'),
        metrics: count('metrics') + count('samples'),
        sessions: count('sessions'),
      },
      oldest_ts_us: end('ASC'),
      newest_ts_us: end('DESC'),
    };
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
  ): readonly StoredSession[] {
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
    const filesOf = this.#db.prepare(
      'SELECT DISTINCT detail FROM events WHERE session = ? AND kind = ? LIMIT ?',
    );
    const rows = this.#db
      .prepare(
        `SELECT s.*, (SELECT count(*) FROM logs WHERE session = s.id) AS log_count, (SELECT count(*) FROM events WHERE session = s.id) AS event_count, coalesce(json_extract(s.meta, '$.number'), (SELECT count(*) FROM sessions f WHERE f.kind = 'flight' AND f.id <= s.id)) AS number FROM sessions s WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ?`,
      )
      .all(...values, limit);
    return rows.map((row) => {
      const [started, ended] = [Number(row['started_us']), numberIn(row['ended_us'])];
      const isFlight = row['kind'] === 'flight';
      const { number: _, ...meta } = recordOf(parsed(row['meta']));
      return {
        id: Number(row['id']),
        number: isFlight ? Number(row['number']) : null,
        kind: isFlight ? 'flight' : 'boot',
        started_us: started,
        ended_us: ended,
        reason: row['reason'] === null ? null : String(row['reason']),
        meta,
        log_count: Number(row['log_count']),
        event_count: Number(row['event_count']),
        span_us: ended === null ? null : ended - started,
        files: isFlight
          ? filesOf.all(row['id'] ?? null, FLIGHT_FILE, MOST_FILES).map(({ detail }) => parsed(detail))
          : null,
      };
    });
  }

  #count(filter: LogFilter): number | null {
    const { sql, values } = findLogs(filter);
    const row = this.#db
      .prepare(`SELECT count(*) AS n FROM (${sql} LIMIT ${MAX_COUNTED + 1})`)
      .get(...values);
    const count = Number(row?.['n'] ?? 0);
    return count > MAX_COUNTED ? null : count;
  }

  *#rows(filter: LogFilter, limit: number, cursor: string | null): Generator<Stored> {
    const { kind } = filter;
    const after = cursor === null ? null : readCursor(cursor, filter);
    if (kind === 'logs') {
      yield* this.#logs(filter, limit, after, 0);
      return;
    }
    const { sql, values } = recordsOf(kind, filter, after);
    const read = kind === 'events' ? eventIn : metricIn;
    for (const row of this.#db.prepare(sql).iterate(...values, limit, 0)) yield read(row);
  }

  *#logs(filter: LogFilter, limit: number, after: Place | null, offset: number): Generator<StoredLog> {
    const { sql, values } = logsOf(filter, after);
    for (const row of this.#db.prepare(sql).iterate(...values, limit, offset)) yield logIn(row);
  }
}

const COLUMNS: Readonly<Record<RecordKind, string>> = {
  logs: 't.id, t.ts_us, t.session, t.source, t.level, t.msg, t.fields',
  events: 't.id, t.ts_us, t.session, t.kind, t.source, t.severity, t.detail',
  metrics: 't.metric AS id, t.ts_us, t.session, n.name, t.value',
};

/** `metrics` has what versions up to 1.0 wrote. SQLite merges the two, each in the order of its own key. */
const METRICS = `(SELECT ts_us, metric, value, session FROM samples
  UNION ALL SELECT ts_us, metric, value, session FROM metrics) t JOIN metric_names n ON n.id = t.metric`;

function tableOf(kind: RecordKind): string {
  return kind === 'metrics' ? METRICS : `${kind} t`;
}

/** LIMIT and OFFSET are the last marks of both. */
function logsOf(filter: LogFilter, after: Place | null): Sql {
  const { sql, values } = findLogs(filter, after);
  // With its LIMIT inside the inner query keeps its order, and CROSS JOIN takes it first.
  return {
    sql: `SELECT ${COLUMNS.logs} FROM (${sql} LIMIT ? OFFSET ?) f CROSS JOIN logs t ON t.id = f.id`,
    values,
  };
}

function recordsOf(kind: 'events' | 'metrics', filter: LogFilter, after: Place | null): Sql {
  const { sql, values } = whereOf(filter, after);
  return {
    sql: `SELECT ${COLUMNS[kind]} FROM ${tableOf(kind)} ${sql} ORDER BY ${kind === 'metrics' ? 't.ts_us DESC, t.metric DESC' : 't.id DESC'} LIMIT ? OFFSET ?`,
    values,
  };
}

/** The conditions for events and metrics. */
function whereOf(filter: LogFilter, after: Place | null): Sql {
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
  if (filter.kind === 'events') {
    among('t.source', filter.sources);
    among('t.kind', filter.eventKinds);
    if (filter.minLevel !== null) add('t.severity >= ?', filter.minLevel);
  }
  // By number: only this SQLite applies to each of the two tables.
  else if (filter.metrics.length > 0)
    add(
      `t.metric IN (SELECT id FROM metric_names WHERE name IN (${filter.metrics.map(() => '?').join(', ')}))`,
      ...filter.metrics,
    );
  if (after !== null) {
    if (filter.kind === 'metrics')
      add('t.ts_us <= ? AND (t.ts_us < ? OR t.metric < ?)', after.ts, after.ts, after.id);
    else add('t.id < ?', after.id);
  }
  return { sql: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

function readCursor(cursor: string, filter: LogFilter): Place {
  const [ts, id, mark] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  if (mark !== fingerprint(filter) || !/^\d{1,17}$/.test(ts ?? '') || !/^\d{1,17}$/.test(id ?? ''))
    throw new ApiError('E_NOT_FOUND', 'This cursor belongs to another query. Repeat without it.');
  return { ts: Number(ts), id: Number(id) };
}

function headIn(row: JsonObject): Head {
  return { id: Number(row['id']), ts_us: Number(row['ts_us']), session: numberIn(row['session']) };
}

function logIn(row: JsonObject): StoredLog {
  const fields = parsed(row['fields']);
  return {
    ...headIn(row),
    source: String(row['source']),
    level: levelIn(row['level']),
    msg: String(row['msg']),
    fields: isRecord(fields) ? fields : null,
  };
}

function eventIn(row: JsonObject): StoredEvent {
  return {
    ...headIn(row),
    kind: String(row['kind']),
    source: String(row['source']),
    severity: levelIn(row['severity']),
    detail: parsed(row['detail']),
  };
}

function metricIn(row: JsonObject): StoredMetric {
  return { ...headIn(row), metric: String(row['name']), value: Number(row['value']) };
}

function levelIn(value: unknown): LogLevel {
  return LOG_LEVELS[Number(value)] ?? 'info';
}

function numberIn(value: unknown): number | null {
  return value === null ? null : Number(value);
}

function parsed(text: unknown): unknown {
  return typeof text === 'string' ? parseJson(text) : null;
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
