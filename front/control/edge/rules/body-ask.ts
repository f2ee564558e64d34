import type { Armed } from '../../../../shared/flight/armed.ts';
import type { Raised } from '../../../../shared/routes/classes.ts';
import type { EdgeState, Pass } from '../decision.ts';

/** A request that has passed the first rules, with its body, on its way through the others. */
export interface BodyAsk {
  readonly pass: Pass;
  /** The parsed JSON body; undefined when there was none, or when the row takes it raw. */
  readonly body: unknown;
  readonly state: EdgeState;
  /** What it names that needs more than its row. */
  readonly raised: readonly Raised[];
  readonly armed: Armed;
  /** The armed guard concerns it now. */
  readonly guarded: boolean;
  /** It overrides the guard, which is more than its row. */
  readonly overrides: boolean;
  /** The override counts. */
  readonly forced: boolean;
  /** It goes on through the relay: the drone guards and checks it, which knows its own vehicle and its own version of the row. */
  readonly inner: boolean;
}
