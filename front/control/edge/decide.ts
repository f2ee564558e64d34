/**
 * The whole decision about a request, in the order of docs/contract.md 4. Pure: all its input comes as arguments, and it
 * changes nothing. Requests, upgrades and `svc explain` all call it; nothing else decides.
 *
 * Two calls, because the last rules need the body, and the body is read only after the first ones have passed:
 *   decide(request, state)          steps 1 to 11, from the head alone
 *   settle(pass, body, state)       steps 10 (what the body names, override), 12 and 13, once the body is there
 */
import { type AddressClass, setupUrl } from '../../../shared/auth/address.ts';
import { holdsKey, mayUse } from '../../../shared/auth/may.ts';
import { ANONYMOUS, LOCAL_SOCKET, PAIRING_KEY, type Principal } from '../../../shared/auth/principal.ts';
import { isScope, type Scope } from '../../../shared/auth/scopes.ts';
import { ERRORS, type ErrorCode } from '../../../shared/errors.ts';
import { howToAllow } from '../../../shared/fleet/local-scopes.ts';
import { endsFlight, isClientId } from '../../../shared/flight/pilot.ts';
import { type JsonObject, memberOf } from '../../../shared/member.ts';
import type { Feature, Profile } from '../../../shared/profile.ts';
import { type Raised, raisedByRequest } from '../../../shared/routes/classes.ts';
import { fleetRule } from '../../../shared/routes/fleet-rule.ts';
import type { Matcher, MatchResult, Template } from '../../../shared/routes/match.ts';
import { neededScopes } from '../../../shared/routes/needed-scopes.ts';
import type { Refusals, Row, RowMethod } from '../../../shared/routes/row.ts';
import { unserved } from '../../../shared/routes/served.ts';
import type { Armed } from '../../../shared/rpc/link.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import type { Violation } from '../../../shared/schemas/validator.ts';
import type { FleetCredential } from '../fleet/call-credential.ts';
import { isForced, isGuarded, refusesWhile } from './armed.ts';
import { isOwnOrigin, preflightHeaders } from './cors.ts';
import { matchesHash } from './credentials.ts';
import { extensionCaller } from './extension.ts';
import { type EdgeHeaders, scanHeaders } from './headers.ts';
import { readTicketPath, type Shown, takeReadTicket } from './read-ticket.ts';
import { statedCaller } from './relay.ts';
import { gateCaller, hostName, isOwnHost, unpairedGate } from './unpaired.ts';

export interface Peer {
  /** `unix`: control.sock, whose file mode is the credential. `relay`: the bound ground station, through the radio's tunnel. `fleet`: a signed call. */
  readonly kind: 'tcp' | 'unix' | 'relay' | 'fleet';
  /** The id of the ground station, proved by its key, where the kind is `relay`. */
  readonly ground?: string;
  /** What the signed call proves, where the kind is `fleet`. */
  readonly fleet?: FleetCredential;
  readonly address: AddressClass;
  /** Seconds until this peer may ask again, null while it may. */
  readonly limitedFor: number | null;
  /** Seconds until this peer's credentials are checked again, null while it is not locked. */
  readonly lockedFor: number | null;
  /** Whether a loopback peer's process runs as a user that this node trusts. Called only if the answer matters. */
  readonly trusted: () => boolean;
}

export interface RequestHead {
  readonly method: string;
  /** The request target as it came. */
  readonly target: string;
  /** Name, value, name, value … as it came. */
  readonly rawHeaders: readonly string[];
  readonly upgrade: boolean;
  readonly peer: Peer;
}

/**
 * Credentials beyond the pairing key. Each is checked only if no stronger one was valid. The token is last, so that its store
 * is read only for a request that would otherwise be refused (docs/contract.md 4.9).
 */
export interface CredentialChecks {
  session(value: string): Principal | null;
  ticket(value: string, scope: string): Principal | null;
  /** @param path what the ticket must be for; see `readTicketPath` */
  readTicket(value: string, path: string): Principal | null;
  token(value: string): Principal | null;
}

/** Used where no such credential exists: none is valid. */
export const NO_OTHER_CREDENTIALS: CredentialChecks = {
  session: () => null,
  ticket: () => null,
  readTicket: () => null,
  token: () => null,
};

