import { Flags } from '@oclif/core';
import { shownFloat } from '../../shared/flight/shown-float.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { requestCommand, switchFlag } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';
import LogsExportCommand from './logs/export.ts';
import { queryOf, recordFlags, recordLine, windowFlags } from './logs/log-flags.ts';
import { followLog, lineOf } from './logs/log-stream.ts';

class LogsTailCommand extends NodeCommand {
  static override summary = 'Follow the log until Ctrl-C.';
  static override examples = [
    '<%= config.bin %> logs tail',
    '<%= config.bin %> logs tail --source svc-link --level warn --replay 20',
  ];
  static override flags = {
    level: recordFlags.level,
    source: recordFlags.source,
    replay: Flags.integer({ summary: 'entries to begin with, up to 1000', default: 20 }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(LogsTailCommand);
    const query = queryOf({ level: flags.level, service: flags.source, replay: flags.replay });
    await followLog(this.stream('GET /api/logs/stream', { query }), (entry, text) => {
      if (this.jsonEnabled())
        process.stdout.write(`${text}\n`); // a line each, as they come
      else this.log(lineOf(entry));
    });
    this.error('The node ended the stream.', { exit: EXIT.refused });
  }
}

class LogsStatusCommand extends NodeCommand {
  static override summary = 'Show the log store; with --openapi, the OpenAPI document of its query API.';
  static override aliases = ['logs:stats'];
  static override examples = ['<%= config.bin %> logs status', '<%= config.bin %> logs status --openapi'];
  static override flags = { openapi: Flags.boolean({ summary: 'print the OpenAPI document' }) };

  async run(): Promise<unknown> {
    const { flags } = await this.parse(LogsStatusCommand);
    if (flags.openapi) {
      const document = await this.call('GET /api/logs/openapi.json');
      this.logPretty(document);
      return document;
    }
    const stats = await this.call('GET /api/logs/stats');
    const time = (us: number | null): string => (us === null ? 'none' : new Date(us / 1000).toISOString());
    const mb = (bytes: number): string => `${(bytes / 1048576).toFixed(1)} MB`;
    this.log(`size     ${mb(stats.db_size_bytes)}, write-ahead log ${mb(stats.wal_size_bytes)}`);
    for (const [name, count] of Object.entries(stats.rows)) this.log(`${name.padEnd(8)} ${count}`);
    this.log(`oldest   ${time(stats.oldest_ts_us)}`);
    this.log(`newest   ${time(stats.newest_ts_us)}`);
    return stats;
  }
}

export default {
  'logs:query': requestCommand('GET /api/observability/query', {
    summary: 'Show logs, events or metrics; the newest last.',
    examples: [
      'logs query --since 10m --level warn',
      'logs query --source svc-link --text "heartbeat lost"',
      'logs query --kind events --since 1d',
    ],
    flags: {
      ...recordFlags,
      kind: Flags.option({ options: ['logs', 'events', 'metrics'] as const })(),
      metric: Flags.string({ summary: 'for example battery.voltage; repeatable', multiple: true }),
      'event-kind': Flags.string({ summary: 'for example armed; repeatable', multiple: true }),
      limit: Flags.integer({ summary: 'records, 1 to 2000', default: 200 }),
      cursor: Flags.string({ summary: 'next_cursor of the page before' }),
    },
    ask: ({ flags }) => ({ query: queryOf(flags) }),
    lines: ({ data }) => data.toReversed().map(recordLine),
    *notes({ data, page: { next_cursor: cursor } }) {
      if (data.length === 0) yield 'No records.';
      if (cursor !== null) yield `older ones: --cursor ${cursor}`;
    },
  }),
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
    *lines({ buckets }, { flags: { agg } }) {
      yield* tableOf(
        [
          'FROM',
          'METRIC',
          ...(agg === undefined ? ['LOWEST', 'MEAN', 'HIGHEST'] : [agg.toUpperCase()]),
          'VALUES',
        ],
        buckets.map(({ bucket_us: at, metric, value, min, max, mean, count }) => [
          new Date(at / 1000).toISOString(),
          metric,
          ...(agg === undefined ? [min, mean, max] : [value]).map(shownFloat),
          count,
        ]),
      );
      if (buckets.length === 0) yield 'No figures of that time.';
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
    *lines({ sessions }) {
      yield* tableOf(
        ['ID', 'KIND', 'STARTED', 'SECONDS', 'RECORDS', 'REASON'],
        sessions.map(({ id, kind, started_us: at, span_us: span, reason, log_count: count }) => [
          id,
          kind,
          new Date(at / 1000).toISOString(),
          span === null ? null : Math.round(span / 1e6),
          count,
          reason ?? '',
        ]),
      );
      if (sessions.length === 0) yield 'No sessions.';
    },
  }),
  'logs:export': LogsExportCommand,
  'logs:status': LogsStatusCommand,
};
