import type { IncomingMessage } from 'node:http';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { Principal } from '../../shared/auth/principal.ts';
import {
  decodeMark,
  ENDED_ROW,
  isProof,
  type Mark,
  PRINCIPAL_HEADER,
  PROOF_HEADER,
} from '../../shared/auth/principal-mark.ts';
import { ApiError } from '../../shared/errors.ts';
import { endWithFailure, failureOf, sendValue } from '../../shared/http/answer.ts';
import { bareApp } from '../../shared/http/bare-app.ts';
import { bodyStream, hasBody, readBytes, readJson } from '../../shared/http/body.ts';
import { EventAnswer, wantsEvents } from '../../shared/http/event-answer.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { AnyHandler, Call, OnProgress } from '../../shared/routes/handler.ts';
import type { Refusals, Row } from '../../shared/routes/row.ts';

export interface AppParts {
  /** The rows that are built here. */
  readonly rows: readonly Row[];
  /** By row id. */
  readonly handlers: ReadonlyMap<string, AnyHandler>;
  /**
   * The proof that svc-control sends on each connection; null if this process was started alone, and then every request is
   * refused.
   */
  readonly proof: string | null;
  /** Ends the things that these principals have opened. @returns the principals that still have something open */
  readonly end: (ids: ReadonlySet<string>) => Promise<readonly Principal[]>;
  readonly log: Logger;
}

interface Marks extends Record<string, unknown> {
  mark: Mark;
  /** Of the row that the request has come to. */
  refusals?: Refusals;
}
type Marked = Response<unknown, Marks>;
/** One middleware of the residual. */
type Step = (req: Request, res: Marked, next: NextFunction) => void | Promise<void>;

// Stored on the socket, so that the proof is checked once per connection.
const PROVEN = Symbol('proven');
function tagsOf(socket: object): { [PROVEN]?: true } {
  return socket;
}

/**
 * The residual's HTTP side. Only svc-control may use it: each connection needs the proof and each request the decision;
 * otherwise the answer is 401. Row, parameters and body are already checked, so only the work is left. One router per domain,
 * with its rows by path and method.
 */
export function createApp({ rows, handlers, proof, end, log }: AppParts): ReturnType<typeof express> {
  const app = bareApp(express());
  app.use(fromFront(proof));
  app.use(endedPrincipals(end));
  for (const domain of Map.groupBy(rows, ({ feature }) => feature).values())
    app.use(routerOf(domain, handlers));
  app.use(misrouted);
  app.use(errors(log));
  return app;
}

/** The decision about this request. @throws ApiError E_UNAUTHENTICATED if it is not from svc-control, or has no decision */
export function markOf(req: IncomingMessage, proof: string | null): Mark {
  const socket = tagsOf(req.socket);
  if (socket[PROVEN] !== true && !isProof(req.headers[PROOF_HEADER], proof))
    throw new ApiError('E_UNAUTHENTICATED', 'Only the front speaks to this socket.');
  socket[PROVEN] = true;
  const mark = decodeMark(req.headers[PRINCIPAL_HEADER]);
  if (mark === null) throw new ApiError('E_UNAUTHENTICATED', 'The request has no decision.');
  return mark;
}

/** The arguments of a handler. @param body undefined for an upgrade */
export function callOf(
  req: IncomingMessage,
  { params, principal, forced }: Mark,
  body: unknown,
  progress: OnProgress = () => undefined,
  gone?: AbortSignal,
): Call<Row> {
  const target = req.url ?? '';
  const query = target.indexOf('?');
  return {
    params,
    query: query === -1 ? '' : target.slice(query + 1),
    body,
    principal,
    peer: '',
    forced,
    headers: req.headers,
    progress,
    ...(gone === undefined ? {} : { gone }),
  };
}

function fromFront(proof: string | null): Step {
  return (req, res, next) => {
    res.locals.mark = markOf(req, proof);
    next();
  };
}

function endedPrincipals(end: AppParts['end']): Step {
  return async (_req, res, next) => {
    const { row, params } = res.locals.mark;
    if (row === ENDED_ROW) sendValue(res, await end(new Set(Object.values(params))));
    else next();
  };
}

/** Express's functions for the methods of rows; `get` serves HEAD too. */
const VERBS = { ANY: 'all', GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

function routerOf(rows: readonly Row[], handlers: ReadonlyMap<string, AnyHandler>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const row of literalsFirst(rows)) {
    const handler = handlers.get(row.id);
    if (handler === undefined || row.method === 'WS') continue;
    const route = router.route(expressPath(row));
    route[VERBS[row.method]](serve(row, handler));
  }
  return router;
}

/** A literal segment wins over a parameter, as in the front's own matching. */
function literalsFirst(rows: readonly Row[]): readonly Row[] {
  const rank = ({ path }: Row): string => path.replaceAll('{*', '\u{10fffe}').replaceAll('{', '\u{10fffd}');
  return rows.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** `/a/{name}/{*rest}` as Express writes it; there, a rest in braces may be empty. */
function expressPath({ path, params }: Row): string {
  return path.replaceAll(/\{(\*?)([a-z_]+)\}/g, (_, rest: string, name: string) => {
    if (rest === '') return `:${name}`;
    return params[name]?.raw === true ? `{*${name}}` : `*${name}`;
  });
}

function serve(row: Row, handler: AnyHandler) {
  return async (req: Request, res: Marked): Promise<void> => {
    const { mark } = res.locals;
    checkRouted(mark, row.id);
    res.locals.refusals = row.refusals;
    const body = await bodyOf(req, row);
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    if (!row.long || !wantsEvents(req)) {
      sendValue(res, await handler(callOf(req, mark, body, undefined, gone.signal)), {}, row.refusals);
      return;
    }
    const events = new EventAnswer(res, () => performance.now());
    try {
      events.result(await handler(callOf(req, mark, body, events.progress, gone.signal)));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      events.failure(failureOf(error, row.refusals));
    }
  };
}

function misrouted(_req: Request, res: Marked): void {
  checkRouted(res.locals.mark, undefined);
}

/**
 * A request that was allowed as one row and would be served as another: nothing was decided about that one.
 * @param routed id of the row that its method and path lead to
 * @throws Error
 */
export function checkRouted(mark: Mark, routed: string | undefined): void {
  if (mark.row !== routed) throw new Error(`decided as ${mark.row}, routed as ${routed ?? 'no row'}`);
}

async function bodyOf(req: IncomingMessage, row: Row): Promise<unknown> {
  const { bodyBytes } = row.limits;
  switch (row.bodyKind) {
    case 'none':
      return undefined;
    case 'json':
      return (hasBody(req) ? (await readJson(req, bodyBytes)).value : undefined) ?? {};
    case 'raw':
      return hasBody(req) ? readBytes(req, bodyBytes) : Buffer.alloc(0);
    case 'stream':
      return bodyStream(req, bodyBytes);
  }
}

function errors(log: Logger) {
  return (
    error: unknown,
    _req: Request,
    res: Response<unknown, Partial<Marks>>,
    _next: NextFunction,
  ): void => {
    endWithFailure(res, error, failureOf(error, res.locals.refusals), log);
  };
}
