/**
 * How log lines reach the store, over `logs.sock`, a line each:
 *   shipper -> store  {"shipper": "<id>"}   once; the id lives as long as the shipper's process
 *   store -> shipper  {"ack": n}            at once, and after every commit: all up to number n is on disk
 *   shipper -> store  `n <line>`            n counts up by one; the line as a process wrote it to stderr
 * A line without an acknowledgement is sent again on the next connection; a line that is already stored is not stored twice.
 */
import { isRecord, type JsonObject } from '../member.ts';

/** A log line of our processes, with the members that the store knows. */
export interface LogRecord {
  /** Microseconds since 1970. */
  readonly tsUs: number;
  /** The process. */
  readonly source: string;
  readonly level: LogLevel;
  readonly message: string;
  /** All other members. */
  readonly fields: JsonObject | null;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Winston's names and others', lower case, as ours. */
const ALIASES: Readonly<Record<string, LogLevel>> = {
  silly: 'trace',
  verbose: 'debug',
  warning: 'warn',
  fatal: 'error',
};

/** Our level for a level name, also of other loggers; null if unknown. */
export function logLevelOf(name: string): LogLevel | null {
  return LOG_LEVELS.find((level) => level === name) ?? ALIASES[name] ?? null;
}

/**
 * Reads one line of stderr. A line that is not our JSON (a crash of Node itself, output of a library) is a record of its own
 * with level warn, since its level is unknown.
 * @param source the process that wrote it, for a line without one
 * @param nowMs when it was received, for a line without a time
 */
export function readLogLine(line: string, source: string, nowMs: number): LogRecord {
  const value = parse(line);
  if (value === null) return { tsUs: nowMs * 1000, source, level: 'warn', message: line, fields: null };
  const { time, level, service, msg, ...rest } = value;
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  const name = typeof level === 'string' ? level.toLowerCase() : '';
  return {
    tsUs: (Number.isFinite(at) ? at : nowMs) * 1000,
    source: typeof service === 'string' && service !== '' ? service : source,
    level: logLevelOf(name) ?? 'info',
    message: typeof msg === 'string' ? msg : JSON.stringify(msg ?? ''),
    fields: Object.keys(rest).length === 0 ? null : rest,
  };
}

function parse(line: string): JsonObject | null {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