/** The state of the node at this moment. */
export interface EdgeState {
  readonly matcher: Matcher;
  /** `keyHash` null while paired: the pairing file is broken, and no key is valid. */
  readonly pairing: { readonly paired: boolean; readonly keyHash: Buffer | null };
  readonly armed: Armed;
  readonly profile: Profile;
  readonly features: ReadonlySet<Feature>;
  /** Whether the residual is part of this build. */
  readonly residual: boolean;
  readonly origins: ReadonlySet<string>;
  /** The names and addresses of this node, each in one spelling. */
  readonly hosts: Pick<ReadonlySet<string>, 'has'>;
  readonly credentials: CredentialChecks;
  /** Violations of the row's body and query schemas, null if both are valid. */
  readonly validate: (row: Row, body: unknown, query: string) => readonly Violation[] | null;
  /** The rule of one pilot in command; null where this node has none. */
  readonly pilot: PilotRule | null;
  /** The TCP port of the API. */
  readonly port: number;
}

export interface PilotRule {
  /** The client that is pilot in command if it is another one than the caller, else null. */
  otherThan(clientId: string | null): string | null;
}

/** The step that gave the answer; `svc explain` prints it. */
export type Rule =
  | 'target'
  | 'cors'
  | 'relay'
  | 'fleet'
  | 'unpaired'
  | 'public'
  | 'rate'
  | 'credential'
  | 'row'
  | 'scope'
  | 'feature'
  | 'pilot'
  | 'armed'
  | 'body';

export interface Refusal {
  readonly kind: 'refuse';
  readonly rule: Rule;
  readonly row: Row | null;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly extras: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  /** The origin to name in Access-Control-Allow-Origin, null for none. */
  readonly cors: string | null;
  /** The request had credentials and none was valid; counts towards the lock of its peer. */
  readonly failedCredential: boolean;
  readonly principal: Principal;
  /** The shape of the answer: the row's, or without one that of the path. */
  readonly refusals: Refusals;
  /** Counts against the peer's request budget, like a request that passes. */
  readonly counted: boolean;
}

export interface Pass {
  readonly kind: 'pass';
  readonly rule: Rule;
  readonly row: Row;
  /** The row whose policy applies: `row` itself, or the inner row of a request through the relay proxy. */
  readonly policy: Row;
  readonly params: Readonly<Record<string, string>>;
  /** The path parameters of `policy`. */
  readonly policyParams: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query: string;
  /** The request target without the read tickets that came in it; null if there were none, so it is as it came. */
  readonly target: string | null;
  readonly principal: Principal;
  /** What the client calls itself. */
  readonly clientId: string | null;
  readonly cors: string | null;
  /** Whether the armed guard is overridden; known after the body was read. */
  readonly forced: boolean;
  /** Counts against the peer's request budget. */
  readonly counted: boolean;
}

export interface Preflight {
  readonly kind: 'preflight';
  readonly rule: 'cors';
  readonly headers: Readonly<Record<string, string>>;
}

/** A stranger's first request on a network that the node itself provides: its page of the set-up. */
interface ToSetup {
  readonly kind: 'to-setup';
  readonly rule: 'unpaired';
  readonly location: string;
}

export type Decision = Pass | Refusal | Preflight | ToSetup;

interface Found {
  readonly kind: 'found';
  readonly row: Row | null;
  readonly policy: Row | null;
  readonly params: Readonly<Record<string, string>>;
  readonly policyParams: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query: string;
  /** The methods of the path; empty if it has none. */
  readonly allow: string;
  /** The path has a WebSocket row. */
  readonly upgrade: boolean;
}

type BadTarget = Extract<MatchResult, { kind: 'bad' }>;

const NO_EXTRAS = Object.freeze({});
const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const NOTHING: Found = Object.freeze({
  kind: 'found',
  row: null,
  policy: null,
  params: NO_EXTRAS,
  policyParams: NO_EXTRAS,
  path: '',
  query: '',
  allow: '',
  upgrade: false,
});

