import { type ColumnDefinitionBuilder, type Kysely, type RawBuilder, SqliteAdapter, sql } from 'kysely';

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
export function anyOf(db: Asked, texts: readonly string[]): RawBuilder<string> {
  const json = JSON.stringify(texts);
  return isSqlite(db)
    ? sql<string>`(select value from json_each(${json}))`
    : sql<string>`(select json_array_elements_text(${json}::json))`;
}

type Asked = Pick<Kysely<unknown>, 'getExecutor'>;

function isSqlite(db: Asked): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter;
}
