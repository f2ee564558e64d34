import { once } from 'node:events';
import type { Response } from 'express';
import { csvCell } from '../../../shared/csv.ts';
import type { FlightEntry } from '../../../shared/hub-api/flight-schemas.ts';

/** Header and value of each column; numbers as they are, times by RFC 3339 in UTC. docs/fleet.md says what they mean. */
const COLUMNS: readonly (readonly [string, (flight: FlightEntry) => string | number | null])[] = [
  ['id', ({ id }) => id],
  ['node', ({ node }) => node],
  ['flight', ({ flight }) => flight],
  ['started_at', ({ started_at }) => timeText(started_at)],
  ['ended_at', ({ ended_at }) => timeText(ended_at)],
  ['armed_s', ({ armed_s }) => armed_s],
  ['airborne_s', ({ airborne_s }) => airborne_s],
  ['distance_m', ({ distance_m }) => distance_m],
  ['max_height_m', ({ max_height_m }) => max_height_m],
  ['max_speed_ms', ({ max_speed_ms }) => max_speed_ms],
  ['battery', ({ battery }) => battery.id],
  ['battery_used_mah', ({ battery }) => battery.used_mah],
  ['battery_start_v', ({ battery }) => battery.start_v],
  ['battery_end_v', ({ battery }) => battery.end_v],
  ['pilots', ({ pilots }) => pilots.join('; ')],
  ['findings', ({ findings }) => findings],
  ['worst_finding', ({ worst }) => worst],
  ['max_speed_mps', ({ max_speed_mps: speed }) => speed], // last, for who goes by places
];
/** Nobody reads any more: the answer ends. */
const WAIT_MS = 30_000;

/** Sends flights as CSV (RFC 4180), a page at a time, as fast as they are read. */
export async function sendCsv(
  res: Response,
  headers: Readonly<Record<string, string>>,
  pages: AsyncIterable<readonly FlightEntry[]>,
): Promise<void> {
  res.writeHead(200, {
    ...headers,
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="flights.csv"',
    'cache-control': 'no-store',
  });
  try {
    await write(res, lineOf(COLUMNS.map(([name]) => name)));
    for await (const flights of pages)
      await write(
        res,
        flights.map((flight) => lineOf(COLUMNS.map(([, valueOf]) => valueOf(flight)))).join(''),
      );
    res.end();
  } catch (error) {
    res.destroy(); // what was sent is seen to be cut off
    throw error;
  }
}

async function write(res: Response, text: string): Promise<void> {
  if (res.destroyed) throw new Error('nobody reads the flights any more');
  if (text === '' || res.write(text)) return;
  await once(res, 'drain', { signal: AbortSignal.timeout(WAIT_MS) });
}

function lineOf(values: readonly (string | number | null)[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
