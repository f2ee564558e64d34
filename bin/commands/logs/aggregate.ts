import { Flags } from '@oclif/core';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { queryOf, windowFlags } from '../../log-flags.ts';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/observability/aggregate', {
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
});
