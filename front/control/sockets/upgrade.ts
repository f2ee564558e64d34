import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { failureOf, failureStatus } from '../../../shared/http/answer.ts';
import { endWith } from '../../../shared/http/edge/server.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { SocketHandler } from '../../../shared/routes/handler.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { needsAudit } from '../edge/audited.ts';
import { decide } from '../edge/decide.ts';
import { settle } from '../edge/settle.ts';
import type { ResidualProxy } from '../forward/residual-proxy.ts';
import type { EdgeParts } from '../middleware/edge.ts';
import { headOf } from '../middleware/exchange.ts';
import type { RelayProxy } from '../relay/relay-proxy.ts';
import type { OpenSockets } from './open-sockets.ts';

export interface UpgradeParts extends EdgeParts {
  /** By row id. */
  readonly socketHandlers: ReadonlyMap<string, SocketHandler<Row, WebSocket>>;
  readonly sockets: OpenSockets;
  /** Uses up a single-use credential; false if another upgrade used it first. */
  readonly spend: (principal: Principal, headers: IncomingHttpHeaders) => boolean;
  /** Null in a build without the residual. */
  readonly proxy: ResidualProxy | null;
  /** Null on a node that is no ground station. */
  readonly relay: RelayProxy | null;
  readonly log: Logger;
}

/**
 * An upgrade goes through the same decision as a request; only then is a WebSocket opened, by us or by the residual.
 * @param draining whether new ones are refused
 */
export function acceptUpgrade(
  parts: UpgradeParts,
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  draining: boolean,
): void {
  socket.on('error', (error) => parts.log.debug(`upgrade: ${messageOf(error)}`));
  const failed = (error: unknown): void => {
    if (!(error instanceof ApiError)) parts.log.error(`upgrade failed: ${messageOf(error)}`);
    endWith(socket, failureOf(error));
  };
  try {
    upgrade(parts, req, socket, head, draining, failed);
  } catch (error) {
    failed(error);
  }
}

function upgrade(
  parts: UpgradeParts,
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  draining: boolean,
  failed: (error: unknown) => void,
): void {
  const { state, origins, budgets, records, sockets, socketHandlers, proxy, relay, spend, seen } = parts;
  const origin = origins.of(req.socket);
  const first = decide(headOf(req, origin, budgets, true), state);
  const decision = first.kind === 'pass' ? settle(first, undefined, state) : first;
  if (decision.kind === 'refuse') {
    records.refused(decision, origin);
    const unwritten = records.unwritten();
    if (unwritten === null) endWith(socket, decision);
    else void unwritten.then(() => endWith(socket, decision));
    return;
  }
  if (decision.kind === 'preflight' || decision.kind === 'redirect') throw new ApiError('E_NOT_IMPLEMENTED');
  const { row, params, query, principal, forced, counted, clientId } = decision;
  const handler = socketHandlers.get(row.id);
  const behind = row.scope === 'inner' ? relay : row.lane === 'residual' ? proxy : null;
  if (handler === undefined && behind === null) throw new ApiError('E_NOT_IMPLEMENTED');
  if (draining || (behind ?? sockets).full)
    throw new ApiError('E_DRAINING', 'Too many WebSockets. Try again shortly.');
  if (!spend(principal, req.headers)) throw new ApiError('E_UNAUTHENTICATED');
  seen(principal, origin.ip);
  if (counted) budgets.spend(origin.peer);
  const announced = records.announce(decision, undefined, origin);
  const accept = (): void => {
    if (behind !== null) {
      socket.once('close', () => announced?.settle(101, 'closed'));
      behind.upgrade(req, socket, head, decision, (error) => {
        announced?.settle(502, error.code);
        endWith(socket, failureOf(error));
      });
      return;
    }
    sockets.accept(req, socket, head, principal, (ws, ended) => {
      ws.once('close', () => announced?.settle(101, 'closed'));
      handler?.(
        { params, query, principal, peer: origin.peer, forced, headers: req.headers, clientId },
        ws,
        ended,
      );
    });
  };
  if (announced === undefined || !needsAudit(decision, undefined)) {
    accept();
    return;
  }
  records
    .written(announced)
    .then(() => {
      if ((behind ?? sockets).full)
        throw new ApiError('E_DRAINING', 'Too many WebSockets. Try again shortly.');
      accept();
    })
    .catch((error: unknown) => {
      const failure = failureOf(error);
      announced.settle(failureStatus(failure), failure.code);
      failed(error);
    });
}
