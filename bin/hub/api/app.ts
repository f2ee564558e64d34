import type { IncomingMessage } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { AuditRecord } from '../../../shared/audit/chain.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { endWithFailure, failureOf, inBytes, sendValue } from '../../../shared/http/answer.ts';
import { bareApp } from '../../../shared/http/bare-app.ts';
import { hasBody, readJson } from '../../../shared/http/body.ts';
import { headerName, hostProblem, Single, targetProblem } from '../../../shared/http/edge/head.ts';
import { HeldBytes } from '../../../shared/http/edge/held-bytes.ts';
import type { Caller } from '../../../shared/hub-api/caller.ts';
import { ID_PATTERN } from '../../../shared/hub-api/openapi.ts';
import type { Asker, HubCall, HubHandler, HubRow } from '../../../shared/hub-api/row.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { Reply } from '../../../shared/routes/handler.ts';
import { whyNotCanonical } from '../../../shared/routes/match.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import { type Validator, validatorOf } from '../../../shared/schemas/validator.ts';
import type { Entry } from '../audit.ts';
import { diskProblem } from '../disk.ts';
import type { Budgets } from './budgets.ts';
import type { Entry as Connected } from './entrance.ts';
import type { PageFinder } from './page.ts';
import type { HubListener } from './server.ts';

/** A node's own name, a CSR and a key. */
const OPEN_BODY = 64 * 1024;
/** A list of 10 000 nodes. */
const BODY = 1024 * 1024;
const ID = new RegExp(ID_PATTERN);
const BEARER = /^Bearer ([A-Za-z0-9_-]{1,256})$/i;

/** As helmet's: no page of others frames it, and its answers run nothing. The page has its own policy. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

const ENDING = { ...HEADERS, connection: 'close' } as const;

/** An answer that goes on, and writes its own head. */
export class OpenAnswer {
  readonly begin: (res: Response, headers: Readonly<Record<string, string>>) => void;

  constructor(begin: OpenAnswer['begin']) {
    this.begin = begin;
  }
}

interface AppOptions {
  readonly rows: readonly HubRow[];
  /** By row id. */
  readonly handlers: Readonly<Record<string, HubHandler<HubRow>>>;
  /** Null for a credential that does not count. */
  readonly authenticate: (credential: string) => Promise<Caller | null>;
  readonly budgets: Budgets;
  /** @returns the number of the record @throws ApiError E_AUDIT */
  readonly record: (entry: Entry) => number;
  /** Monotonic, ms. */
  readonly monotonic: () => number;
  /** The page of the fleet; null where it is not built. */
  readonly page: PageFinder | null;
  readonly log: Logger;
}

interface Validators {
  readonly query: Validator | null;
  readonly body: Validator | null;
}

/** What is known of a request before its row. */
interface OpenRequest {
  readonly from: Connected;
  readonly since: number;
  /** Null for none that counts. */
  readonly credential: string | null;
}

/** The hub's HTTP side: everything that is decided about a request is in its row. */
export function createHubApp(options: AppOptions): HubListener {
  const { rows, page, budgets, log } = options;
  const asked = new WeakMap<IncomingMessage, OpenRequest>();
  const held = new HeldBytes();
  const askedOf = (req: Request): OpenRequest => {
    const found = asked.get(req);
    if (found === undefined) throw new Error('a request that did not come through the edge');
    return found;
  };
  const app = bareApp(express());
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.use((req: Request, res: Response, next: NextFunction) => {
    const { from, since } = askedOf(req);
    const credential = judgeHead(req, from, budgets);
    asked.set(req, { from, since, credential });
    const file = page?.(req) ?? null;
    if (file === null) {
      next();
      return;
    }
    budgets.ofStranger(from.peer, 'page');
    file.then((reply) => sendValue(res, reply), next);
  });
  for (const row of rows) {
    const { query, body } = row;
    const validators = {
      query: query === null ? null : validatorOf(query, { useDefaults: true, coerce: true }),
      body: body === null ? null : validatorOf(body),
    };
    const route = app.route(row.path.replaceAll('{id}', ':id'));
    route[verbOf(row)](async (req, res) => serve(options, held, row, validators, askedOf(req), req, res));
  }
  for (const [path, methods] of Map.groupBy(rows, (row) => row.path.replaceAll('{id}', ':id')))
    app.all(path, (req, _res) => {
      budgets.ofStranger(askedOf(req).from.peer, 'read');
      const allow = methods.map(({ method }) => method).join(', ');
      throw new ApiError('E_METHOD', undefined, {}, { allow });
    });
  app.use((req: Request) => {
    budgets.ofStranger(askedOf(req).from.peer, 'read');
    throw new ApiError('E_NOT_FOUND');
  });
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    // A body that was not read ends with its connection.
    endWithFailure(res, error, failureOf(error), log, hasBody(req) && !req.complete ? ENDING : HEADERS);
  });
  return (req, res, from) => {
    asked.set(req, { from, since: options.monotonic(), credential: null });
    app(req, res);
  };
}

