import { isRecord, type JsonObject } from '../shared/member.ts';
import type { Row } from '../shared/routes/row.ts';
import { ROWS } from '../shared/routes/table.ts';
import { filledPath } from '../shared/routes/target.ts';
import type { RowId } from '../shared/routes/typed-row.ts';

const BY_ID: ReadonlyMap<string, Row> = new Map(ROWS.map((row) => [row.id, row]));

/** @throws Error for an id that is not in the table: a tool must not outlive its route */
export function rowOf(id: RowId): Row {
  const row = BY_ID.get(id);
  if (row === undefined) throw new Error(`no route ${id} in the table`);
  return row;
}

/** @param values of the path parameters */
export function pathOf(id: RowId, values: Readonly<Record<string, string>> = {}): string {
  return filledPath(rowOf(id).path, values);
}

/** The value if it is an object, else an empty one. */
export function asRecord(value: unknown): JsonObject {
  return isRecord(value) ? value : { value };
}
