/**
 * The whole decision about a request, in the order of docs/contract/edge.md. Pure: all its input comes as arguments, and it
 * changes nothing. Requests, upgrades and `svc explain` all call it; nothing else decides.
 *
 * Two calls, because the last rules need the body, and the body is read only after the first ones have passed:
 *   decide(request, state)          steps 1 to 11, from the head alone
 *   settle(pass, body, state)       steps 10 (what the body names, override), 12 and 13, once the body is there (settle.ts)
 */
import type { MatchResult } from '../../../shared/routes/match.ts';
import type { Refusals } from '../../../shared/routes/row.ts';
import { isOwnOrigin, isProxiedOrigin } from './cors.ts';
import type { Decision, EdgeState, Peer, RequestHead } from './decision.ts';
import { findRow, NOTHING } from './find-row.ts';
import { type EdgeHeaders, scanHeaders } from './headers.ts';
import { type Shown, takeReadTicket } from './read-ticket.ts';
import type { Ask } from './rules/ask.ts';
import { withinBudget } from './rules/budget.ts';
import { withCredential } from './rules/credential.ts';
import { byFleet } from './rules/fleet.ts';
import { ownOrigin } from './rules/origin.ts';
import { publicRow } from './rules/public.ts';
import { throughRelay } from './rules/relay.ts';
import { oneInnerTarget, oneTarget } from './rules/target.ts';
import { overTls } from './rules/tls.ts';
import { whileUnpaired } from './rules/unpaired.ts';
import { isOnBox } from './standing.ts';

/**
 * The first that answers decides; who passes them all has to show a credential. (Step 3, the removal of headers, is the scan and the
 * proxy's clean copy.)
 */
const RULES: readonly (readonly [name: string, rule: (ask: Ask) => Decision | null])[] = [
  ['target', oneTarget],
  ['origin', ownOrigin],
  ['inner target', oneInnerTarget],
  ['relay', throughRelay],
  ['fleet', byFleet],
  ['tls', overTls],
  ['unpaired', whileUnpaired],
  ['public', publicRow],
  ['budget', withinBudget],
];

export function decide(request: RequestHead, state: EdgeState): Decision {
  const shown = takeReadTicket(request.target, state.matcher);
  const ask = askOf(request, scanHeaders(request.rawHeaders), shown, state);
  const { headers } = ask;
  const decision = judge(ask);
  if (decision.kind === 'pass' && shown.target !== request.target)
    return Object.freeze({ ...decision, target: shown.target });
  if (decision.kind !== 'refuse') return decision;
  return Object.freeze({
    ...decision,
    refusals: decision.row === null ? refusalsAt(shown.match) : decision.refusals,
    // A refusal costs work too, so it counts for every caller but those on this machine.
    counted: decision.counted && !isOnBox(request.peer, headers),
  });
}

function judge(ask: Ask): Decision {
  for (const [, rule] of RULES) {
    const decision = rule(ask);
    if (decision !== null) return decision;
  }
  return withCredential(ask);
}

/** The rules that `decide` asks about a request, in order, up to the one that decides: for `svc explain`. */
export function rulesAsked(request: RequestHead, state: EdgeState): readonly string[] {
  const shown = takeReadTicket(request.target, state.matcher);
  const ask = askOf(request, scanHeaders(request.rawHeaders), shown, state);
  const names = RULES.map(([name]) => name);
  const decider = RULES.findIndex(([, rule]) => rule(ask) !== null);
  return decider < 0 ? [...names, 'credential'] : names.slice(0, decider + 1);
}

function askOf(request: RequestHead, headers: EdgeHeaders, { match, ticket }: Shown, state: EdgeState): Ask {
  const { origin } = headers;
  const cors = origin !== null && state.origins.has(origin) ? origin : null;
  const seen = match.kind === 'bad' ? NOTHING : findRow(request, match, state.matcher);
  const found = seen.kind === 'bad' ? NOTHING : seen;
  return {
    request,
    headers: headers.bearer === null ? headers : withBearer(headers, found.policy?.bearer === true),
    state,
    match,
    found,
    inner: seen.kind === 'bad' ? seen : null,
    cors,
    foreign: origin !== null && cors === null && !isOwnPage(request.peer, headers, origin),
    readTicket: ticket,
    letIn: null,
  };
}

/** As if it had not come where the row does not take it. */
function withBearer(headers: EdgeHeaders, taken: boolean): EdgeHeaders {
  return taken ? { ...headers, offered: true } : { ...headers, bearer: null };
}

function isOwnPage({ secure, proxy = false }: Peer, headers: EdgeHeaders, origin: string): boolean {
  const { host, forwardedProto } = headers;
  if (host === null) return false;
  const scheme = forwardedProto ?? (secure ? 'https' : 'http');
  return proxy ? isProxiedOrigin(origin, host, scheme) : isOwnOrigin(origin, host, secure);
}

/** The shape of refusals at a path, whatever is wrong with the request: its method, its Host, the value of a parameter. */
function refusalsAt(match: MatchResult): Refusals {
  const template = match.kind === 'none' ? undefined : match.template;
  return template !== undefined &&
    [...template.rows.values()].every(({ refusals }) => refusals === 'lifecycle')
    ? 'lifecycle'
    : 'plain';
}