function refuse(
  rule: Rule,
  code: ErrorCode,
  cors: string | null,
  more: Partial<
    Pick<Refusal, 'row' | 'detail' | 'extras' | 'headers' | 'failedCredential' | 'principal'>
  > = {},
): Refusal {
  return Object.freeze({
    kind: 'refuse',
    rule,
    row: more.row ?? null,
    code,
    detail: more.detail ?? ERRORS[code][1],
    extras: more.extras ?? NO_EXTRAS,
    headers: more.headers ?? NO_EXTRAS,
    cors,
    failedCredential: more.failedCredential ?? false,
    counted: rule !== 'rate',
    principal: more.principal ?? ANONYMOUS,
    refusals: more.row?.refusals ?? 'plain',
  });
}

function ambiguous({ why }: BadTarget): Refusal {
  return refuse('target', 'E_BAD_PATH', null, { detail: `Ambiguous request target: ${why}.` });
}

export function decide(request: RequestHead, state: EdgeState): Decision {
  const headers = scanHeaders(request.rawHeaders);
  const shown = takeReadTicket(request.target, state.matcher);
  const decision = judge(request, headers, shown, state);
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

/** The shape of refusals at a path, whatever is wrong with the request: its method, its Host, the value of a parameter. */
function refusalsAt(match: MatchResult): Refusals {
  const template = match.kind === 'none' ? undefined : match.template;
  return template !== undefined &&
    [...template.rows.values()].every(({ refusals }) => refusals === 'lifecycle')
    ? 'lifecycle'
    : 'plain';
}

function judge(
  request: RequestHead,
  headers: EdgeHeaders,
  { match, ticket }: Shown,
  state: EdgeState,
): Decision {
  // 1. One reading of the target, one Host.
  if (match.kind === 'bad') return ambiguous(match);
  if (headers.hosts !== 1 || headers.host === null || hostName(headers.host) === null) {
    return refuse('target', 'E_BAD_REQUEST', null, {
      detail: 'Send exactly one Host header with a host and an optional port.',
    });
  }
  // 2. Browser origins.
  const cors = headers.origin !== null && state.origins.has(headers.origin) ? headers.origin : null;
  const foreign = headers.origin !== null && cors === null && !isOwnOrigin(headers.origin, headers.host);
  if (request.method === 'OPTIONS' && headers.preflight && headers.origin !== null) {
    if (cors === null) return refuse('cors', 'E_ORIGIN', null);
    return Object.freeze({
      kind: 'preflight',
      rule: 'cors',
      headers: preflightHeaders(cors, headers.privateNetwork),
    });
  }
  if (request.upgrade && foreign) return refuse('cors', 'E_ORIGIN', null);
  // 4. The row. (Step 3, the removal of headers, is the scan above and the proxy's clean copy.)
  const found = findRow(request, match, state.matcher);
  if (found.kind === 'bad') return ambiguous(found);
  const { row } = found;
  // 5. The relay rule, before anything that could pass.
  if (isRelayed(request.peer, headers) && (found.policy?.relay === 'forbid' || row?.relay === 'forbid')) {
    return refuse('relay', 'E_RELAY_FORBIDDEN', cors, { row });
  }
  const refused = request.peer.kind === 'fleet' ? judgeFleet(request.peer, found, state) : null;
  if (refused !== null) return refused;
  // 6. The unpaired gate.
  const gate = passUnpairedGate(request, headers, foreign, row, state, cors);
  if (gate?.kind === 'refuse' || gate?.kind === 'to-setup') return gate;
  // 7. Public rows; not with the key instead of what they ask for, whose guesses count as everywhere.
  if (row?.access === 'public' && !(row.orKey && headers.showsKey)) {
    if (row.nearOnly && standing(request.peer, headers) === 'remote')
      return refuse('public', 'E_REMOTE', cors, { row });
    const principal = knownCaller(request, headers, foreign, found, state);
    return answer('public', row, found, principal, headers.clientId, cors, false, state);
  }
  // 8. Budgets. A caller on this machine is exempt, so that a flood never locks out the operator's own shell.
  const counted = !isOnBox(request.peer, headers);
  if (counted) {
    const { limitedFor, lockedFor } = request.peer;
    if (lockedFor !== null)
      return refuse('rate', 'E_LOCKED', cors, { row, headers: { 'retry-after': String(lockedFor) } });
    if (limitedFor !== null)
      return refuse('rate', 'E_RATE_LIMITED', cors, { row, headers: { 'retry-after': String(limitedFor) } });
  }
  // 9. The credential.
  const principal = gate?.principal ?? authenticate(request, headers, foreign, found, ticket, state);
  if (principal === null) {
    // A page of a foreign origin in this machine's browser: refused for its origin, since E_UNAUTHENTICATED would ask for a
    // key.
    if (row?.onBox === true && foreign && isOnBox(request.peer, headers))
      return refuse('cors', 'E_ORIGIN', cors, { row });
    return refuse('credential', 'E_UNAUTHENTICATED', cors, {
      row,
      failedCredential: counted && headers.offered,
    });
  }
  if (row === null) {
    if (found.upgrade && request.method === 'GET')
      return refuse('row', 'E_UPGRADE', cors, { principal, headers: { upgrade: 'websocket' } });
    if (found.allow === '' && !found.upgrade) return refuse('row', 'E_NOT_FOUND', cors, { principal });
    return refuse('row', 'E_METHOD', cors, { principal, headers: { allow: found.allow } });
  }
  return answer('credential', row, found, principal, headers.clientId, cors, counted, state);
}

/**
 * The fleet's own rule. Its credential is judged before public rows too: what comes through the broker is nobody's until it is
 * proved. @returns null where the call may go on
 */
function judgeFleet(
  { lockedFor, fleet }: Peer,
  { row, policy }: Found,
  { pairing }: EdgeState,
): Refusal | null {
  const wait = lockedFor === null ? null : { 'retry-after': String(lockedFor) };
  if (wait !== null) return refuse('rate', 'E_LOCKED', null, { row, headers: wait });
  if (fleet?.kind !== 'valid') {
    const {
      code = 'E_UNAUTHENTICATED',
      detail = ERRORS.E_UNAUTHENTICATED[1],
      extras = NO_EXTRAS,
    } = fleet ?? {};
    return refuse('credential', code, null, {
      row,
      detail,
      extras,
      failedCredential: code === 'E_UNAUTHENTICATED',
    });
  }
  const { principal, confirmed } = fleet;
  // Its rights end with the pairing, under which the node was enrolled.
  if (!pairing.paired) return refuse('unpaired', 'E_UNPAIRED', null, { row, principal });
  const rule = row === null ? 'ok' : fleetRule(policy ?? row);
  if (rule === 'forbid' || (row !== null && fleetRule(row) === 'forbid'))
    return refuse('fleet', 'E_FLEET_FORBIDDEN', null, { row, principal });
  return rule === 'confirm' && confirmed !== 'confirm'
    ? refuse('fleet', 'E_CONFIRM', null, { row, principal })
    : null;
}

function findRow(
  request: RequestHead,
  match: Exclude<MatchResult, { kind: 'bad' }>,
  matcher: Matcher,
): Found | BadTarget {
  if (match.kind === 'none') return NOTHING;
  const method = rowMethod(request);
  const { template, params, path, query } = match;
  const row = method === null ? undefined : (template.rows.get(method) ?? anyRow(template, method));
  if (row === undefined) {
    const methods = [...template.rows.keys()].flatMap((name) =>
      name === 'ANY' ? HTTP_METHODS : name === 'WS' ? [] : [name],
    );
    const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    return { ...NOTHING, path, query, allow: allow.join(', '), upgrade: template.rows.has('WS') };
  }
  const base = { ...NOTHING, row, params, policyParams: params, path, query };
  if (row.scope !== 'inner') return { ...base, policy: row };
  // Through the relay proxy the inner route's classes hold; an inner path without a row has none, so it is refused.
  const inner = matcher.match(`/${params['path'] ?? ''}`);
  const within = inner.kind === 'bad' ? inner : findRow(request, inner, matcher);
  if (within.kind === 'bad') return within;
  return within.row === null || within.row.scope === 'inner'
    ? { ...base, row: null, policy: null }
    : { ...base, policy: within.row, policyParams: within.params };
}

function anyRow(template: Template, method: RowMethod): Row | undefined {
  return method === 'WS' ? undefined : template.rows.get('ANY');
}

/** HEAD is treated as GET; null for a method that no row has. */
function rowMethod(request: RequestHead): RowMethod | null {
  if (request.upgrade) return request.method === 'GET' ? 'WS' : null;
  switch (request.method) {
    case 'HEAD':
      return 'GET';
    case 'GET':
    case 'POST':
    case 'PUT':
    case 'PATCH':
    case 'DELETE':
      return request.method;
    default:
      return null;
  }
}

/** Where the sender is. A proxied or relayed request does not come from its TCP peer; headers can only reduce trust. */
function standing(peer: Peer, headers: EdgeHeaders): AddressClass {
  if (isRelayed(peer, headers)) return 'remote';
  return headers.forwarded && peer.address === 'loopback' ? 'remote' : peer.address;
}

/** The listener decides, whatever the headers say; elsewhere the mark only takes rights away. */
function isRelayed(peer: Peer, headers: EdgeHeaders): boolean {
  return peer.kind === 'relay' || headers.relayed;
}

/** Whoever opens control.sock; an extension that svc-residual names has its own rights instead, which are fewer. */
function localCaller({ extension }: EdgeHeaders): Principal | null {
  return extension === null ? LOCAL_SOCKET : extensionCaller(extension);
}

function isOnBox(peer: Peer, headers: EdgeHeaders): boolean {
  return standing(peer, headers) === 'loopback';
}

const UNPAIRED_DRONE =
  'This drone has no owner yet, so it answers nothing over the radio. Pair it: run "svc pair" on it, or open its page at its hotspot or USB address.';

function passUnpairedGate(
  request: RequestHead,
  headers: EdgeHeaders,
  foreign: boolean,
  row: Row | null,
  state: EdgeState,
  cors: string | null,
): Refusal | ToSetup | { readonly kind: 'let-in'; readonly principal: Principal } | null {
  if (state.pairing.paired) return null;
  // Whatever it asks, the ground station has to hear what is missing.
  if (request.peer.kind === 'relay')
    return refuse('unpaired', 'E_UNPAIRED', cors, { row, detail: UNPAIRED_DRONE });
  if (!isOwnHost(headers.host, state.hosts))
    return toSetup(request, headers, state) ?? refuse('unpaired', 'E_ORIGIN', cors, { row });
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  if (changes && foreign) return refuse('unpaired', 'E_ORIGIN', cors, { row });
  if (row?.access === 'public') return null;
  if (request.peer.kind === 'unix') {
    const principal = localCaller(headers);
    return principal === null
      ? refuse('credential', 'E_UNAUTHENTICATED', cors, { row })
      : { kind: 'let-in', principal };
  }
  const where = standing(request.peer, headers);
  switch (unpairedGate(where)) {
    case 'pass':
      // There is no key yet; only this machine itself may do what a key could.
      if (row?.access === 'keyonly' && where !== 'loopback')
        return refuse('unpaired', 'E_UNPAIRED', cors, { row });
      return { kind: 'let-in', principal: gateCaller(where) };
    case 'session-needed': {
      const session =
        headers.session === null || row?.access === 'keyonly'
          ? null
          : state.credentials.session(headers.session);
      if (session === null)
        return refuse('unpaired', 'E_UNPAIRED', cors, { row, failedCredential: headers.session !== null });
      return { kind: 'let-in', principal: session };
    }
    case 'remote':
      return refuse('unpaired', 'E_REMOTE', cors, { row });
  }
}

/**
 * Phones look for the internet with requests to hosts that they know, and open the page that they are sent to instead. On the
 * node's hotspot its own DNS brings them here (docs/first-boot.md). The answer tells nothing and changes nothing, so a rebound
 * name gets nothing by it.
 */
function toSetup(
  { method, peer, upgrade }: RequestHead,
  headers: EdgeHeaders,
  { port }: EdgeState,
): ToSetup | null {
  const where = standing(peer, headers);
  if (upgrade || (method !== 'GET' && method !== 'HEAD')) return null;
  if (peer.kind !== 'tcp' || (where !== 'hotspot' && where !== 'usb')) return null;
  return Object.freeze({ kind: 'to-setup', rule: 'unpaired', location: setupUrl(where, port) });
}

/**
 * The caller of a public row, anonymous if it has no credential: some public rows answer known callers differently. Tokens are
 * not checked, so that their store is not read for requests that need none.
 */
function knownCaller(
  request: RequestHead,
  headers: EdgeHeaders,
  foreign: boolean,
  found: Found,
  state: EdgeState,
): Principal {
  const known = authenticate(request, { ...headers, token: null }, foreign, found, null, state);
  if (known !== null) return known;
  const where = standing(request.peer, headers);
  if (state.pairing.paired || where === 'remote') return ANONYMOUS;
  return gateCaller(where);
}

/** The strongest valid credential; invalid ones beside it are ignored. */
function authenticate(
  request: RequestHead,
  headers: EdgeHeaders,
  foreign: boolean,
  { row, policy, params, path }: Found,
  readTicket: string | null,
  state: EdgeState,
): Principal | null {
  const { credentials, pairing } = state;
  if (request.peer.kind === 'unix') return localCaller(headers);
  if (request.peer.kind === 'fleet')
    return request.peer.fleet?.kind === 'valid' ? request.peer.fleet.principal : null;
  const keyOnly =
    policy?.access === 'keyonly' || row?.access === 'keyonly' || (row?.orKey === true && headers.showsKey);
  if (request.peer.kind === 'relay') {
    // The ground station has checked the credential, and forwards none.
    const caller = statedCaller(request.peer.ground ?? '', headers.relayCaller);
    return caller === null || (keyOnly && !holdsKey(caller)) ? null : caller;
  }
  if (headers.key !== null && pairing.keyHash !== null && matchesHash(headers.key, pairing.keyHash))
    return PAIRING_KEY;
  if (
    row?.onBox === true &&
    !foreign &&
    isOnBox(request.peer, headers) &&
    isLoopbackHost(headers.host) &&
    request.peer.trusted()
  ) {
    return { kind: 'onbox', id: 'onbox', scopes: null };
  }
  if (headers.session !== null && !keyOnly) {
    const session = credentials.session(headers.session);
    if (session !== null) return session;
  }
  if (headers.ticket !== null && row?.access === 'ws' && row.ticket !== null) {
    const ticket = credentials.ticket(headers.ticket, ticketScope(row.ticket, params));
    if (ticket !== null) return ticket;
  }
  // A wrong one does not count as a failed credential (`offered`): any web page can have a browser ask for such an address,
  // and could lock its user out with it.
  if (readTicket !== null && row !== null && row.readTicket !== null) {
    const reader = credentials.readTicket(readTicket, readTicketPath(row, path, params));
    if (reader !== null) return reader;
  }
  return headers.token === null ? null : credentials.token(headers.token);
}

/**
 * Whether a caller may have a read ticket: as if it sent the GET itself (docs/contract.md 5.3).
 * @param path of what the ticket is for; of all files of an extension's page: `/api/plugins/{id}/gcs`
 */
export function mayHaveReadTicket(path: string, principal: Principal, state: EdgeState): Pass | Refusal {
  if (principal.kind === 'relay' || isBehindRelay(path, state.matcher))
    return refuse('relay', 'E_RELAY_FORBIDDEN', null, {
      detail: 'No read ticket is given through a ground station. Ask the drone itself.',
    });
  // No row is the folder of an extension's page itself.
  for (const target of [path, `${path}/-`]) {
    const match = state.matcher.match(target);
    const row = match.kind === 'found' ? match.template.rows.get('GET') : undefined;
    if (match.kind !== 'found' || row === undefined || row.readTicket === null) continue;
    if (readTicketPath(row, match.path, match.params) !== path) continue;
    const found = { ...NOTHING, row, policy: row, params: match.params, path: match.path };
    return answer('credential', row, found, principal, null, null, false, state);
  }
  return refuse('row', 'E_NOT_FOUND', null, { detail: `There is no read ticket for GET ${path}.` });
}

function isBehindRelay(path: string, matcher: Matcher): boolean {
  const match = matcher.match(path);
  return match.kind === 'found' && [...match.template.rows.values()].some(({ scope }) => scope === 'inner');
}

function isLoopbackHost(host: string | null): boolean {
  const name = host === null ? null : hostName(host);
  return name !== null && (name === 'localhost' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name));
}

