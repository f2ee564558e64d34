import type { Principal } from '../auth/principal.ts';
import { neededScopes } from './needed-scopes.ts';
import type { Row } from './row.ts';

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
  row: Pick<Row, 'access' | 'scope'>,
  caller: Pick<Principal, 'kind' | 'scopes' | 'stated'>,
): boolean {
  if (row.access !== 'public') {
    if (caller.kind === 'anonymous') return false;
    if (row.access === 'keyonly' && !holdsKey(caller)) return false;
  }
  // Of the row alone: what a body names only adds to it.
  const needed = neededScopes(row, [], false);
  return caller.scopes === null || needed?.every((scope) => caller.scopes?.includes(scope)) === true;
}
