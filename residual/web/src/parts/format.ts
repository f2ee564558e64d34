import { language } from '../language/language.ts';
import { t } from '../strings.ts';

/** Numbers and times as people read them. What was not measured is a dash. */

// One clock on every page, of 24 hours. The region is the browser's, where it speaks the page's language.
const region = globalThis.navigator?.languages?.find((tag) => tag.startsWith(language)) ?? language;
const CLOCK = new Intl.DateTimeFormat(region, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const SECONDS = new Intl.DateTimeFormat(region, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(region, { weekday: 'short', day: 'numeric', month: 'short' });
const MOMENT = new Intl.DateTimeFormat(region, { dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' });

export function number(value: number | null | undefined, digits = 0): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? t.app.none
    : // Not "-0.0".
      value.toFixed(digits).replace(/^-(0(?:\.0+)?)$/, '$1');
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return t.app.none;
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${(value / 1e3).toFixed(0)} kB`;
  return value < 1e9 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e9).toFixed(2)} GB`;
}

/** @param seconds null: not known */
export function span(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return t.app.none;
  if (seconds < 90) return t.time.seconds(Math.round(seconds));
  if (seconds < 5400) return t.time.minutes(Math.round(seconds / 60));
  return seconds < 172_800
    ? t.time.hours(Math.round(seconds / 3600))
    : t.time.days(Math.round(seconds / 86_400));
}

/** Date and time of this browser's zone. @param at RFC 3339, or ms since 1970 */
export function moment(at: string | number | null | undefined): string {
  if (at === null || at === undefined || isoTime(at) === undefined) return t.app.none;
  return MOMENT.format(new Date(at));
}

/** Hours and minutes of this browser's zone. @param at ms since 1970; no time of a calendar is a dash */
export function clock(at: number, seconds = false): string {
  if (isoTime(at) === undefined) return t.app.none;
  return (seconds ? SECONDS : CLOCK).format(at);
}

/** Weekday, day and month of this browser's zone. @param at RFC 3339, or ms since 1970 */
export function day(at: string | number): string {
  return isoTime(at) === undefined ? t.app.none : DAY.format(new Date(at));
}

/** For `<time dateTime>`; undefined for what is no time of a calendar, which a clock of another may say. */
export function isoTime(at: string | number): string | undefined {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
