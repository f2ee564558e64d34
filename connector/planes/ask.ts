import type { Row } from '../../shared/routes/row.ts';
import { filledPath, type Query, queryText } from '../../shared/routes/target.ts';
import type { MadeAnswer, RowId } from '../../shared/routes/typed-row.ts';
import type { Principal } from '../principal.ts';
import { asRecord, rowOf } from '../rows.ts';
import type { NodeClient, NodeRequest } from './node-client.ts';

/** What is asked besides the row. */
type Said = Omit<NodeRequest, 'method' | 'path'> & {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
};

/** What a node says by a row. It may be of another version than this connector: members may be missing, but in what it lists. */
export type Told<K extends RowId> = Partly<Extract<MadeAnswer<K>, object>>;

type Partly<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: Partly<T[K]> }
    : T;

/** Asks a node by row. @throws Denial */
export interface Ask {
  <K extends RowId>(id: K, said?: Said): Promise<Told<K>>;
  /** By one that is not known before. */
  (row: Row, said?: Said): Promise<unknown>;
}

/** @param send of one node, for one principal */
export function askBy(send: (request: NodeRequest) => Promise<unknown>): Ask {
  function ask<K extends RowId>(id: K, said?: Said): Promise<Told<K>>;
  function ask(row: Row, said?: Said): Promise<unknown>;
  async function ask(row: RowId | Row, { params = {}, query = {}, ...rest }: Said = {}): Promise<unknown> {
    const { method, path } = typeof row === 'string' ? rowOf(row) : row;
    const answer = await send({ method, path: filledPath(path, params) + queryText(query), ...rest });
    return typeof row === 'string' ? asRecord(answer) : answer;
  }
  return ask;
}

export function askOf(node: NodeClient, principal: Principal, signal?: AbortSignal): Ask {
  return askBy(async (request) => node.json(request, principal, signal));
}
