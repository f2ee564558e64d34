import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
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
