import type { KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import express from 'express';
import { PRINCIPAL_HEADER, verifyPrincipal } from '../shared/auth/principal-mark.ts';
import { ApiError, messageOf } from '../shared/errors.ts';
import { failureOf, sendFailure, sendValue } from '../shared/http/answer.ts';
import { hasBody, readBytes, readJson } from '../shared/http/json-body.ts';
import type { Logger } from '../shared/logger.ts';
import type { Call, Handler } from '../shared/routes/handler.ts';
import type { Matcher } from '../shared/routes/match.ts';
import type { HttpMethod, Row } from '../shared/routes/row.ts';

const KEEP_ALIVE_MS = 60_000;
const MAX_CONNECTIONS = 256;

export interface ResidualOptions {
  readonly matcher: Matcher;
  /** By row id. */
  readonly handlers: ReadonlyMap<string, Handler<Row>>;
  /** The per-boot secret that the front signs with. */
  readonly secret: KeyObject | null;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * The HTTP side of the residual. Only the front speaks to it, and every request carries the caller's identity signed by the
 * front; without it there is no answer but 401. The front has decided and validated already, so here is only the work.
 */
export function createResidualServer(options: ResidualOptions): Server {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('env', 'production'); // should Express ever answer an error itself, then without a stack trace
  app.use((req: IncomingMessage, res: ServerResponse) => {
    serve(options, req, res).catch((error: unknown) => fail(options.log, res, error));
  });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: KEEP_ALIVE_MS }, app);
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function serve(options: ResidualOptions, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { method = '', url = '' } = req;
  const mark = req.headers[PRINCIPAL_HEADER];
  const subject = verifyPrincipal(
    options.secret,
    typeof mark === 'string' ? mark : undefined,
    method,
    url,
    options.now(),
  );
  if (subject === null) throw new ApiError('E_UNAUTHENTICATED', 'Only the front speaks to this socket.');
  const match = options.matcher.match(url);
  const found = match.kind === 'found' ? match.matches[0] : undefined;
  const row = found?.template.rows.get((method === 'HEAD' ? 'GET' : method) as HttpMethod);
  const handler = row === undefined ? undefined : options.handlers.get(row.id);
  if (match.kind !== 'found' || found === undefined || row === undefined || handler === undefined) {
    throw new ApiError('E_NOT_IMPLEMENTED');
  }
  const body = await bodyOf(req, row);
  const call: Call<Row> = {
    params: found.params,
    query: match.query,
    body,
    principal: subject.principal,
    forced: subject.forced,
    headers: req.headers,
  };
  sendValue(res, await handler(call));
}

async function bodyOf(req: IncomingMessage, row: Row): Promise<unknown> {
  switch (row.bodyKind) {
    case 'none':
      return undefined;
    case 'json':
      return hasBody(req) ? (await readJson(req, row.limits.bodyBytes)).value : undefined;
    case 'raw':
      return hasBody(req) ? readBytes(req, row.limits.bodyBytes) : Buffer.alloc(0);
  }
}

function fail(log: Logger, res: ServerResponse, error: unknown): void {
  if (!(error instanceof ApiError)) {
    log.error(`request failed: ${messageOf(error)}`, {
      stack: error instanceof Error ? error.stack : undefined,
    });
  }
  if (res.headersSent) res.destroy();
  else sendFailure(res, failureOf(error));
}
