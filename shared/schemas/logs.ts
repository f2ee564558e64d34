import type { JsonSchema } from './json-schema.ts';

const time = {
  title: 'Time',
  type: 'string',
  maxLength: 40,
  anyOf: [
    { pattern: '^(?:-?[0-9]{1,9}(?:ms|s|m|h|d)|[0-9]{13,17})$' },
    { format: 'date-time' },
    { format: 'date' },
  ],
  description: 'microseconds since 1970, ISO 8601, or so long ago: -5m (ms s m h d)',
} as const satisfies JsonSchema;
const list = {
  type: 'string',
  maxLength: 1024,
  pattern: '^[A-Za-z0-9_.:@-]+(?:,[A-Za-z0-9_.:@-]+){0,31}$',
  description: 'up to 32, separated by commas',
} as const satisfies JsonSchema;
const count = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum }) as const;
const session = count(0, 999_999_999_999_999);
/** The largest `limit` of each route. */
export const MOST = { page: 1000, query: 2000, export: 5_000_000, replay: 1000, offset: 1_000_000 } as const;
const level = {
  enum: ['trace', 'debug', 'info', 'warn', 'warning', 'error'],
  description: 'this and above; warning is another word for warn',
} as const satisfies JsonSchema;
const text = {
  type: 'string',
  maxLength: 256,
  description: 'words that must all occur',
} as const satisfies JsonSchema;

const window = { from: time, since: time, to: time } as const;

export const logQuery = {
  type: 'object',
  properties: {
    ...window,
    level,
    service: list,
    text,
    session,
    limit: count(1, MOST.page),
    offset: count(0, MOST.offset),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const streamQuery = {
  type: 'object',
  properties: { level, service: list, replay: count(0, MOST.replay) },
  additionalProperties: false,
} as const satisfies JsonSchema;

const records = {
  ...window,
  kind: { enum: ['logs', 'events', 'metrics'] },
  source: list,
  service: list,
  metric: list,
  event_kind: list,
  level,
  text,
  session,
} as const;

export const exportQuery = {
  type: 'object',
  properties: { ...records, limit: count(1, MOST.export) },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const recordQuery = {
  type: 'object',
  properties: {
    ...records,
    limit: count(1, MOST.query),
    cursor: { type: 'string', maxLength: 128, pattern: '^[A-Za-z0-9_-]+$' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const aggregateQuery = {
  type: 'object',
  required: ['metric'],
  properties: {
    ...window,
    metric: list,
    session,
    bucket: { enum: ['auto', '1s', '1m', '1h'] },
    agg: { enum: ['avg', 'min', 'max', 'p50', 'p95', 'p99', 'last', 'count'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const sessionQuery = {
  type: 'object',
  properties: {
    ...window,
    kind: { enum: ['boot', 'flight'] },
    open: { enum: ['0', '1'] },
    limit: count(1, MOST.page),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const logList = {
  title: 'LogList',
  type: 'object',
  required: ['entries', 'total', 'limit', 'offset'],
  properties: {
    entries: {
      type: 'array',
      items: {
        type: 'object',
        required: ['seq', 'timestamp', 'level', 'logger', 'message', 'fields'],
        properties: {
          seq: { type: 'integer' },
          timestamp: { type: 'string', description: 'RFC 3339' },
          level: { enum: ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] },
          logger: { type: 'string' },
          message: { type: 'string' },
          fields: { type: ['object', 'null'] },
        },
      },
      description: 'newest first',
    },
    total: { type: ['integer', 'null'], description: 'null: more than 100 000' },
    limit: { type: 'integer' },
    offset: { type: 'integer' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const envelope = {
  title: 'RecordPage',
  type: 'object',
  required: ['data', 'page', 'meta'],
  properties: {
    data: { type: 'array', items: { type: 'object' } },
    page: {
      type: 'object',
      properties: { next_cursor: { type: ['string', 'null'] }, count: { type: 'integer' } },
    },
    meta: { type: 'object' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const aggregates = {
  ...envelope,
  title: 'AggregatePage',
  properties: {
    ...envelope.properties,
    data: {
      type: 'array',
      items: {
        type: 'object',
        required: ['bucket_us', 'metric', 'value', 'count'],
        properties: {
          bucket_us: { type: 'integer', description: 'where the bucket begins, microseconds since 1970' },
          metric: { type: 'string' },
          value: { type: 'number' },
          count: { type: 'integer', description: 'how many values are in it' },
        },
      },
      description: 'by metric, then by time; a bucket without values is not there',
    },
  },
} as const satisfies JsonSchema;

export const stats = {
  title: 'LogStats',
  type: 'object',
  required: ['db_size_bytes', 'wal_size_bytes', 'rows', 'oldest_ts_us', 'newest_ts_us', 'ingest_accepted'],
  properties: {
    db_size_bytes: { type: 'integer' },
    wal_size_bytes: { type: 'integer' },
    rows: { type: 'object', additionalProperties: { type: 'integer' } },
    oldest_ts_us: { type: ['integer', 'null'] },
    newest_ts_us: { type: ['integer', 'null'] },
    limits: {
      type: 'object',
      properties: { max_mb: { type: 'number' }, max_age_days: { type: 'integer' } },
      additionalProperties: false,
      description: 'what the store keeps at most',
    },
    ingest_accepted: { type: 'integer', description: 'since the residual started' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