/** `plugins.http:{id}` with the id of this request. */
export function ticketScope(template: string, params: Readonly<Record<string, string>>): string {
  return template.replace(/\{([a-z_]+)\}/g, (_, name: string) => params[name] ?? '');
}

/** Steps 10 and 11, after the caller is known. */
function answer(
  rule: Rule,
  row: Row,
  found: Found,
  principal: Principal,
  clientId: string | null,
  cors: string | null,
  counted: boolean,
  state: EdgeState,
): Pass | Refusal {
  const policy = found.policy ?? row;
  const missing = missingFeature(row, state);
  // Where the body may add a class, the refusal waits for it, so that it can say all that is missing.
  const waits = missing === null && isScope(policy.scope) && mayNeedMore(policy) && principal.scopes !== null;
  if (!waits && !mayUse(policy, principal))
    return lacksScope(
      { policy, row, principal, cors },
      raisedByRequest(policy.names, found.policyParams, undefined),
      false,
    );
  if (missing !== null) return refuse('feature', 'E_NOT_IMPLEMENTED', cors, { row, principal, ...missing });
  return Object.freeze({
    kind: 'pass',
    rule,
    row,
    policy,
    params: found.params,
    policyParams: found.policyParams,
    path: found.path,
    query: found.query,
    target: null,
    principal,
    clientId: clientId ?? (row.method === 'WS' ? clientIdIn(found.query) : null),
    cors,
    forced: false,
    counted,
  });
}

