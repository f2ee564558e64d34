import { METRICS } from '../metrics.ts';
import { formerly, type JsonSchema } from './json-schema.ts';

const time = {
  type: 'string',
  maxLength: 40,
  anyOf: [
    { pattern: '^(?:-?[0-9]{1,9}(?:ms|s|m|h|d)|[0-9]{13,17})$' },
    { format: 'date-time' },
    { format: 'date' },
  ],
  examples: ['-5m'],
  description: 'microseconds since 1970, ISO 8601, or an age: -5m (ms s m h d)',
} as const satisfies JsonSchema;
const list = {
  type: 'string',
  maxLength: 1024,
  pattern: '^[A-Za-z0-9_.:@-]+(?:,[A-Za-z0-9_.:@-]+){0,31}$',
  examples: ['svc-link,svc-video'],
  description: 'up to 32, separated by commas',
} as const satisfies JsonSchema;
const count = (minimum: number, maximum: number, description: string) =>
  ({ type: 'integer', minimum, maximum, description }) as const;
const session = count(0, 999_999_999_999_999, 'number of a session, from GET /api/observability/sessions');
const limit = (most: number) => count(1, most, 'at most this many');
/** The largest `limit` of each route. */
export const MOST = { page: 1000, query: 2000, export: 5_000_000, replay: 1000, offset: 1_000_000 } as const;
const level = {
  enum: ['trace', 'debug', 'info', 'warn', 'warning', 'error'],
  description: 'this level and above; warning is accepted for warn',
} as const satisfies JsonSchema;
const text = {
  type: 'string',
  maxLength: 256,
  examples: ['heartbeat'],
  description: 'words that must all occur',
} as const satisfies JsonSchema;

const ONE_METRIC = METRICS.join('|').replaceAll('.', '\\.');

const window = { from: time, since: time, to: time } as const;

