import type { Selectable } from 'kysely';
import type { NodeTags } from '../../../shared/fleet/hub-api.ts';
import type { Queries, Tables } from '../database/tables.ts';
import { textsOf } from '../stores/grant-columns.ts';

/** Tags and group of nodes, in the database. */

type Columns = Pick<Selectable<Tables['nodes']>, 'tags' | 'group_name'>;

export function tagsOf({ tags, group_name: group }: Columns): NodeTags {
  return { tags: textsOf(tags), group };
}

export function tagColumns({ tags, group }: NodeTags): Columns {
  return { tags: JSON.stringify(tags), group_name: group };
}

/** @param on a transaction, where more depends on it @returns null for a node that is not enrolled */
export async function tagsIn(on: Queries, id: string): Promise<NodeTags | null> {
  const row = await on
    .selectFrom('nodes')
    .select(['tags', 'group_name'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? null : tagsOf(row);
}
