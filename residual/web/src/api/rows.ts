import rows from 'virtual:rows';
import type { Row } from '../../../../shared/routes/row.ts';
import type { RowId } from '../../../../shared/routes/table.ts';

/** The route table as far as the page needs it: what it may ask, and what goes in and comes out. */

export type { Answer, Body } from '../../../../shared/routes/typed-row.ts';

export type SlimRow = Pick<
  Row,
  | 'method'
  | 'path'
  | 'access'
  | 'scope'
  | 'relay'
  | 'profiles'
  | 'feature'
  | 'built'
  | 'long'
  | 'ticket'
  | 'armed'
  | 'names'
> & { readonly timeoutMs: number };

export const ROW = rows as Readonly<Record<RowId, SlimRow>>;