/** A browser opens a WebSocket without headers of its own. */
function clientIdIn(query: string): string | null {
  const named = new URLSearchParams(query).getAll('client_id');
  return named.length === 1 && isClientId(named[0]) ? named[0] : null;
}

/** Whether what a request names, or its override, can add to the class of the row. */
function mayNeedMore(policy: Row): boolean {
  return policy.bodyKind === 'json' && (policy.names.length > 0 || isOverridable(policy));
}

/** Says all that is missing, and why; for what is closed to tokens, who may. */
function lacksScope(
  { policy, row, principal, cors }: Pick<Pass, 'policy' | 'row' | 'principal' | 'cors'>,
  raised: readonly Raised[],
  overrides: boolean,
): Refusal {
  const granted = principal.scopes ?? [];
  const needed = neededScopes(policy, raised, overrides);
  const reasons = raised
    .filter((each) => !isScope(each.class) || !granted.includes(each.class))
    .map(({ name, reason }) => `${name} ${reason}.`);
  if (needed === null) {
    const detail = [...reasons, 'No token may do this: use the pairing key.'].join(' ');
    return refuse('scope', 'E_SCOPE', cors, {
      row,
      principal,
      detail,
      extras: { required: 'keyonly', missing: ['keyonly'], granted },
    });
  }
  const missing = needed.filter((scope) => !granted.includes(scope));
  const extras = { required: missing.at(-1), missing, granted };
  const { confirmable = [] } = principal;
  if (missing.every((scope) => confirmable.includes(scope)))
    return refuse('fleet', 'E_CONFIRM', cors, { row, principal, extras });
  if (overrides) reasons.push('The armed guard would be overridden.');
  const detail = [...reasons, `The token lacks ${missing.join(' and ')}.`].join(' ');
  return refuse('scope', 'E_SCOPE', cors, {
    row,
    principal,
    detail,
    extras,
    ...cappedBy(principal.cap, missing, reasons, extras),
  });
}

