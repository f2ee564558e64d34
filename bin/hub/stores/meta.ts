import type { Queries } from '../database/tables.ts';

/** A number that outlives the process; null: there is none of this name. */
export async function readMeta(db: Queries, key: string): Promise<number | null> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value ?? null;
}

export async function writeMeta(db: Queries, key: string, value: number): Promise<void> {
  await db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}
