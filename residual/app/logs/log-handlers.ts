import { Readable } from 'node:stream';
import { ApiError } from '../../../shared/errors.ts';
import { isOneOf } from '../../../shared/member.ts';
import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { logsRows } from '../../../shared/routes/logs.ts';
import { openApiDocument } from '../../../shared/routes/openapi.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { MOST } from '../../../shared/schemas/logs.ts';
import { VERSION } from '../../../shared/version.ts';
import { type FlightFiles, filesThere } from './flight-files.ts';
import { entryOf } from './log-entry.ts';
import { type LogFilter, type Members, readCount, readFilter, wrong } from './log-filter.ts';
import { AGGREGATES, type Aggregate } from './log-query.ts';
import type { LogReader } from './log-reader.ts';
import type { LogTail } from './log-tail.ts';
import type { LogWriter } from './log-writer.ts';

const MAX_EXPORTS = 2;
const BUCKETS_US: Readonly<Record<string, number>> = { '1s': 1e6, '1m': 60e6, '1h': 3600e6 };
/** About this many buckets with bucket=auto. */
const AUTO_BUCKETS = 200;
const HOUR_US = 3600e6;

interface LogDeps {
  readonly reader: LogReader;
  readonly writer: Pick<LogWriter, 'flush' | 'sizes' | 'follow'>;
  readonly tail: LogTail;
  readonly kept: FlightFiles['kept'];
  /** The rows in the log API's own OpenAPI document. */
  readonly rows: readonly Row[];
  /** Wall clock, ms. */
  readonly now: () => number;
}

export function logHandlers({
  reader,
  writer,
  tail,
  kept,
  rows,
  now,
}: LogDeps): HandlersOf<typeof logsRows, 'residual'> {
  let exports = 0;
  const exporting = new Set<string>();
  const filterOf = async (members: Members): Promise<LogFilter> => {
    await writer.flush(); // what waits for its batch is found
    return readFilter(members, now());
  };
  return {
    'logs.get': async ({ query: text }) => {
      const members = membersOf(text);
      const filter = await filterOf(members);
      const limit = readCount(members, 'limit', 50, MOST.page);
      const offset = readCount(members, 'offset', 0, MOST.offset, 0);
      const { rows: found, total } = await reader.ask('list', filter, limit, offset);
      return { entries: found.map(entryOf), total, limit, offset };
    },

    'logs.stream.get': async ({ query: text, principal }) => {
      const members = membersOf(text);
      const filter = await filterOf(members);
      const replay = readCount(members, 'replay', 100, MOST.replay, 0);
      const newest = await writer.follow();
      const stream = await tail.open(filter, principal, async () => {
        if (replay === 0) return [];
        const found = await reader.ask('newest', filter, replay);
        // What was stored since comes by itself.
        return found
          .filter(({ id }) => id <= newest)
          .map(entryOf)
          .toReversed();
      });
      return new Reply(200, stream, 'text/event-stream');
    },

    'logs.export.get': async ({ query: text, principal }) => {
      const members = membersOf(text);
      const filter = await filterOf(members);
      const limit = readCount(members, 'limit', MOST.export, MOST.export);
      await reader.ready();
      if (exports >= MAX_EXPORTS)
        throw new ApiError('E_RATE_LIMITED', `At most ${MAX_EXPORTS} exports run at a time.`);
      if (principal.kind === 'token' && exporting.has(principal.id))
        throw new ApiError('E_RATE_LIMITED', 'One export per token at a time.');
      exports++;
      exporting.add(principal.id);
      const stream = Readable.from(reader.lines(filter, limit));
      stream.once('close', () => {
        exports--;
        exporting.delete(principal.id);
      });
      return new Reply(200, stream, 'application/x-ndjson');
    },

    'logs.openapi-json.get': () => new Reply(200, openApiDocument(rows, VERSION)),

    'logs.stats.get': async () => {
      const accepted = await writer.flush();
      return { ...writer.sizes(), ...(await reader.ask('contents')), ingest_accepted: accepted };
    },

    'observability.query.get': async ({ query: text }) => {
      const members = membersOf(text);
      const filter = await filterOf(members);
      const limit = readCount(members, 'limit', 200, MOST.query);
      const { rows: found, next } = await reader.ask('page', filter, limit, members['cursor'] ?? null);
      return { records: found, ...envelope(found, next, now()) };
    },

    'observability.aggregate.get': async ({ query: text }) => {
      const members = membersOf(text);
      const filter = await filterOf({ ...members, kind: 'metrics' });
      if (filter.metrics.length === 0) throw wrong('metric', 'names at least one metric');
      const how = members['agg'] ?? 'avg';
      if (!isAggregate(how)) throw wrong('agg', `is one of ${AGGREGATES.join(', ')}`);
      const toUs = filter.toUs ?? now() * 1000;
      const fromUs = filter.fromUs ?? toUs - HOUR_US;
      const bucket = bucketOf(members['bucket'] ?? 'auto', toUs - fromUs);
      const buckets = await reader.ask('aggregate', { ...filter, fromUs, toUs }, bucket, how);
      return { buckets, ...envelope(buckets, null, now()) };
    },

    'observability.sessions.get': async ({ query: text }) => {
      const members = membersOf(text);
      const { kind, ...others } = members;
      if (kind !== undefined && kind !== 'boot' && kind !== 'flight')
        throw wrong('kind', 'is boot or flight');
      const limit = readCount(members, 'limit', 100, MOST.page);
      const open = members['open'] === '1';
      const found = await reader.ask('sessions', await filterOf(others), kind ?? null, open, limit);
      const there = await filesThere(kept);
      const sessions = found.map((each) => ({ ...each, files: there(each.files) }));
      return { sessions, ...envelope(sessions, null, now()) };
    },
  };
}

/** @param data under its name of 1.0, beside that of its row */
function envelope<T>(data: readonly T[], next: string | null, nowMs: number) {
  return {
    data,
    page: { next_cursor: next, count: data.length },
    meta: { source: 'svc-residual', v: 1, ts: new Date(nowMs).toISOString() },
  };
}

function membersOf(text: string): Members {
  const members = parseQuery(text);
  if (members === null) throw new ApiError('E_INVALID_VALUE', 'The query repeats a parameter.');
  return members;
}

function isAggregate(text: string): text is Aggregate {
  return isOneOf(AGGREGATES, text);
}

function bucketOf(text: string, spanUs: number): number {
  const fixed = BUCKETS_US[text];
  if (fixed !== undefined) return fixed;
  if (text !== 'auto') throw wrong('bucket', 'is auto, 1s, 1m or 1h');
  return Object.values(BUCKETS_US).find((width) => spanUs / width <= AUTO_BUCKETS) ?? HOUR_US;
}
