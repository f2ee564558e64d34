import { type ColumnDefinitionBuilder, type Kysely, type RawBuilder, sql } from 'kysely';
import { isSqlite } from './engine.ts';

/** How the two engines call the same columns. */
export function columnTypes(db: Kysely<unknown>) {
  return isSqlite(db)
    ? ({
        int: 'integer',
        bytes: 'blob',
        rowId: { type: 'integer', column: (c: ColumnDefinitionBuilder) => c.primaryKey() },
      } as const)
    : ({
        int: 'bigint',
        bytes: 'bytea',
        rowId: {
          type: 'bigint',
          column: (c: ColumnDefinitionBuilder) => c.primaryKey().generatedByDefaultAsIdentity(),
        },
      } as const);
}

/** The right side of `in` for a list of any length: a statement has not as many parameters. */
export function anyOf(db: Parameters<typeof isSqlite>[0], texts: readonly string[]): RawBuilder<string> {
  const json = JSON.stringify(texts);
  return isSqlite(db)
    ? sql<string>`(select value from json_each(${json}))`
    : sql<string>`(select json_array_elements_text(${json}::json))`;
}
