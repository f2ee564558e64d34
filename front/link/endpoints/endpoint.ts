import type { Logger } from '../../../shared/process/logger.ts';
import type { EndpointStatus } from '../../../shared/rpc/link.ts';
import type { Clock } from '../clock.ts';
import type { Router } from '../router/router.ts';
import type { WirePolicy } from '../router/wire-guard.ts';

/** A place where ground stations reach the vehicle's raw MAVLink. Opens itself, and again, for as long as it is started. */
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

/** A port that is taken is tried again after this. */
export const REBIND_MS = 5000;
