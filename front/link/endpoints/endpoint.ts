import type { Logger } from '../../../shared/process/logger.ts';
import type { EndpointStatus } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import type { Router } from '../router/router.ts';
import type { WirePolicy } from '../router/wire-guard.ts';

/**
 * A place where ground stations reach the vehicle's raw MAVLink. Opens itself, and reopens after a failure, until it is
 * stopped.
 */
export interface Endpoint {
  readonly status: EndpointStatus;
  start(): void;
  stop(): Promise<void>;
}

export interface EndpointTools {
  readonly clock: Clock;
  readonly log: Logger;
  readonly router: Router;
  readonly policy: WirePolicy;
}

/** Wait before a port that is in use is tried again. */
export const REBIND_MS = 5000;
