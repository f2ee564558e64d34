import type { Paths } from '../../shared/paths.ts';
import { KeptFiles } from './kept-files.ts';

/** Logs that svc-link writes. */

const TLOG = /^[A-Za-z0-9][A-Za-z0-9._-]*\.tlog$/;
const WHOLE = /^[0-9a-z]+_\d+_\d+_\d+\.log$/;

export function tlogFiles({ tlogs }: Pick<Paths, 'tlogs'>): KeptFiles {
  return new KeptFiles(tlogs, (name) => TLOG.test(name), 'telemetry log');
}

/** Those of the vehicle that are here, each of them whole. */
export function fetchedLogFiles({ flightLogs }: Pick<Paths, 'flightLogs'>): KeptFiles {
  return new KeptFiles(flightLogs, (name) => WHOLE.test(name), 'flight log');
}
