import type { FlightReport } from '../schemas/flight-report.ts';

/** A report for a person; what was not measured is a dash. */
export function* reportLines(report: FlightReport): Generator<string> {
  const { vehicle, start, max, battery, gps, vibration } = report;
  yield `${vehicle ?? 'Unknown vehicle'}, ${start ?? 'time not known'}`;
  yield `flight      ${number(report.duration_s, 's')}, ${number(report.distance_m, 'm')} over ground`;
  yield `at most     ${number(max.height_m, 'm')} high, ${number(max.distance_home_m, 'm')} from home, ${number(max.speed_mps, 'm/s')}`;
  yield `battery     ${number(battery.start, 'V', 2)} to ${number(battery.end, 'V', 2)}, lowest ${number(battery.min, 'V', 2)}${battery.min_at_s === null ? '' : ` at ${seconds(battery.min_at_s)}`}, ${number(battery.used_mah, 'mAh', 0)} used, weakest cell ${number(battery.min_cell_v, 'V', 2)}`;
  yield `GPS         ${number(gps.min_satellites, 'satellites', 0)} at least, HDOP up to ${number(gps.worst_hdop, '', 2)}, ${number(gps.glitches, 'glitches', 0)}`;
  yield `vibration   up to ${number(vibration.max, 'm/s²')}, ${number(vibration.clips, 'clips', 0)}`;
  for (const { name, from_s: from, to_s: to } of report.modes)
    yield `mode        ${seconds(from)} to ${seconds(to)}  ${name}`;
  for (const { at_s: at, kind, text } of report.events)
    yield `event       ${seconds(at)}  ${kind}${text === '' ? '' : `: ${text}`}`;
  for (const { severity, text, at_s: at } of report.findings)
    yield `${severity.padEnd(12)}${at === null ? '' : `${seconds(at)}  `}${text}`;
  if (report.findings.length === 0) yield 'No findings.';
}

function number(value: number | null, unit: string, digits = 1): string {
  return value === null ? '-' : `${value.toFixed(digits)} ${unit}`.trim();
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
