import { Flags } from '@oclif/core';
import { queryOf, windowFlags } from '../../log-flags.ts';
import { requestCommand, switchFlag } from '../../request-command.ts';

export default requestCommand('GET /api/observability/sessions', {
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
});
