import type { HealthSample } from './recent-health.ts';

/** What the machine is short of. One judgement for every surface: figures are coloured and problems are listed by it. */
interface HealthProblem {
  readonly part: 'cpu' | 'memory' | 'disk' | 'temperature';
  /** `bad`: something stops working soon, or does already. */
  readonly severity: 'warn' | 'bad';
  readonly detail: string;
}

/**
 * Percent, and degrees Celsius, from which on it is worth a word. A full processor only makes everything slower, so it is never `bad`.
 * A Raspberry Pi throttles its cores step by step from 80 degrees on, and its graphics too at 85 (raspberrypi/documentation:
 * computers/raspberry-pi/frequency-management.adoc).
 */
const LIMITS = {
  cpu: { warn: 90, bad: Number.POSITIVE_INFINITY },
  memory: { warn: 90, bad: 97 },
  disk: { warn: 90, bad: 97 },
  temperature: { warn: 80, bad: 85 },
} as const;

/** @param minute means of the last minute: a peak is no problem; null: too early to say @param disk percent used, now */
export function healthProblems(minute: HealthSample | null, disk: number | null): readonly HealthProblem[] {
  const judge = (
    part: HealthProblem['part'],
    value: number | null | undefined,
    say: (rounded: number) => string,
  ): readonly HealthProblem[] => {
    const { warn, bad } = LIMITS[part];
    if (value === null || value === undefined || value < warn) return [];
    return [{ part, severity: value >= bad ? 'bad' : 'warn', detail: say(Math.round(value)) }];
  };
  const found = [
    ...judge('memory', minute?.memory_percent, (n) => `Memory is ${n} % full.`),
    ...judge('disk', disk, (n) => `The disk is ${n} % full.`),
    ...judge('temperature', minute?.temperature, (n) => `The board is at ${n} °C.`),
    ...judge('cpu', minute?.cpu_percent, (n) => `The processor was ${n} % busy over the last minute.`),
  ];
  return found.toSorted((a, b) => Number(b.severity === 'bad') - Number(a.severity === 'bad'));
}
