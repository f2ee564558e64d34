import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { plainAddress } from '../../../shared/auth/address.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { failureOf, sendFailure, sendValue } from '../../../shared/http/answer.ts';
import { readJson } from '../../../shared/http/body.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { Reply } from '../../../shared/routes/handler.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import { type Validator, validatorOf } from '../../../shared/schemas/validator.ts';
import type { Entry } from '../audit.ts';
import { diskProblem } from '../disk.ts';
import type { Budgets } from './budgets.ts';
import type { Caller } from './caller.ts';
import { ID_PATTERN } from './openapi.ts';
import { type HubCall, type HubHandler, type HubRow, RATES } from './row.ts';

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
  /** The page of the fleet; null where it is not built. */
  readonly page: RequestHandler | null;
  readonly log: Logger;
}

interface Validators {
  readonly query: Validator | null;
  readonly body: Validator | null;
}

/** The hub's HTTP side: everything that is decided about a request is in its row. */
export function createHubApp(options: AppOptions): Express {
  const { rows, page, log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('env', 'production');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  if (page !== null) app.use(page);
  for (const row of rows) {
    const { query, body } = row;
    const validators = {
      query: query === null ? null : validatorOf(query, { useDefaults: true, coerce: true }),
      body: body === null ? null : validatorOf(body),
    };
    const path = row.path.replaceAll('{id}', ':id');
    app.route(path)[verbOf(row)](async (req, res) => serve(options, row, validators, req, res));
  }
  for (const [path, methods] of Map.groupBy(rows, (row) => row.path.replaceAll('{id}', ':id')))
    app.all(path, (_req, _res) => {
      const allow = methods.map(({ method }) => method).join(', ');
      throw new ApiError('E_METHOD', undefined, {}, { allow });
    });
  app.use(() => {
    throw new ApiError('E_NOT_FOUND');
  });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    if (!(error instanceof ApiError)) {
      const unreadable = error instanceof URIError;
      if (!unreadable) log.error(`failed: ${messageOf(error)}`);
      send(res, unreadable ? new ApiError('E_BAD_PATH') : error);
    } else send(res, error);
  });
  return app;
}

function send(res: Response, error: unknown): void {
  if (res.headersSent) res.destroy();
  else sendFailure(res, failureOf(error), HEADERS);
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
  row: HubRow,
  validators: Validators,
  req: Request,
  res: Response,
): Promise<void> {
  const { handlers, budgets, record } = options;
  const peer = plainAddress(req.socket.remoteAddress ?? '');
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
    const credential = BEARER.exec(req.headers.authorization ?? '')?.[1];
    if (row.access === 'public' || credential === undefined || !budgets.knows(credential))
      budgets.spend(peer, row.rate, RATES[row.rate]);
    caller = await authorize(options, row, peer, credential);
    const id = idOf(req);
    const query = queryOf(req, validators.query);
    const body = await bodyOf(req, row, validators.body);
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
    const call = { id, query, body, caller, headers: req.headers, peer, changed: name } as HubCall<HubRow>;
    const handler = handlers[row.id];
    if (handler === undefined) throw new Error(`${row.id} has no handler`);
    const value: unknown = await handler(call);
    if (row.audited) settle(row.status, 'done');
    if (value instanceof OpenAnswer) value.begin(res, HEADERS);
    else sendValue(res, value instanceof Reply ? value : new Reply(row.status, value), HEADERS);
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

function whoIs(caller: Caller | null): { readonly principal: string; readonly principal_kind: string } {
  return { principal: caller?.id ?? 'anonymous', principal_kind: caller?.kind ?? 'anonymous' };
}

async function authorize(
  { authenticate, budgets }: AppOptions,
  row: HubRow,
  peer: string,
  credential: string | undefined,
): Promise<Caller | null> {
  if (row.access === 'public') return null;
  const caller = credential === undefined ? null : await authenticate(credential);
  if (caller === null) {
    // Not before: a stranger must not lock out those who come from the same address.
    if (credential !== undefined) budgets.failed(peer);
    throw new ApiError(
      'E_UNAUTHENTICATED',
      credential === undefined
        ? 'Send a credential of this hub: Authorization: Bearer svc_…'
        : 'This credential is wrong, or has been ended.',
      {},
      { 'www-authenticate': 'Bearer realm="svc-hub"' },
    );
  }
  if (credential !== undefined) budgets.remember(credential);
  budgets.spend(caller.id, row.rate, RATES[row.rate]);
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

async function bodyOf(req: Request, row: HubRow, validator: Validator | null): Promise<unknown> {
  if (validator === null) return undefined;
  const { value } = await readJson(req, row.access === 'public' ? OPEN_BODY : BODY);
  const violations = validator(value);
  if (violations !== null) throw notValid(violations);
  return value;
}

function notValid(violations: readonly { readonly path: string; readonly message: string }[]): ApiError {
  const [first] = violations;
  const why = first === undefined ? 'The request is not valid' : faultOf(first, 'The request');
  return new ApiError('E_INVALID_VALUE', `${why}.`, { violations });
}
