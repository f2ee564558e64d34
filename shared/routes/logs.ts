import * as logs from '../schemas/logs.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS, media } from './row-parts.ts';

const { row } = domain({ lane: 'residual', feature: 'logs', profiles: 'DG' });

export const logsRows = [
  row('logs.get', 'GET /api/logs', 'key read ok -', 'query the logs', {
    query: logs.logQuery,
    responses: json('newest first', logs.logList),
  }),
  row('logs.stream.get', 'GET /api/logs/stream', 'key read ok -', 'follow the logs, as server-sent events', {
    limits: LIMITS.stream,
    query: logs.streamQuery,
    responses: media('entries of GET /api/logs as server-sent events', 'text/event-stream'),
  }),
  row('logs.export.get', 'GET /api/logs/export', 'key read ok -', 'export the logs as JSON lines', {
    readTicket: 'query',
    limits: LIMITS.stream,
    query: logs.exportQuery,
    responses: media('a record a line, newest first', 'application/x-ndjson'),
  }),
  row(
    'logs.openapi-json.get',
    'GET /api/logs/openapi.json',
    'key read ok -',
    'OpenAPI of the log query API',
    { responses: media('OpenAPI 3.1', 'application/json') },
  ),
  row('logs.stats.get', 'GET /api/logs/stats', 'key read ok -', 'size of the store, rows, sessions', {
    responses: json('the store as it is now', logs.stats),
  }),
  row(
    'observability.query.get',
    'GET /api/observability/query',
    'key read ok -',
    'query logs, events and metrics',
    {
      query: logs.recordQuery,
      fails: ['E_NOT_FOUND'],
      responses: json('newest first; next_cursor continues', logs.recordPage),
    },
  ),
  row(
    'observability.aggregate.get',
    'GET /api/observability/aggregate',
    'key read ok -',
    'aggregate metrics',
    { query: logs.aggregateQuery, responses: json('a value per bucket', logs.aggregates) },
  ),
  row(
    'observability.sessions.get',
    'GET /api/observability/sessions',
    'key read ok -',
    'boot and flight sessions',
    { query: logs.sessionQuery, responses: json('newest first', logs.sessions) },
  ),
] as const satisfies readonly Row[];
