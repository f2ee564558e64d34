import { isScope, type Scope } from '../auth/scopes.ts';
import type { Raised } from './classes.ts';
import type { Row } from './row.ts';

/**
 * Every scope that a token needs, all of them: the row's, and those of what the request names.
 * @param overrides whether the request overrides the armed guard
 * @returns null if no token is enough
 */
export function neededScopes(
  { access, scope }: Pick<Row, 'access' | 'scope'>,
  raised: readonly Raised[],
  overrides: boolean,
): readonly Scope[] | null {
  // A caller of a ground station's relay was authenticated, also for what the drone shows to anybody.
  const own = access === 'public' ? 'read' : scope;
  const needed = [own, ...raised.map((each) => each.class), ...(overrides ? ['destructive'] : [])];
  return needed.every(isScope) ? [...new Set(needed)] : null;
}
