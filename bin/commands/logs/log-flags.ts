import { Flags } from '@oclif/core';
import type { Query } from '../../../shared/routes/target.ts';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import { NodeCommand } from '../../cli/node-command.ts';

/** Conditions on log records, as the query API names them. */
export const windowFlags = {
  since: Flags.string({ summary: 'so long ago (10m, 2h, 1d), or a time' }),
  from: Flags.string({ summary: 'a time: ISO 8601, or microseconds since 1970' }),
  to: Flags.string({ summary: 'a time, not included' }),
};

export const recordFlags = {
  ...windowFlags,
  level: Flags.option({
    options: ['trace', 'debug', 'info', 'warn', 'error'] as const,
    summary: 'this and above',
  })(),
  source: Flags.string({ summary: 'process, for example svc-link; repeatable', multiple: true }),
  text: Flags.string({ summary: 'words that must all occur' }),
  session: Flags.integer({ summary: 'number of a session' }),
};

/** Flags that say which node is asked, and how the answer is shown. */
const GLOBAL_FLAGS: ReadonlySet<string> = new Set(['json', ...Object.keys(NodeCommand.baseFlags)]);

/** The query of a request, from a command's flags without the global ones: lists are joined by commas, empty texts left out. */
export function queryOf(flags: Readonly<Record<string, Query[string] | readonly string[]>>): Query {
  return Object.fromEntries(
    Object.entries(flags)
      .filter(([name]) => !GLOBAL_FLAGS.has(name))
      .map(([name, value]) => [
        name.replaceAll('-', '_'),
        typeof value === 'object' ? value?.join(',') : value,
      ])
      .filter(([, value]) => value !== ''),
  );
}

/** A record of any kind. */
type LogRow = Answer<'observability.query.get'>['data'][number];

/** One record as a line for a person. */
export function recordLine(row: LogRow): string {
  const time = new Date(row.ts_us / 1000).toISOString();
  if (row.metric !== undefined) return `${time} ${row.metric} ${row.value ?? ''}`;
  if (row.kind !== undefined)
    return `${time} ${(row.severity ?? '').padEnd(5)} ${row.kind} ${JSON.stringify(row.detail)}`;
  return `${time} ${(row.level ?? '').padEnd(5)} ${(row.source ?? '').padEnd(14)} ${row.msg ?? ''}`;
}
