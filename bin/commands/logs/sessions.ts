import { Flags } from '@oclif/core';
import { queryOf, windowFlags } from '../../log-flags.ts';
import { NodeCommand } from '../../node-command.ts';

interface Session {
  readonly id: number;
  readonly kind: string;
  readonly started_us: number;
  readonly span_us: number | null;
  readonly reason: string | null;
  readonly log_count: number;
}

export default class LogsSessionsCommand extends NodeCommand {
  static override summary = 'List boots and flights; a flight lasts from arming to disarming.';
  static override examples = ['<%= config.bin %> logs sessions --kind flight --since 7d'];
  static override flags = {
    ...windowFlags,
    kind: Flags.option({ options: ['boot', 'flight'] as const })(),
    open: Flags.boolean({ summary: 'only those that have not ended' }),
    limit: Flags.integer({ summary: '1 to 1000', default: 50 }),
  };

  async run(): Promise<unknown> {
    const { flags } = await this.parse(LogsSessionsCommand);
    const answer = (await this.api('GET', `/api/observability/sessions${queryOf(flags)}`)) as {
      readonly data: readonly Session[];
    };
    for (const { id, kind, started_us: at, span_us: span, reason, log_count: count } of answer.data) {
      const length = span === null ? 'open' : `${Math.round(span / 1e6)} s`;
      this.log(
        `${String(id).padStart(5)} ${kind.padEnd(6)} ${new Date(at / 1000).toISOString()} ${length.padStart(8)}  ${count} records  ${reason ?? ''}`,
      );
    }
    return answer;
  }
}
