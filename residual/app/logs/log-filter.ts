import { createHash } from 'node:crypto';
import { ApiError } from '../../../shared/errors.ts';
import { LOG_LEVELS, logLevelOf } from '../../../shared/rpc/logs.ts';

export type RecordKind = 'logs' | 'events' | 'metrics';

/** The conditions of a query; null means none. */
export interface LogFilter {
  readonly kind: RecordKind;
  /** Inclusive, microseconds since 1970. */
  readonly fromUs: number | null;
  /** Exclusive. */
  readonly toUs: number | null;
  readonly sources: readonly string[];
  readonly metrics: readonly string[];
  readonly eventKinds: readonly string[];
  /** Index into LOG_LEVELS: this level and above. */
  readonly minLevel: number | null;
  /** Words that must all occur, as an FTS5 query. */
  readonly text: string | null;
  readonly session: number | null;
}

export type Members = Readonly<Record<string, string>>;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGO = /^-?(\d{1,9})(ms|s|m|h|d)$/;
const MAX_LIST = 32;

/**
 * Reads `from`, `to`, `since`, `kind`, `source`, `service`, `metric`, `event_kind`, `level`, `text`, `session`.
 * @throws ApiError E_INVALID_VALUE that names the member
 */
export function readFilter(members: Members, nowMs: number): LogFilter {
  const { from, since, to, level, text, session, kind = 'logs' } = members;
  if (kind !== 'logs' && kind !== 'events' && kind !== 'metrics')
    throw wrong('kind', 'is logs, events or metrics');
  const fromUs = readTime('from', from ?? since, nowMs);
  const toUs = readTime('to', to, nowMs);
  const least = level === undefined ? null : logLevelOf(level);
  if (level !== undefined && least === null) throw wrong('level', `is one of ${LOG_LEVELS.join(', ')}`);
  if (session !== undefined && !/^\d{1,15}$/.test(session))
    throw wrong('session', 'is the number of a session');
  return {
    kind,
    fromUs,
    toUs,
    sources: readList('source', [members['source'], members['service']]),
    metrics: readList('metric', [members['metric']]),
    eventKinds: readList('event_kind', [members['event_kind']]),
    minLevel: least === null ? null : LOG_LEVELS.indexOf(least),
    text: text === undefined || text.trim() === '' ? null : asWords(text),
    session: session === undefined ? null : Number(session),
  };
}

/**
 * A time: microseconds since 1970, ISO 8601, or a time ago (`-5m`, also without the minus; ms s m h d).
 * @throws ApiError E_INVALID_VALUE
 */
function readTime(name: string, text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const ago = AGO.exec(text);
  if (ago !== null) return (nowMs - Number(ago[1]) * (UNIT_MS[ago[2] ?? ''] ?? 0)) * 1000;
  if (/^\d{13,17}$/.test(text)) return Number(text);
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isFinite(at))
    throw wrong(name, 'is microseconds since 1970, ISO 8601, or so long ago: -5m, -2h');
  return at * 1000;
}

/** @throws ApiError E_INVALID_VALUE */
export function readCount(members: Members, name: string, normal: number, max: number, min = 1): number {
  const text = members[name];
  if (text === undefined) return normal;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw wrong(name, `is an integer from ${min} to ${max}`);
  return value;
}

/** A text for these conditions in a cursor, so that a cursor is not used with other conditions. */
export function fingerprint(filter: LogFilter): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12);
}

export function wrong(name: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `${name} ${message}.`, { errors: [{ path: `/${name}`, message }] });
}

function readList(name: string, texts: readonly (string | undefined)[]): readonly string[] {
  const list = texts
    .flatMap((text) => (text === undefined ? [] : text.split(',')))
    .filter((part) => part !== '');
  if (list.length > MAX_LIST) throw wrong(name, `has at most ${MAX_LIST} values`);
  return list;
}

/** Each word in quotes, so that no input is an operator of FTS5. The last one may be a prefix. */
function asWords(text: string): string {
  const words = text.trim().split(/\s+/).slice(0, MAX_LIST);
  return words.map((word) => `"${word.replaceAll('"', '""')}"`).join(' ') + (/[\w]$/.test(text) ? '*' : '');
}
