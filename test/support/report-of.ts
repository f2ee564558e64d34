import { closeSync, openSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ReportWork, reportOf } from '../../shared/reports/report-work.ts';
import type { FlightReport } from '../../shared/schemas/flight-report.ts';

/** The report of a file, made in this thread. */
export function reportOfFile(path: string, kind: ReportWork['kind']): FlightReport {
  const file = openSync(path, 'r');
  try {
    return reportOf({ file, size: statSync(path).size, kind });
  } finally {
    closeSync(file);
  }
}

/** @param folder for the file */
export function reportOfBytes(folder: string, bytes: Buffer, kind: ReportWork['kind']): FlightReport {
  const path = join(folder, 'bytes.log');
  writeFileSync(path, bytes);
  return reportOfFile(path, kind);
}
