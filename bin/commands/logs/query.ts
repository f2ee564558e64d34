import { Flags } from '@oclif/core';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import { NodeCommand } from '../../cli/node-command.ts';
import { queryOf, recordFlags, recordLine } from './log-flags.ts';

export default class LogsQueryCommand extends NodeCommand {
  static override summary = 'Show logs, events or metrics; the newest last.';
  static override examples = [
    '<%= config.bin %> logs query --since 10m --level warn',
    '<%= config.bin %> logs query --source svc-link --text "heartbeat lost"',
    '<%= config.bin %> logs query --kind events --since 1d',
  ];
  static override flags = {
    ...recordFlags,
    kind: Flags.option({ options: ['logs', 'events', 'metrics'] as const })(),
    metric: Flags.string({ summary: 'for example battery.voltage; repeatable', multiple: true }),
    'event-kind': Flags.string({ summary: 'for example armed; repeatable', multiple: true }),
    limit: Flags.integer({ summary: 'records, 1 to 2000', default: 200 }),
    cursor: Flags.string({ summary: 'next_cursor of the page before' }),
  };

  async run(): Promise<Answer<'observability.query.get'>> {
    const { flags } = await this.parse(LogsQueryCommand);
    const answer = await this.call('GET /api/observability/query', { query: queryOf(flags) });
    for (const row of answer.data.toReversed()) this.log(recordLine(row));
    if (answer.data.length === 0) this.logToStderr('No records.');
    if (answer.page.next_cursor !== null) this.logToStderr(`older ones: --cursor ${answer.page.next_cursor}`);
    return answer;
  }
}