export const logQuery = {
  type: 'object',
  properties: {
    ...window,
    level,
    service: list,
    text,
    session,
    limit: limit(MOST.page),
    offset: count(0, MOST.offset, 'skip this many of the newest'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const streamQuery = {
  type: 'object',
  properties: { level, service: list, replay: count(0, MOST.replay, 'this many earlier ones first') },
  additionalProperties: false,
} as const satisfies JsonSchema;

const records = {
  ...window,
  kind: { enum: ['logs', 'events', 'metrics'], description: 'the kind to query; default logs' },
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
  properties: { ...records, limit: limit(MOST.export) },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const recordQuery = {
  type: 'object',
  properties: {
    ...records,
    limit: limit(MOST.query),
    cursor: {
      type: 'string',
      maxLength: 128,
      pattern: '^[A-Za-z0-9_-]+$',
      description: 'page.next_cursor of the previous page',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const knownMetrics = {
  ...list,
  pattern: `^(?:${ONE_METRIC})(?:,(?:${ONE_METRIC})){0,31}$`,
  'x-says': `is one of ${METRICS.join(', ')}, or several, separated by commas`,
  description: `comma-separated: ${METRICS.join(', ')}`,
  examples: [METRICS[0]],
} as const;

export const aggregateQuery = {
  type: 'object',
  required: ['metric'],
  properties: {
    ...window,
    metric: knownMetrics,
    session,
    bucket: {
      enum: ['auto', '1s', '1m', '1h'],
      description: 'length of each bucket; auto makes about 200',
    },
    agg: {
      enum: ['avg', 'min', 'max', 'p50', 'p95', 'p99', 'last', 'count'],
      description: 'value per bucket; default avg',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const sessionQuery = {
  type: 'object',
  properties: {
    ...window,
    kind: { enum: ['boot', 'flight'], description: 'only of this kind' },
    open: { enum: ['0', '1'], description: '1: only those under way' },
    limit: limit(MOST.page),
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

const record = {
  type: 'object',
  required: ['id', 'ts_us', 'session'],
  properties: {
    id: { type: 'integer' },
    ts_us: { type: 'integer', description: 'microseconds since 1970' },
    session: { type: ['integer', 'null'] },
    source: { type: 'string', description: 'the process; logs and events' },
    level: { type: 'string', description: 'logs' },
    msg: { type: 'string', description: 'logs' },
    fields: { type: ['object', 'null'], description: 'logs' },
    kind: { type: 'string', description: 'events' },
    severity: { type: 'string', description: 'events' },
    detail: { description: 'events' },
    metric: { type: 'string', description: 'metrics' },
    value: { type: 'number', description: 'metrics' },
  },
} as const satisfies JsonSchema;

const page = {
  page: {
    type: 'object',
    required: ['next_cursor', 'count'],
    properties: { next_cursor: { type: ['string', 'null'] }, count: { type: 'integer' } },
  },
  meta: { type: 'object' },
} as const;

const recordList = { type: 'array', items: record } as const satisfies JsonSchema;

export const recordPage = {
  title: 'RecordPage',
  type: 'object',
  required: ['records', 'data', 'page', 'meta'],
  properties: { records: recordList, data: formerly(recordList, '`records`'), ...page },
  additionalProperties: false,
} as const satisfies JsonSchema;

const bucketList = {
  type: 'array',
  items: {
    type: 'object',
    required: ['bucket_us', 'metric', 'value', 'min', 'max', 'mean', 'count'],
    properties: {
      bucket_us: { type: 'integer', description: 'where the bucket begins, microseconds since 1970' },
      metric: { type: 'string' },
      value: { type: 'number', description: 'of `agg`' },
      min: { type: 'number' },
      max: { type: 'number' },
      mean: { type: 'number' },
      count: { type: 'integer', description: 'how many values are in it' },
    },
  },
  description: 'by metric, then by time; a bucket without values is not there',
} as const satisfies JsonSchema;

export const aggregates = {
  title: 'AggregatePage',
  type: 'object',
  required: ['buckets', 'data', 'page', 'meta'],
  properties: { buckets: bucketList, data: formerly(bucketList, '`buckets`'), ...page },
  additionalProperties: false,
} as const satisfies JsonSchema;

const fileNames = { type: 'array', items: { type: 'string' } } as const satisfies JsonSchema;

const sessionList = {
  type: 'array',
  items: {
    type: 'object',
    required: [
      'id',
      'number',
      'kind',
      'started_us',
      'ended_us',
      'span_us',
      'reason',
      'log_count',
      'event_count',
      'files',
    ],
    properties: {
      id: { type: 'integer' },
      number: {
        type: ['integer', 'null'],
        description: 'of a flight: from 1, and it keeps it when older ones are deleted; null: a boot',
      },
      kind: { enum: ['boot', 'flight'] },
      started_us: { type: 'integer', description: 'microseconds since 1970' },
      ended_us: { type: ['integer', 'null'], description: 'microseconds since 1970; null: it goes on' },
      span_us: {
        type: ['integer', 'null'],
        description: 'how long it was, microseconds and no time since 1970; null: it goes on',
      },
      reason: { type: ['string', 'null'], description: 'why it ended' },
      meta: {},
      log_count: { type: 'integer' },
      event_count: { type: 'integer' },
      files: {
        type: ['object', 'null'],
        description: 'of a flight: what was written meanwhile and is still there; null: a boot',
        required: ['tlogs', 'recordings'],
        properties: { tlogs: fileNames, recordings: fileNames },
      },
    },
  },
} as const satisfies JsonSchema;

export const sessions = {
  title: 'SessionPage',
  type: 'object',
  required: ['sessions', 'data', 'page', 'meta'],
  properties: {
    sessions: sessionList,
    data: formerly(sessionList, '`sessions`'),
    ...page,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const stats = {
  title: 'LogStats',
  type: 'object',
  required: ['db_size_bytes', 'wal_size_bytes', 'rows', 'oldest_ts_us', 'newest_ts_us', 'ingest_accepted'],
  properties: {
    db_size_bytes: { type: 'integer' },
    wal_size_bytes: { type: 'integer' },
    rows: { type: 'object', additionalProperties: { type: 'integer' } },
    oldest_ts_us: { type: ['integer', 'null'], description: 'microseconds since 1970' },
    newest_ts_us: { type: ['integer', 'null'], description: 'microseconds since 1970' },
    limits: {
      type: 'object',
      properties: { max_mb: { type: 'number' }, max_age_days: { type: 'integer' } },
      additionalProperties: false,
      description: 'the limits of the store',
    },
    ingest_accepted: { type: 'integer', description: 'since the residual started' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
