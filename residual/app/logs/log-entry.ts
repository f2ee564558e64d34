import type { StoredLog } from './log-query.ts';

/** A row of the store as GET /api/logs shows it; one that is not stored yet has no number. */
export function entryOf<Id extends number | null>({
  id,
  ts_us,
  level,
  source,
  msg,
  fields,
}: Omit<StoredLog, 'id' | 'session'> & { readonly id: Id }) {
  return {
    seq: id,
    timestamp: new Date(ts_us / 1000).toISOString(),
    level: LEVELS[level],
    logger: source,
    message: msg,
    fields,
  };
}

const LEVELS = { trace: 'TRACE', debug: 'DEBUG', info: 'INFO', warn: 'WARN', error: 'ERROR' } as const;
