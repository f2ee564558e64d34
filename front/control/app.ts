import { ApiError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { AnyHandler } from '../../shared/routes/handler.ts';
import type { PrincipalWatch } from './edge/principal-watch.ts';
import { createFastExpress, type FastExpress } from './fast-express.ts';
import type { ResidualProxy } from './forward/residual-proxy.ts';
import { body } from './middleware/body.ts';
import { type EdgeParts, edge } from './middleware/edge.ts';
import { errors } from './middleware/errors.ts';
import { native } from './middleware/native.ts';
import { settle } from './middleware/settle.ts';
import type { RelayProxy } from './relay/relay-proxy.ts';

export interface AppParts extends EdgeParts {
  /** By row id. */
  readonly handlers: ReadonlyMap<string, AnyHandler>;
  readonly principalWatch: PrincipalWatch;
  /** Null in a build without the residual. */
  readonly proxy: ResidualProxy | null;
  /** Null on a node that is no ground station. */
  readonly relay: RelayProxy | null;
  readonly log: Logger;
}

/** The front, in the order in which a request walks through it. */
export function createApp(parts: AppParts): FastExpress {
  const { state, records, handlers, principalWatch, proxy, relay, log } = parts;
  const fast = createFastExpress();
  const { app } = fast;
  app.use(edge(parts));
  app.use(body());
  app.use(settle(state, records));
  if (relay !== null) app.use(relay.middleware);
  app.use(native(handlers, principalWatch));
  app.use(proxy?.middleware ?? notBuilt);
  app.use(errors(log, records));
  return fast;
}

function notBuilt(): never {
  throw new ApiError('E_NOT_IMPLEMENTED');
}
