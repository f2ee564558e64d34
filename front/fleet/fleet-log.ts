import type { Logger } from '../../shared/process/logger.ts';

/** What the parts of svc-fleet write to: the process's own log, or a list in a test. */
export type FleetLog = Pick<Logger, 'info' | 'warn' | 'error'>;
