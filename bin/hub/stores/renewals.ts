import type { Queries } from '../database/tables.ts';

/** @param before ms since 1970 @returns false for a statement of this node that was used already */
export async function useStatement(
  db: Queries,
  statement: { readonly node: string; readonly jti: string; readonly at: number },
  before: number,
): Promise<boolean> {
  await db.deleteFrom('renewals').where('at', '<', before).execute();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('renewals')
    .values(statement)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}
