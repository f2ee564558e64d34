import type { Row } from './row.ts';
import { LIMITS, READ } from './row-parts.ts';

const BASE = { lane: 'residual', feature: 'logs', profiles: 'DG' } as const;

export const logsRows = [
  {
    ...BASE,
    ...READ,
    id: 'logs.get',
    path: '/api/logs',
    summary: 'query',
  },
  {
    ...BASE,
    ...READ,
    id: 'logs.stream.get',
    path: '/api/logs/stream',
    limits: LIMITS.stream,
    summary: 'server-sent events',
  },
  {
    ...BASE,
    ...READ,
    id: 'logs.export.get',
    path: '/api/logs/export',
    summary: 'export as JSON lines',
  },
  {
    ...BASE,
    ...READ,
    id: 'logs.openapi-json.get',
    path: '/api/logs/openapi.json',
    summary: 'OpenAPI of the log query API',
  },
  {
    ...BASE,
    ...READ,
    id: 'logs.stats.get',
    path: '/api/logs/stats',
    summary: 'store size, rows, sessions',
  },
  {
    ...BASE,
    ...READ,
    id: 'observability.query.get',
    path: '/api/observability/query',
    summary: 'logs, events, metrics',
  },
  {
    ...BASE,
    ...READ,
    id: 'observability.aggregate.get',
    path: '/api/observability/aggregate',
    summary: 'metric aggregates',
  },
  {
    ...BASE,
    ...READ,
    id: 'observability.sessions.get',
    path: '/api/observability/sessions',
    summary: 'boot and flight sessions',
  },
] as const satisfies readonly Row[];