/** Of a caller of the fleet whose credential has the scopes, and whom this node does not let have them: what a person can do. */
function cappedBy(
  cap: Principal['cap'],
  missing: readonly Scope[],
  reasons: readonly string[],
  extras: Refusal['extras'],
): Pick<Refusal, 'detail' | 'extras'> | null {
  const capped = missing.filter((scope) => cap?.held.includes(scope) === true && !cap.local.includes(scope));
  if (cap === undefined || capped.length === 0) return null;
  const why = `This node does not let its fleet do that. ${howToAllow(capped, cap.local)}`;
  return {
    detail: [...reasons, why].join(' '),
    extras: { ...extras, capped, fleet_scopes: cap.local },
  };
}

function missingFeature(row: Row, state: EdgeState): Pick<Refusal, 'detail' | 'extras'> | null {
  const { feature, method, path } = row;
  const extras = { feature, profile: state.profile };
  switch (unserved(row, state)) {
    case 'feature':
      return { detail: `The feature ${feature} is off on this node (profile ${state.profile}).`, extras };
    case 'residual':
      return {
        detail: `This build has no residual process, which would answer ${feature} routes.`,
        extras,
      };
    case 'built':
      return { detail: `${method} ${path} is not implemented in this version.`, extras };
    case null:
      return null;
  }
}

