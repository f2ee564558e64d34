import type { Principal } from '../../../../shared/auth/principal.ts';
import type { MatchResult } from '../../../../shared/routes/match.ts';
import type { EdgeState, RequestHead } from '../decision.ts';
import type { BadTarget, FoundRow } from '../find-row.ts';
import type { EdgeHeaders } from '../headers.ts';

/** A request on its way through the rules. */
export interface Ask {
  readonly request: RequestHead;
  readonly headers: EdgeHeaders;
  readonly state: EdgeState;
  readonly match: MatchResult;
  /** Its row, and the one whose policy applies; nothing for a bad target. */
  readonly found: FoundRow;
  /** What is wrong with the target within a request through the relay proxy. */
  readonly inner: BadTarget | null;
  /** Its origin if that is an allowed one. */
  readonly cors: string | null;
  /** It comes from a page of an origin that is neither the node's nor allowed. */
  readonly foreign: boolean;
  readonly readTicket: string | null;
  /** Whom the unpaired gate has let in. */
  letIn: Principal | null;
}
