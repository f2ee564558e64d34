import type { LogEvent, LogMode } from './read/marks.ts';
import type { LogSummary } from './read/summary.ts';

/** The times of a log as the page has them: seconds since its beginning. */
export interface LogTimes {
  /** Of its beginning, on the clock of the log. */
  readonly start: number;
  readonly length: number;
  /** ms since 1970; null: the log does not say. */
  readonly utcOfStart: number | null;
  readonly modes: readonly LogMode[];
  readonly events: readonly LogEvent[];
}

/** Of a log without times it is a second that has nothing. */
export function timesOf({ span, utcOfZero, modes, events }: LogSummary): LogTimes {
  const [start, end] = span ?? [0, 1];
  return {
    start,
    length: Math.max(end - start, 0.001),
    utcOfStart: utcOfZero === null ? null : utcOfZero + start * 1000,
    modes: modes.map((mode) => ({ ...mode, from: mode.from - start, to: mode.to - start })),
    events: events.map((event) => ({ ...event, at: event.at - start })),
  };
}

/** Minutes and seconds since the beginning. @param step how finely, s */
export function elapsed(at: number, step = 0.01): string {
  const digits = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step)));
  const sign = at < 0 ? '-' : '';
  const whole = Number(Math.abs(at).toFixed(digits));
  const seconds = (whole % 60).toFixed(digits).padStart(digits === 0 ? 2 : digits + 3, '0');
  return `${sign}${Math.floor(whole / 60)}:${seconds}`;
}
