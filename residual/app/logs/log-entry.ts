/** A row of the store as GET /api/logs shows it. */
import type { JsonObject } from '../../../shared/member.ts';
export function entryOf(row: JsonObject): JsonObject {
  return {
    seq: row['id'],
    timestamp: new Date(Number(row['ts_us']) / 1000).toISOString(),
    level: String(row['level']).toUpperCase(),
    logger: row['source'],
    message: row['msg'],
    fields: row['fields'],
  };
}
