import type { SQLOutputValue } from 'node:sqlite';
import { isScope } from '../../../shared/auth/scopes.ts';
import { listOf, parseJson } from '../../../shared/member.ts';
import type { Grant } from '../api/caller.ts';

/** A row of a table of the hub. */
export type DbRow = Readonly<Record<string, SQLOutputValue>>;

export function text(row: DbRow, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new Error(`the hub's database: ${column} is no text`);
  return value;
}

export function textOrNull(row: DbRow, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function number(row: DbRow, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new Error(`the hub's database: ${column} is no number`);
  return value;
}

export function numberOrNull(row: DbRow, column: string): number | null {
  return row[column] === null ? null : number(row, column);
}

export function bytes(row: DbRow, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw new Error(`the hub's database: ${column} has no bytes`);
  return value;
}

/** The columns `scopes` and `nodes`, as `grantTexts` writes them. */
export function grantOf(row: DbRow): Grant {
  const scopes = listOf(parseJson(text(row, 'scopes'))).filter(isScope);
  return { scopes, nodes: nodesOf(row) };
}

export function nodesOf(row: DbRow): readonly string[] | null {
  const nodes = textOrNull(row, 'nodes');
  return nodes === null ? null : listOf(parseJson(nodes)).map(String);
}

export function nodesText({ nodes }: Pick<Grant, 'nodes'>): string | null {
  return nodes === null ? null : JSON.stringify(nodes);
}

export function grantTexts(grant: Grant): readonly [scopes: string, nodes: string | null] {
  return [JSON.stringify(grant.scopes), nodesText(grant)];
}
