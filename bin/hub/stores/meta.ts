import { sql } from 'kysely';
import type { Queries } from '../database/tables.ts';

/** A number that outlives the process; null: there is none of this name. */
export async function readMeta(db: Queries, key: string): Promise<number | null> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value ?? null;
}

/** Both at once: who asks again and again asks once. Without one, it is 0. */
export async function readCounters<const K extends string>(
  db: Queries,
  keys: readonly K[],
): Promise<Readonly<Record<K, number>>> {
  const rows = await db.selectFrom('meta').selectAll().where('key', 'in', keys).execute();
  const values = new Map(rows.map(({ key, value }) => [key, value]));
  return Object.fromEntries(keys.map((key) => [key, values.get(key) ?? 0])) as Record<K, number>;
}

export async function writeMeta(db: Queries, key: string, value: number): Promise<void> {
  await db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

/**
 * The next number of a counter. Who takes it in a transaction makes the next one wait for its end: rows with these numbers are seen
 * in their order. @param on a transaction
 */
export async function nextNumber(on: Queries, key: string): Promise<number> {
  const { value } = await on
    .insertInto('meta')
    .values({ key, value: 1 })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: sql<number>`meta.value + 1` }))
    .returning('value')
    .executeTakeFirstOrThrow();
  return value;
}
