import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express from 'express';
import type { Principal } from '../../shared/auth/principal.ts';
import {
  decodeMark,
  ENDED_ROW,
  isProof,
  PRINCIPAL_HEADER,
  PROOF_HEADER,
} from '../../shared/auth/principal-mark.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { failureOf, sendFailure, sendValue } from '../../shared/http/answer.ts';
import { hasBody, readBytes, readJson } from '../../shared/http/json-body.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { Call, Handler } from '../../shared/routes/handler.ts';
import type { Row } from '../../shared/routes/row.ts';

const KEEP_ALIVE_MS = 60_000;
const MAX_CONNECTIONS = 256;

export interface ResidualOptions {
  /** By row id. */
  readonly rows: ReadonlyMap<string, Row>;
  /** By row id. */
  readonly handlers: ReadonlyMap<string, Handler<Row>>;
  /** What the front shows on each connection; null where this process was started alone, and then nobody is believed. */
  readonly proof: string | null;
  /** Ends what these principals have opened. @returns for whom something is still open */
  readonly end: (ids: ReadonlySet<string>) => readonly Principal[];
  readonly log: Logger;
}

// Kept on the socket, so that a connection proves itself once.
const PROVEN = Symbol('proven');
type Tagged = Socket & { [PROVEN]?: true };

/**
 * The HTTP side of the residual. Only the front speaks to it: each connection proves that, and each request carries what the
 * front decided; without both there is no answer but 401. Row, parameters and body were decided upon already, so here is
 * only the work.
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
  const socket = req.socket as Tagged;
  if (socket[PROVEN] !== true && !isProof(req.headers[PROOF_HEADER], options.proof))
    throw new ApiError('E_UNAUTHENTICATED', 'Only the front speaks to this socket.');
  socket[PROVEN] = true;
  const mark = decodeMark(req.headers[PRINCIPAL_HEADER]);
  if (mark === null) throw new ApiError('E_UNAUTHENTICATED', 'The request does not say what was decided.');
  if (mark.row === ENDED_ROW) {
    sendValue(res, options.end(new Set(Object.values(mark.params))));
    return;
  }
  const row = options.rows.get(mark.row);
  const handler = options.handlers.get(mark.row);
  if (row === undefined || handler === undefined) throw new ApiError('E_NOT_IMPLEMENTED');
  const target = req.url ?? '';
  const query = target.indexOf('?');
  const call: Call<Row> = {
    params: mark.params,
    query: query === -1 ? '' : target.slice(query + 1),
    body: await bodyOf(req, row),
    principal: mark.principal,
    peer: '',
    forced: mark.forced,
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