/**
 * Steps 10, 12 and 13, which need the body.
 * @param body the parsed JSON body; undefined when there was none, or when the row takes it raw
 */
export function settle(pass: Pass, body: unknown, state: EdgeState): Pass | Refusal {
  const { policy, row, principal, cors } = pass;
  const asked = isOverridable(policy) && isForced(body, pass.query);
  const raised = raisedByRequest(policy.names, pass.policyParams, body);
  const root = raised.find((each) => each.class === 'root');
  if (root !== undefined)
    return refuse('scope', 'E_ROOT_ONLY', cors, {
      row,
      principal,
      detail: `${root.name} can only be changed by root on the node, not over the API: it ${root.reason}.`,
    });
  const question = { row: policy, params: pass.policyParams, body, profile: state.profile };
  const inner = row.scope === 'inner';
  // What a socket carries is guarded when it comes. Through the relay the drone judges, by its own vehicle.
  const guarded = policy.armed !== '-' && refusesWhile(state.armed) && isGuarded(question);
  const overrides = asked && !inner && (guarded || policy.armed === '-');
  const { scopes } = principal;
  const needed = neededScopes(policy, raised, overrides);
  if (raised.some((each) => each.class === 'keyonly') && !holdsKey(principal))
    return lacksScope(pass, raised, overrides);
  if (scopes !== null && needed?.every((scope) => scopes.includes(scope)) !== true)
    return lacksScope(pass, raised, overrides);
  // An override that nobody needs is ignored for a caller that could not have it.
  const forced = asked && (inner || scopes === null || scopes.includes('destructive'));
  const pilot =
    isFlown(policy, body) && (policy.method !== 'WS' || inner) ? state.pilot?.otherThan(pass.clientId) : null;
  if (typeof pilot === 'string')
    return refuse('pilot', 'E_NOT_PIC', cors, {
      row,
      principal,
      detail: `${pilot} is pilot in command. Claim it first, with take_over if that is agreed.`,
      extras: { claimed_by: pilot },
    });
  // The drone guards and checks what it is asked through the relay: it knows its own vehicle, and its own version of the row.
  if (inner) return forced ? Object.freeze({ ...pass, forced }) : pass;
  if (guarded && !forced) {
    const extras = {
      action: policy.summary,
      armed: state.armed,
      override: { body: { force: true }, query: 'force=1' },
    };
    return refuse('armed', 'E_ARMED', cors, { row, principal, extras });
  }
  const checked = row.bodyKind === 'json' || row.query !== null;
  const violations = checked ? state.validate(row, body, pass.query) : null;
  if (violations !== null) {
    return refuse('body', 'E_INVALID_VALUE', cors, {
      row,
      principal,
      detail: sentence(violations, row.bodyKind === 'json' ? 'The body' : 'The query'),
      extras: { errors: violations },
    });
  }
  return forced ? Object.freeze({ ...pass, forced }) : pass;
}

/** Whether the armed guard applies to the row, or to what is sent through its socket later. */
function isOverridable({ armed, query }: Row): boolean {
  return armed !== '-' || query?.properties?.['force'] !== undefined;
}

/** Whether it flies or changes the vehicle (a WebSocket of our own judges each frame), which is the pilot's business; what ends a flight is everybody's. */
function isFlown({ feature, blast, id }: Row, body: unknown): boolean {
  if (feature !== 'flight' || blast !== 'aircraft') return false;
  const command = id === 'command.post' ? memberOf(body, 'cmd') : null;
  return typeof command !== 'string' || !endsFlight(command);
}

function sentence(violations: readonly Violation[], subject: string): string {
  const first = violations[0];
  if (first === undefined) return ERRORS.E_INVALID_VALUE[1];
  return `${faultOf(first, subject)}.`;
}
