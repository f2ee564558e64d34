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

const figures = new Map<number, Intl.NumberFormat>();

/** For people only, with the decimal sign of their language: what a field or the node takes has a point. */
export function number(value: number | null | undefined, digits = 0): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? t.app.none
    : figuresOf(digits).format(value);
}

const COUNT = new Intl.NumberFormat(region, { useGrouping: 'min2' });

/** How many there are, which may be very many. */
export function countText(value: number): string {
  return COUNT.format(value);
}

/** Kept by the digits: to make one takes longer than to draw a figure. */
function figuresOf(digits: number): Intl.NumberFormat {
  const kept = figures.get(digits);
  if (kept !== undefined) return kept;
  const made = new Intl.NumberFormat(region, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    // A figure of telemetry keeps its width; and 4.500 is read in two ways.
    useGrouping: false,
    // Not "-0.0".
    signDisplay: 'negative',
  });
  figures.set(digits, made);
  return made;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return t.app.none;
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${number(value / 1e3)} kB`;
  return value < 1e9 ? `${number(value / 1e6, 1)} MB` : `${number(value / 1e9, 2)} GB`;
}

/** @param seconds null: not known */
export function span(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return t.app.none;
  if (seconds < 90) return t.time.seconds({ n: Math.round(seconds) });
  if (seconds < 5400) return t.time.minutes({ n: Math.round(seconds / 60) });
  return seconds < 172_800
    ? t.time.hours({ n: Math.round(seconds / 3600) })
    : t.time.days({ n: Math.round(seconds / 86_400) });
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
