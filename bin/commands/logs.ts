import { Flags } from '@oclif/core';
import { shownFloat } from '../../shared/flight/shown-float.ts';
import { requestCommand, switchFlag } from '../cli/request-command.ts';
import LogsExportCommand from './logs/export.ts';
import { queryOf, windowFlags } from './logs/log-flags.ts';
import LogsQueryCommand from './logs/query.ts';
import LogsStatusCommand from './logs/status.ts';
import LogsTailCommand from './logs/tail.ts';

export default {
  'logs:query': LogsQueryCommand,
  'logs:tail': LogsTailCommand,
  'logs:aggregate': requestCommand('GET /api/observability/aggregate', {
    summary: 'Show a metric over time: lowest, mean and highest, or what --agg names.',
    usage: 'logs aggregate --metric METRIC',
    examples: [
      'logs aggregate --metric battery.voltage --since 1h --agg min',
      'logs aggregate --metric link.rx_lost --bucket 1m --agg last',
    ],
    flags: {
      ...windowFlags,
      metric: Flags.string({ summary: 'repeatable', multiple: true, required: true }),
      bucket: Flags.option({ options: ['auto', '1s', '1m', '1h'] as const })(),
      agg: Flags.option({ options: ['avg', 'min', 'max', 'p50', 'p95', 'p99', 'last', 'count'] as const })(),
      session: Flags.integer({ summary: 'number of a session' }),
    },
    ask: ({ flags }) => ({ query: queryOf(flags) }),
    *lines({ data }, { flags: { agg } }) {
      const figure = (number: number): string => shownFloat(number).padStart(12);
      for (const { bucket_us: at, metric, value, min, max, mean, count } of data) {
        const figures = agg === undefined ? `${figure(min)}${figure(mean)}${figure(max)}` : figure(value);
        yield `${new Date(at / 1000).toISOString()} ${metric.padEnd(24)} ${figures}  of ${count}`;
      }
      if (data.length === 0) yield 'No figures of that time.';
    },
  }),
  'logs:sessions': requestCommand('GET /api/observability/sessions', {
    summary: 'List boots and flights; a flight lasts from arming to disarming.',
    examples: ['logs sessions --kind flight --since 7d'],
    flags: {
      ...windowFlags,
      kind: Flags.option({ options: ['boot', 'flight'] as const })(),
      open: switchFlag('only those that have not ended'),
      limit: Flags.integer({ summary: '1 to 1000', default: 50 }),
    },
    ask: ({ flags }) => ({ query: queryOf(flags) }),
    *lines({ data }) {
      for (const { id, kind, started_us: at, span_us: span, reason, log_count: count } of data) {
        const length = span === null ? 'open' : `${Math.round(span / 1e6)} s`;
        yield `${String(id).padStart(5)} ${kind.padEnd(6)} ${new Date(at / 1000).toISOString()} ${length.padStart(8)}  ${count} records  ${reason ?? ''}`;
      }
      if (data.length === 0) yield 'No sessions.';
    },
  }),
  'logs:export': LogsExportCommand,
  'logs:status': LogsStatusCommand,
};
