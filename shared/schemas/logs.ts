import type { JsonSchema } from './json-schema.ts';

const time = {
  type: 'string',
  maxLength: 40,
  pattern: '^(?:-?[0-9]{1,9}(?:ms|s|m|h|d)|[0-9]{13,17}|[0-9]{4}-[0-9]{2}-[0-9]{2}[0-9T:.Z+-]*)$',
  description: 'microseconds since 1970, ISO 8601, or so long ago: -5m (ms s m h d)',
} as const satisfies JsonSchema;
const list = {
  type: 'string',
  maxLength: 1024,
  pattern: '^[A-Za-z0-9_.:@-]+(?:,[A-Za-z0-9_.:@-]+)*$',
  description: 'one or several, separated by commas',
} as const satisfies JsonSchema;
const count = { type: 'string', pattern: '^[0-9]{1,9}$' } as const satisfies JsonSchema;
const level = {
  enum: ['trace', 'debug', 'info', 'warn', 'error'],
  description: 'this and above',
} as const satisfies JsonSchema;
const text = {
  type: 'string',
  maxLength: 256,
  description: 'words that must all occur',
} as const satisfies JsonSchema;

const window = { from: time, since: time, to: time } as const;

export const logQuery = {
  type: 'object',
  properties: { ...window, level, service: list, text, session: count, limit: count, offset: count },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const streamQuery = {
  type: 'object',
  properties: { level, service: list, replay: count },
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
  session: count,
  limit: count,
} as const;

export const exportQuery = {
  type: 'object',
  properties: records,
  additionalProperties: false,
} as const satisfies JsonSchema;

export const recordQuery = {
  type: 'object',
  properties: { ...records, cursor: { type: 'string', maxLength: 128, pattern: '^[A-Za-z0-9_-]+$' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const aggregateQuery = {
  type: 'object',
  required: ['metric'],
  properties: {
    ...window,
    metric: list,
    session: count,
    bucket: { enum: ['auto', '1s', '1m', '1h'] },
    agg: { enum: ['avg', 'min', 'max', 'p50', 'p95', 'p99', 'last', 'count'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const sessionQuery = {
  type: 'object',
  properties: { ...window, kind: { enum: ['boot', 'flight'] }, open: { enum: ['0', '1'] }, limit: count },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const logList = {
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

export const stats = {
  type: 'object',
  required: ['db_size_bytes', 'wal_size_bytes', 'rows', 'oldest_ts_us', 'newest_ts_us', 'ingest_accepted'],
  properties: {
    db_size_bytes: { type: 'integer' },
    wal_size_bytes: { type: 'integer' },
    rows: { type: 'object', additionalProperties: { type: 'integer' } },
    oldest_ts_us: { type: ['integer', 'null'] },
    newest_ts_us: { type: ['integer', 'null'] },
    ingest_accepted: { type: 'integer', description: 'since the residual started' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
