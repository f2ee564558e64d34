import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { ApiError, messageOf } from '../errors.ts';
import { LogBytes } from '../logs/log-bytes.ts';
import type { FlightReport } from '../schemas/flight-report.ts';
import { fileKindOf, reportOfLog } from './report.ts';

/**
 * The report of a file of this machine, of whatever kind by what is in it. It takes as much memory for a long one as for a short one.
 * @param most bytes that it may have
 * @throws ApiError E_LOG for what is no log or is too long; E_NOT_FOUND for what cannot be read
 */
export function reportOfFile(path: string, most: number): FlightReport {
  const name = basename(path);
  let file: number | null = null;
  try {
    // A pipe that nobody writes would hold this process.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new ApiError('E_LOG', 'It is no file.');
    const { size } = stat;
    if (size > most) throw new ApiError('E_LOG', `It has ${mb(size)}; at most ${mb(most)} are read.`);
    const bytes = new LogBytes((into, at) => readSync(file ?? -1, into, 0, into.length, at), size);
    return reportOfLog(bytes.again(), fileKindOf(bytes));
  } catch (error) {
    if (error instanceof ApiError) throw new ApiError(error.code, `${name}: ${error.message}`);
    throw new ApiError('E_NOT_FOUND', `${name} cannot be read: ${messageOf(error)}.`);
  } finally {
    if (file !== null) closeSync(file);
  }
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
