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
import { ApiError, messageOf } from '../../shared/errors.ts';
import { failureOf, sendFailure, sendValue } from '../../shared/http/answer.ts';
import { bodyStream, hasBody, readBytes, readJson } from '../../shared/http/body.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { Call, Handler } from '../../shared/routes/handler.ts';
import type { Row } from '../../shared/routes/row.ts';

export interface AppParts {
  /** The rows that are built here. */
  readonly rows: readonly Row[];
  /** By row id. */
  readonly handlers: ReadonlyMap<string, Handler<Row>>;
  /** What the front shows on each connection; null where this process was started alone, and then nobody is believed. */
  readonly proof: string | null;
  /** Ends what these principals have opened. @returns for whom something is still open */
  readonly end: (ids: ReadonlySet<string>) => Promise<readonly Principal[]>;
  readonly log: Logger;
}

interface Marks extends Record<string, unknown> {
  mark: Mark;
}
type Marked = Response<unknown, Marks>;
/** One middleware of the residual. */
type Step = (req: Request, res: Marked, next: NextFunction) => void | Promise<void>;

// Kept on the socket, so that a connection proves itself once.
const PROVEN = Symbol('proven');

/**
 * The residual's HTTP side. Only the front speaks to it: each connection proves that, and each request carries what the front
 * decided; without both there is no answer but 401. Row, parameters and body were decided upon already, so here is only the
 * work. One router a domain, with its rows by path and method.
 */
export function createApp({ rows, handlers, proof, end, log }: AppParts): ReturnType<typeof express> {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('env', 'production'); // should Express ever answer an error itself, then without a stack trace
  app.use(fromFront(proof));
  app.use(endedPrincipals(end));
  for (const domain of Map.groupBy(rows, ({ feature }) => feature).values())
    app.use(routerOf(domain, handlers));
  app.use(misrouted);
  app.use(errors(log));
  return app;
}

/**
 * What the front decided about this request.
 * @throws ApiError E_UNAUTHENTICATED for who is not the front, or does not say what was decided
 */
export function markOf(req: IncomingMessage, proof: string | null): Mark {
  const socket = req.socket as typeof req.socket & { [PROVEN]?: true };
  if (socket[PROVEN] !== true && !isProof(req.headers[PROOF_HEADER], proof))
    throw new ApiError('E_UNAUTHENTICATED', 'Only the front speaks to this socket.');
  socket[PROVEN] = true;
  const mark = decodeMark(req.headers[PRINCIPAL_HEADER]);
  if (mark === null) throw new ApiError('E_UNAUTHENTICATED', 'The request does not say what was decided.');
  return mark;
}

/** What a handler is called with. @param body undefined for an upgrade */
export function callOf(req: IncomingMessage, { params, principal, forced }: Mark, body: unknown): Call<Row> {
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

function routerOf(rows: readonly Row[], handlers: ReadonlyMap<string, Handler<Row>>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const row of literalsFirst(rows)) {
    const handler = handlers.get(row.id);
    if (handler === undefined || row.method === 'WS') continue;
    const route = router.route(expressPath(row.path));
    const answer = serve(row, handler);
    switch (row.method) {
      case 'ANY':
        route.all(answer);
        break;
      case 'GET':
        route.get(answer); // and HEAD
        break;
      case 'POST':
        route.post(answer);
        break;
      case 'PUT':
        route.put(answer);
        break;
      case 'PATCH':
        route.patch(answer);
        break;
      case 'DELETE':
        route.delete(answer);
        break;
    }
  }
  return router;
}

/** A literal segment wins over a parameter, as in the front's own matching. */
function literalsFirst(rows: readonly Row[]): readonly Row[] {
  const rank = ({ path }: Row): string => path.replaceAll('{*', '\u{10fffe}').replaceAll('{', '\u{10fffd}');
  return rows.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** `/a/{name}/{*rest}` as Express writes it. */
function expressPath(path: string): string {
  return path.replaceAll('{*', '*').replaceAll('{', ':').replaceAll('}', '');
}

function serve(row: Row, handler: Handler<Row>) {
  return async (req: Request, res: Marked): Promise<void> => {
    const { mark } = res.locals;
    if (mark.row !== row.id) throw disagreement(mark, row.id);
    sendValue(res, await handler(callOf(req, mark, await bodyOf(req, row))));
  };
}

function misrouted(_req: Request, res: Marked): never {
  throw disagreement(res.locals.mark, 'no row');
}

/** The request was let in as one row and would be served as another: then nobody has decided about what it would do. */
function disagreement(mark: Mark, routed: string): Error {
  return new Error(`decided as ${mark.row}, routed as ${routed}`);
}

async function bodyOf(req: IncomingMessage, row: Row): Promise<unknown> {
  const { bodyBytes } = row.limits;
  switch (row.bodyKind) {
    case 'none':
      return undefined;
    case 'json':
      return hasBody(req) ? (await readJson(req, bodyBytes)).value : undefined;
    case 'raw':
      return hasBody(req) ? readBytes(req, bodyBytes) : Buffer.alloc(0);
    case 'stream':
      return bodyStream(req, bodyBytes);
  }
}

function errors(log: Logger) {
  return (error: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    if (!(error instanceof ApiError)) {
      log.error(`request failed: ${messageOf(error)}`, {
        stack: error instanceof Error ? error.stack : undefined,
      });
    }
    if (res.headersSent) res.destroy();
    else sendFailure(res, failureOf(error));
  };
}
