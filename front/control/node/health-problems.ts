import type { Made } from '../../../shared/schemas/made.ts';
import type { status } from '../../../shared/schemas/node.ts';
import type { HealthSample } from './recent-health.ts';

/** What the machine is short of. One judgement for every surface: figures are coloured and problems are listed by it. */
type HealthProblem = NonNullable<Made<typeof status>['health']['problems']>[number];

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

/** Files of state that cannot be used, as a power cut leaves them: what depends on them is closed until somebody looks. */
export function stateProblems(sentences: readonly string[]): readonly HealthProblem[] {
  return sentences.map((detail) => ({ part: 'state', severity: 'bad', detail }));
}

/** Processes that run and do not answer. */
export function processProblems(hung: readonly string[]): readonly HealthProblem[] {
  return hung.map((name) => ({
    part: 'process',
    severity: 'bad',
    detail: `${name} has not answered for 5 s or longer.`,
  }));
}

/**
 * @param minute means of the last minute: a peak is no problem; null: too early to say
 * @param disk percent used, now
 * @param held the disk stands still, or takes nothing, in sentences; null: it does not
 */
export function healthProblems(
  minute: HealthSample | null,
  disk: number | null,
  held: string | null = null,
): readonly HealthProblem[] {
  const judge = (
    part: keyof typeof LIMITS,
    value: number | null | undefined,
    say: (rounded: number) => string,
  ): readonly HealthProblem[] => {
    const { warn, bad } = LIMITS[part];
    if (value === null || value === undefined || value < warn) return [];
    return [{ part, severity: value >= bad ? 'bad' : 'warn', detail: say(Math.round(value)) }];
  };
  const standing: readonly HealthProblem[] =
    held === null ? [] : [{ part: 'disk', severity: 'bad', detail: sentence(held) }];
  const found = [
    ...standing,
    ...judge('memory', minute?.memory_percent, (n) => `Memory is ${n} % full.`),
    ...judge('disk', disk, (n) => `The disk is ${n} % full.`),
    ...judge('temperature', minute?.temperature, (n) => `The board is at ${n} °C.`),
    ...judge('cpu', minute?.cpu_percent, (n) => `The processor was ${n} % busy over the last minute.`),
  ];
  return found.toSorted((a, b) => Number(b.severity === 'bad') - Number(a.severity === 'bad'));
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
