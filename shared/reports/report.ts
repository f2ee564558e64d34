import { ApiError } from '../errors.ts';
import { isDataflashText } from '../logs/dataflash-text.ts';
import type { LogBytes } from '../logs/log-bytes.ts';
import { walkTlog } from '../logs/tlog.ts';
import { isUlog } from '../logs/ulog.ts';
import type { FlightReport } from '../schemas/flight-report.ts';
import { readOnboard, reportBy } from './onboard.ts';
import { readTlog } from './tlog.ts';

/** `onboard`: one that the vehicle has written, of whichever kind. */
export type FileKind = 'tlog' | 'onboard';

const DATAFLASH = Uint8Array.of(0xa3, 0x95);
/** A telemetry log has a frame within. */
const LOOK_BYTES = 64 * 1024;

/**
 * Which kind of log a file is, by what is in it: people name them as they like.
 * @param log at its beginning. @throws ApiError E_LOG for what is none
 */
export function fileKindOf(log: LogBytes): FileKind {
  if (!log.has(1)) throw new ApiError('E_LOG', 'This file is empty.');
  if (isUlog(log) || log.isNext(DATAFLASH) || isDataflashText(log)) return 'onboard';
  const ahead = log.again(LOOK_BYTES);
  let isTlog = false;
  walkTlog(ahead, () => {
    isTlog = true;
    return false;
  });
  if (isTlog) return 'tlog';
  throw new ApiError(
    'E_LOG',
    'This is no log of a flight: ArduPilot writes .BIN, PX4 .ulg, ground stations write .tlog.',
  );
}

/** @param log at its beginning. @throws ApiError E_LOG for what is no log */
export function reportOfLog(log: LogBytes, kind: FileKind): FlightReport {
  return reportBy(kind === 'tlog' ? (sink) => readTlog(log, sink) : (sink) => readOnboard(log, sink));
}
