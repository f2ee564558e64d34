/** A row of the store as GET /api/logs shows it. */
export function entryOf(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return {
    seq: row['id'],
    timestamp: new Date(Number(row['ts_us']) / 1000).toISOString(),
    level: String(row['level']).toUpperCase(),
    logger: row['source'],
    message: row['msg'],
    fields: row['fields'],
  };
}
