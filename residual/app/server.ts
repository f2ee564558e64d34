import { createServer, type Server } from 'node:http';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { failureOf, rawFailure } from '../../shared/http/answer.ts';
import type { Matcher } from '../../shared/routes/match.ts';
import { compileTable } from '../../shared/routes/table.ts';
import { type AppParts, callOf, checkRouted, createApp, markOf } from './app.ts';
import type { UpgradeHandler } from './base.ts';

const KEEP_ALIVE_MS = 60_000;
const MAX_CONNECTIONS = 512;

interface ResidualOptions extends AppParts {
  /** By row id. */
  readonly upgrades: ReadonlyMap<string, UpgradeHandler>;
}

/** The server on the residual's socket. svc-control enforces the body time-out. */
export function createResidualServer(options: ResidualOptions): Server {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, createApp(options));
  server.maxConnections = MAX_CONNECTIONS;
  const { matcher } = compileTable(options.rows);
  server.on('upgrade', (req, socket, head) => {
    socket.on('error', (error) => options.log.debug(`upgrade: ${messageOf(error)}`));
    try {
      const mark = markOf(req, options.proof);
      checkRouted(mark, socketRowAt(matcher, req.url ?? ''));
      const handler = options.upgrades.get(mark.row);
      if (handler === undefined) throw new ApiError('E_NOT_IMPLEMENTED');
      handler(callOf(req, mark, undefined), req, socket, head);
    } catch (error) {
      if (!(error instanceof ApiError)) options.log.error(`upgrade failed: ${messageOf(error)}`);
      socket.end(rawFailure(failureOf(error)), () => socket.destroy());
    }
  });
  return server;
}

function socketRowAt(matcher: Matcher, target: string): string | undefined {
  const match = matcher.match(target);
  return match.kind === 'found' ? match.template.rows.get('WS')?.id : undefined;
}
