import { ApiError } from '../errors.ts';
import { binaryOfText, isDataflashText } from '../logs/dataflash-text.ts';
import type { LogBytes } from '../logs/log-bytes.ts';
import { isUlog } from '../logs/ulog.ts';
import type { FlightReport } from '../schemas/flight-report.ts';
import { readDataflash } from './dataflash.ts';
import type { FactSink } from './facts.ts';
import { Flight } from './flight.ts';
import { readUlog } from './ulog.ts';

/** Logs that a vehicle writes; a browser reads them, too. */

/** The vehicle does not say which kind of log it has written; each kind begins in its own way. */
export function readOnboard(log: LogBytes, sink: FactSink): void {
  if (isUlog(log)) readUlog(log, sink);
  else readDataflash(isDataflashText(log) ? binaryOfText(log) : log, sink);
}

/** @throws ApiError E_LOG for what is no log */
export function reportBy(read: (sink: FactSink) => void): FlightReport {
  const flight = new Flight();
  read(flight);
  if (flight.isEmpty) throw new ApiError('E_LOG', 'This file has nothing that a log has.');
  return flight.report();
}
