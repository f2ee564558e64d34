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
  for (const finding of report.findings) {
    yield findingLine(finding);
    if (finding.advice !== undefined) yield `            ${finding.advice}`;
  }
  if (report.findings.length === 0) yield 'No findings.';
}

type Finding = FlightReport['findings'][number];

/** `12.3–15.0 s critical …` */
export function findingLine({ severity, text, at_s: at, from, to, times }: Finding): string {
  const [first, last] = [from ?? at, to ?? at];
  const when =
    first === null || last === null
      ? ''
      : first === last
        ? seconds(first)
        : `${first.toFixed(1)}–${seconds(last)}${times === undefined || times < 2 ? '' : `, ${times} times`}`;
  return `${when.padEnd(16)} ${severity.padEnd(8)} ${text}`.trim();
}

/** A report of a node of another version: members may be missing. */
interface Told extends Partial<Pick<FlightReport, 'vehicle' | 'start' | 'duration_s' | 'distance_m'>> {
  readonly max?: Partial<Pick<FlightReport['max'], 'height_m' | 'speed_mps'>>;
  readonly battery?: Partial<Pick<FlightReport['battery'], 'start' | 'end' | 'min' | 'used_mah'>>;
  readonly vibration?: Partial<Pick<FlightReport['vibration'], 'max' | 'clips'>>;
  readonly gps?: Partial<Pick<FlightReport['gps'], 'min_satellites' | 'worst_hdop'>>;
  readonly findings?: readonly Finding[];
}

/** A report in one line. */
export function figureLine({ vehicle, start, duration_s: s, distance_m: m, max, battery }: Told): string {
  return [
    `${vehicle ?? 'Unknown vehicle'}, ${start ?? 'time not known'}`,
    `${number(s ?? null, 's')}, ${number(m ?? null, 'm', 0)} over ground, ${number(max?.height_m ?? null, 'm')} high`,
    `battery ${number(battery?.start ?? null, 'V', 2)} to ${number(battery?.end ?? null, 'V', 2)}, lowest ${number(battery?.min ?? null, 'V', 2)}`,
  ].join('; ');
}

/** Two flights beside each other: what one found and the other did not, and figures that differ. */
export interface Compared {
  readonly only_this: readonly string[];
  readonly only_other: readonly string[];
  readonly both: readonly string[];
  readonly figures: readonly {
    readonly name: string;
    readonly this: number | null;
    readonly other: number | null;
    readonly unit: string;
  }[];
}

export function compared(one: Told, other: Told): Compared {
  const namesOf = ({ findings = [] }: Told): readonly string[] => [
    ...new Set(findings.map(({ name, text }) => name ?? text)),
  ];
  const [own, others] = [namesOf(one), namesOf(other)];
  return {
    only_this: own.filter((name) => !others.includes(name)),
    only_other: others.filter((name) => !own.includes(name)),
    both: own.filter((name) => others.includes(name)),
    figures: FIGURES.map(([name, unit, of]) => ({
      name,
      this: of(one) ?? null,
      other: of(other) ?? null,
      unit,
    })).filter((figure) => figure.this !== figure.other),
  };
}

const FIGURES: readonly (readonly [string, string, (report: Told) => number | null | undefined])[] = [
  ['flight', 's', (report) => report.duration_s],
  ['distance', 'm', (report) => report.distance_m],
  ['height', 'm', ({ max }) => max?.height_m],
  ['speed', 'm/s', ({ max }) => max?.speed_mps],
  ['lowest battery', 'V', ({ battery }) => battery?.min],
  ['used', 'mAh', ({ battery }) => battery?.used_mah],
  ['vibration', 'm/s²', ({ vibration }) => vibration?.max],
  ['clips', '', ({ vibration }) => vibration?.clips],
  ['fewest satellites', '', ({ gps }) => gps?.min_satellites],
  ['worst HDOP', '', ({ gps }) => gps?.worst_hdop],
];

export function* comparedLines({
  only_this: own,
  only_other: others,
  both,
  figures,
}: Compared): Generator<string> {
  yield `only here   ${own.join(', ') || '-'}`;
  yield `only there  ${others.join(', ') || '-'}`;
  yield `in both     ${both.join(', ') || '-'}`;
  for (const { name, this: one, other, unit } of figures)
    yield `${name.padEnd(18)}${number(one, unit, 2)}, there ${number(other, unit, 2)}`;
}

function number(value: number | null, unit: string, digits = 1): string {
  return value === null ? '-' : `${value.toFixed(digits)} ${unit}`.trim();
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
