import type { Kysely } from 'kysely';

/** Tags and the group of a node, and rights by them. Without any, everything is as before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['nodes', 'operators', 'credentials', 'codes'])
    await db.schema
      .alterTable(name)
      .addColumn('tags', 'text', (c) => c.notNull().defaultTo('[]'))
      .execute();
  await db.schema.alterTable('nodes').addColumn('group_name', 'text').execute();
}