/**
 * By the node's rules (docs/contract/edge.md#target): one reading of the target, one Host, and no credential that came twice.
 * @returns the credential; null for none that counts
 * @throws ApiError E_BAD_PATH, E_BAD_REQUEST, E_RATE_LIMITED
 */
function judgeHead(req: Request, { peer }: Connected, budgets: Budgets): string | null {
  const { rawHeaders } = req;
  const authorization = new Single();
  let hosts = 0;
  let host: string | null = null;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = headerName(rawHeaders[i] ?? '');
    const value = rawHeaders[i + 1] ?? '';
    if (name === 'authorization') authorization.add(value, rawHeaders[i] ?? '');
    else if (name === 'host') {
      hosts++;
      host = value;
    }
  }
  const why = whyNotCanonical(req.url);
  // HTTP/1.0 knows no Host, and health checks of balancers are in it; nothing here goes by a Host.
  const isHostless = hosts === 0 && req.httpVersion === '1.0';
  const problem = why !== null ? targetProblem(why) : isHostless ? null : hostProblem(hosts, host);
  if (problem === null) return BEARER.exec(authorization.value ?? '')?.[1] ?? null;
  budgets.ofStranger(peer, 'read'); // a refusal costs work too
  throw new ApiError(why === null ? 'E_BAD_REQUEST' : 'E_BAD_PATH', problem);
}

function verbOf({ method }: HubRow): 'get' | 'post' | 'delete' {
  switch (method) {
    case 'GET':
      return 'get';
    case 'POST':
      return 'post';
    case 'DELETE':
      return 'delete';
  }
}

async function serve(
  options: AppOptions,
  held: HeldBytes,
  row: HubRow,
  validators: Validators,
  { from, since, credential }: OpenRequest,
  req: Request,
  res: Response,
): Promise<void> {
  const { handlers, budgets, record } = options;
  const { ip: peer } = from;
  const entry = { peer, route: row.id };
  let caller: Caller | null = null;
  let of: number | null = null;
  let changed: string | undefined;
  const settle = (status: number, outcome: string): void => {
    const named = changed === undefined ? {} : { changed };
    // What strangers announce and what they did are in two files.
    const announced = of === null || caller === null ? {} : { of };
    record({ ...entry, ...whoIs(caller), outcome, rule: 'row', status, ...announced, ...named });
  };
  try {
    if (row.access === 'public' || credential === null || !budgets.knows(credential))
      budgets.ofStranger(from.peer, row.rate);
    caller = await authorize(options, row, from, credential);
    const who = caller?.person ?? null;
    const check = (bytes: number): void => {
      // A balancer must not take the hub out for what strangers do.
      if (row.rate !== 'health') held.check(from.peer, who, bytes);
    };
    check(0);
    const id = idOf(req);
    const query = queryOf(req, validators.query);
    const body = await bodyOf(req, res, row, validators.body, (bytes) => {
      check(bytes);
      return held.hold(from.peer, who, bytes);
    });
    const name = (what: string): void => {
      changed = what;
    };
    if (id !== '') name(id);
    if (row.audited)
      of = record({
        ...entry,
        ...whoIs(caller),
        outcome: 'announced',
        rule: 'row',
        ...(changed === undefined ? {} : { changed }),
      });
    // The row decides which of these there are: checked above, and typed by the row for each handler.
    const asker: Asker = { since, isGone: () => res.closed || req.socket.readableEnded };
    const call = {
      id,
      query,
      body,
      caller,
      headers: req.headers,
      peer,
      asker,
      changed: name,
    } as HubCall<HubRow>;
    const handler = handlers[row.id];
    if (handler === undefined) throw new Error(`${row.id} has no handler`);
    const value: unknown = await handler(call);
    if (row.audited) settle(row.status, 'done');
    if (value instanceof OpenAnswer) value.begin(res, HEADERS);
    else {
      const { reply, bytes } = inBytes(value instanceof Reply ? value : new Reply(row.status, value));
      if (row.method === 'GET') check(bytes); // what was changed is told in any case
      const release = held.hold(from.peer, who, bytes);
      if (res.closed) release();
      else res.once('close', release);
      sendValue(res, reply, HEADERS);
    }
  } catch (caught) {
    const problem = diskProblem(caught);
    if (problem !== null) options.log.error(`${row.id}: ${messageOf(caught)}`);
    const error = problem === null ? caught : new ApiError('E_STORE', problem);
    const { status, code } = error instanceof ApiError ? error : new ApiError('E_INTERNAL');
    const refused = status === 401 || status === 403 || code === 'E_LOCKED';
    if (code !== 'E_AUDIT' && (of !== null || refused)) settle(status, code);
    throw error;
  }
}

