import { configLeaf } from '../../../shared/config/keys.ts';
import { memberOf } from '../../../shared/member.ts';
import type { Profile } from '../../../shared/profile.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { carriesLink, unitName } from '../../../shared/units.ts';

interface GuardQuestion {
  readonly row: Row;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly profile: Profile;
}

/** Whether the armed guard concerns this request at all. */
export function isGuarded({ row, params, body, profile }: GuardQuestion): boolean {
  switch (row.armed) {
    case '-':
      return false;
    case 'guard':
    case 'inner':
      return true;
    case 'guard-if-link':
      return carriesLink(unitName(params['name'] ?? ''), profile);
    case 'guard-if-profile': {
      const key = memberOf(body, 'key');
      return typeof key !== 'string' || configLeaf(key)?.['x-armed'] === 'guard';
    }
  }
}

/**
 * The override: `"force": true` in a JSON body (the boolean true, nothing else), or `force=1` in the query of a request that
 * has no body (docs/contract/edge.md#armed-guard).
 */
export function isForced(body: unknown, query: string): boolean {
  if (body !== undefined) return memberOf(body, 'force') === true;
  return new URLSearchParams(query).getAll('force').join() === '1';
}
