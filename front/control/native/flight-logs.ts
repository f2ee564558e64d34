import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../../../shared/errors.ts';
import { FileReply, type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { missionRows } from '../../../shared/routes/mission.ts';
import type { FlightLogPart } from '../../../shared/rpc/link-answers.ts';
import type { VehicleView } from '../node/vehicle-view.ts';

const TYPE = 'application/octet-stream';
const CHUNK = 64 * 1024;
const POLL_MS = 200;
/** How long a range of a log waits for the whole of it. */
const SETTLE_MS = 5000;
/** svc-link may be started again in the middle of a download: how long its return is waited for. */
const AWAY_MS = 30_000;
const AWAY: ReadonlySet<string> = new Set(['E_UPSTREAM_DOWN', 'E_UPSTREAM', 'E_NO_FC', 'E_NOT_FOUND']);

type LogHandlers = Pick<
  HandlersOf<typeof missionRows, 'front'>,
  'flight-logs.get' | 'flight-logs.id.get' | 'flight-logs.delete'
>;

/** @param directory where svc-link writes the logs that it fetches */
export function flightLogHandlers({ link }: VehicleView, directory: string): LogHandlers {
  const fetch = async (id: number): Promise<FlightLogPart> => link.log_fetch({ id });

  return {
    'flight-logs.get': async () => {
      const { logs, from, note } = await link.logs({});
      return { logs, count: logs.length, from, note };
    },

    'flight-logs.id.get': async ({ params, headers }) => {
      const id = /^\d{1,5}$/.test(params.id) ? Number(params.id) : Number.NaN;
      if (!(id <= 0xffff)) throw new ApiError('E_NOT_FOUND', 'Log numbers go from 0 to 65535.');
      let part = await fetch(id);
      // What a log has in it is known at its end: a range may be longer than that, and than it was listed with.
      const until = performance.now() + SETTLE_MS;
      while (headers.range !== undefined && !part.complete && performance.now() < until) {
        await delay(POLL_MS);
        part = sameLog(part, await fetch(id));
      }
      const disposition = {
        'content-disposition': `attachment; filename="${part.name.replace(/part$/, 'log')}"`,
      };
      const file = await open(join(directory, part.name), 'r');
      if (part.complete) return new FileReply(file, TYPE);
      try {
        const { start, end, ranged } = rangeOf(headers, part.size);
        const body = Readable.from(
          growing({ file, start, end, have: part.have, fetch: async () => sameLog(part, await fetch(id)) }),
          {
            objectMode: false,
            highWaterMark: CHUNK,
          },
        );
        return new Reply(ranged ? 206 : 200, body, TYPE, {
          ...disposition,
          'accept-ranges': 'bytes',
          // Of a whole log no length is promised: it may end before the size that the vehicle has listed.
          ...(ranged
            ? {
                'content-length': String(end - start),
                'content-range': `bytes ${start}-${end - 1}/${part.size}`,
              }
            : {}),
        });
      } catch (error) {
        await file.close();
        throw error;
      }
    },

    'flight-logs.delete': async ({ forced }) => link.logs_erase({ force: forced }),
  };
}

/**
 * The bytes that are asked for, [start, end). One range; several, or one that depends on a validator, get the whole log
 * (RFC 9110, 14.2: a server may ignore the header).
 * @throws ApiError E_RANGE_NOT_SATISFIABLE
 */
export function rangeOf(
  { range, 'if-range': validator }: IncomingHttpHeaders,
  size: number,
): { readonly start: number; readonly end: number; readonly ranged: boolean } {
  const whole = { start: 0, end: size, ranged: false };
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(range ?? '') ?? [];
  if (validator !== undefined || (first === '' && last === '')) return whole;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < start) return whole; // no valid range
  if (start >= size || end <= start)
    throw new ApiError('E_RANGE_NOT_SATISFIABLE', undefined, {}, { 'content-range': `bytes */${size}` });
  return { start, end, ranged: true };
}

/** @throws ApiError E_STORE if the number means another log now, as after a reboot */
function sameLog(before: FlightLogPart, now: FlightLogPart): FlightLogPart {
  const stem = ({ name }: FlightLogPart): string => name.replace(/\.[a-z]+$/, '');
  if (stem(before) === stem(now)) return now;
  throw new ApiError('E_STORE', 'This number is now a different log on the vehicle.');
}

interface Growing {
  readonly file: FileHandle;
  readonly start: number;
  readonly end: number;
  readonly have: number;
  /** Keeps the download going, and tells how far it is. */
  readonly fetch: () => Promise<FlightLogPart>;
}

/** The bytes of a file that another process is still writing. The file only grows, so what is there is right. */
async function* growing({ file, start, end, have, fetch }: Growing): AsyncGenerator<Buffer> {
  try {
    let at = start;
    let there = have;
    let polledAt = performance.now();
    while (at < end) {
      // Also while there are bytes: a slow reader must not let the download end.
      if (at >= there || performance.now() - polledAt >= 1000) {
        if (at >= there) await delay(POLL_MS);
        const part = await patient(fetch);
        there = part.have;
        polledAt = performance.now();
        if (part.complete && at >= there) return; // it is shorter than it was listed
        continue;
      }
      const { bytesRead, buffer } = await file.read(
        Buffer.allocUnsafe(Math.min(CHUNK, end - at, there - at)),
        0,
        undefined,
        at,
      );
      if (bytesRead === 0) throw new ApiError('E_STORE', 'The log file was truncated.');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Waits for a svc-link that is being started again, and for its vehicle. */
async function patient<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + AWAY_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError) || !AWAY.has(error.code) || performance.now() > until) throw error;
      await delay(POLL_MS);
    }
  }
}