/** How the audit names a caller; null: somebody without a credential. */
export function whoIs(
  caller: Caller | null,
): Pick<AuditRecord, 'principal' | 'principal_kind' | 'principal_name'> {
  return caller === null
    ? { principal: 'anonymous', principal_kind: 'anonymous' }
    : { principal: caller.id, principal_kind: caller.kind, principal_name: caller.name };
}

async function authorize(
  { authenticate, budgets }: AppOptions,
  row: HubRow,
  from: Connected,
  credential: string | null,
): Promise<Caller | null> {
  if (row.access === 'public') return null;
  const caller = credential === null ? null : await authenticate(credential);
  if (caller === null) {
    // Not before: a stranger must not lock out those who come from the same address.
    if (credential !== null) budgets.failed(from.peer);
    throw new ApiError(
      'E_UNAUTHENTICATED',
      credential === null
        ? 'Send a credential of this hub: Authorization: Bearer svc_…'
        : 'This credential is wrong, or has been ended.',
      {},
      { 'www-authenticate': 'Bearer realm="svc-hub"' },
    );
  }
  if (credential !== null) budgets.remember(credential);
  from.know();
  budgets.ofCaller(caller.person, row.rate);
  if (row.access !== 'credential' && row.access !== caller.kind)
    throw new ApiError('E_SCOPE', `This is for the credential of ${article(row.access)}.`);
  if (row.scope !== null && !caller.scopes.includes(row.scope))
    throw new ApiError('E_SCOPE', undefined, { required: row.scope, granted: caller.scopes });
  if (row.wholeFleet && caller.nodes !== null)
    throw new ApiError('E_SCOPE', 'This is for those who have the whole fleet.');
  return caller;
}

function article(access: 'operator' | 'machine'): string {
  return access === 'operator' ? 'an operator' : 'a machine';
}

/** Empty where the path has none. */
function idOf({ params }: Request): string {
  const { id } = params;
  if (id === undefined) return '';
  if (typeof id !== 'string' || !ID.test(id)) throw new ApiError('E_NOT_FOUND');
  return id;
}

function queryOf(req: Request, validator: Validator | null): unknown {
  const mark = req.url.indexOf('?');
  const query: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(mark === -1 ? '' : req.url.slice(mark + 1))) {
    if (Object.hasOwn(query, name)) throw notValid([{ path: `/${name}`, message: 'is there twice' }]);
    query[name] = value;
  }
  const violations = validator?.(query) ?? null;
  if (violations !== null) throw notValid(violations);
  return query;
}

/** @param hold takes room for what is read @throws ApiError as of `readJson`, E_INVALID_VALUE, E_RATE_LIMITED */
async function bodyOf(
  req: Request,
  res: Response,
  row: HubRow,
  validator: Validator | null,
  hold: (bytes: number) => () => void,
): Promise<unknown> {
  if (validator === null) return undefined;
  const limit = row.access === 'public' ? OPEN_BODY : BODY;
  const announced = Number(req.headers['content-length'] ?? limit);
  const release = hold(Math.min(announced, limit));
  try {
    if (req.headers.expect !== undefined) res.writeContinue();
    const { value } = await readJson(req, limit);
    const violations = validator(value);
    if (violations !== null) throw notValid(violations);
    return value;
  } finally {
    release();
  }
}

function notValid(violations: readonly { readonly path: string; readonly message: string }[]): ApiError {
  const [first] = violations;
  const why = first === undefined ? 'The request is not valid' : faultOf(first, 'The request');
  return new ApiError('E_INVALID_VALUE', `${why}.`, { violations });
}
