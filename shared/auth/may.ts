import type { Row } from '../routes/row.ts';
import type { Principal } from './principal.ts';
import type { Scope } from './scopes.ts';

/**
 * Callers with the rights of the pairing key: its holder, this machine itself, and the first-boot links of an unpaired node.
 */
const HOLDS_KEY: ReadonlySet<Principal['kind']> = new Set(['key', 'local', 'onbox', 'gate']);

/** Who is near an unpaired ground station has no key, and gets none of the drone's. */
export function holdsKey({ kind, stated }: Pick<Principal, 'kind' | 'stated'>): boolean {
  return stated === undefined ? HOLDS_KEY.has(kind) : stated !== 'gate' && HOLDS_KEY.has(stated);
}

/**
 * Whether a caller could use a row at all, whatever it sends: the least that `decide` asks for, and what a page may offer. It
 * says nothing about where the caller is, nor whether the node serves the row (`unserved`). Pure, also for browsers.
 * @param row for a request through the relay proxy: the row inside
 */
export function mayUse(
  row: Pick<Row, 'access' | 'scope' | 'armed' | 'names'>,
  caller: Pick<Principal, 'kind' | 'scopes' | 'stated'>,
): boolean {
  if (row.access !== 'public') {
    if (caller.kind === 'anonymous') return false;
    if (row.access === 'keyonly' && !holdsKey(caller)) return false;
  }
  return caller.scopes === null || possibleScopes(row).some((scope) => caller.scopes?.includes(scope));
}

/** Every class that this row could need, depending on the body. `settle` checks the one that it does need. */
function possibleScopes({
  access,
  scope,
  armed,
  names,
}: Pick<Row, 'access' | 'scope' | 'armed' | 'names'>): readonly Scope[] {
  // A caller of a ground station's relay was authenticated, also for what the drone shows to anybody.
  if (access === 'public') return ['read'];
  if (scope === 'none' || scope === 'inner') return [];
  const forced: readonly Scope[] = armed === '-' ? [] : ['destructive'];
  const named: readonly Scope[] = names.length === 0 ? [] : ['flight', 'destructive'];
  return [scope, ...forced, ...named];
}
