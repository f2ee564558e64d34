import { Flags } from '@oclif/core';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { queryOf, windowFlags } from '../../log-flags.ts';
import { NodeCommand } from '../../node-command.ts';

interface Answer {
  readonly data: readonly {
    readonly bucket_us: number;
    readonly metric: string;
    readonly value: number;
    readonly min: number;
    readonly max: number;
    readonly mean: number;
    readonly count: number;
  }[];
}

export default class LogsAggregateCommand extends NodeCommand {
  static override summary = 'Show a metric over time: lowest, mean and highest, or what --agg names.';
  static override usage = 'logs aggregate --metric METRIC';
  static override examples = [
    '<%= config.bin %> logs aggregate --metric battery.voltage --since 1h --agg min',
    '<%= config.bin %> logs aggregate --metric link.rx_lost --bucket 1m --agg last',
  ];
  static override flags = {
    ...windowFlags,
    metric: Flags.string({ summary: 'repeatable', multiple: true, required: true }),
    bucket: Flags.option({ options: ['auto', '1s', '1m', '1h'] as const })(),
    agg: Flags.option({ options: ['avg', 'min', 'max', 'p50', 'p95', 'p99', 'last', 'count'] as const })(),
    session: Flags.integer({ summary: 'number of a session' }),
  };

  async run(): Promise<Answer> {
    const { flags } = await this.parse(LogsAggregateCommand);
    const answer = (await this.api('GET', `/api/observability/aggregate${queryOf(flags)}`)) as Answer;
    const figure = (value: number): string => shownFloat(value).padStart(12);
    for (const { bucket_us: at, metric, value, min, max, mean, count } of answer.data) {
      const figures = flags.agg === undefined ? `${figure(min)}${figure(mean)}${figure(max)}` : figure(value);
      this.log(`${new Date(at / 1000).toISOString()} ${metric.padEnd(24)} ${figures}  of ${count}`);
    }
    return answer;
  }
}
