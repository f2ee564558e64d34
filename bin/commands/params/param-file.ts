import type { ParamValues } from '../../../shared/flight/param-file.ts';

export function writeParamFile(values: ParamValues, comment: string): string {
  const lines = Object.entries(values)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name.padEnd(16)} ${value}`);
  return `# ${comment}\n${lines.join('\n')}\n`;
}

export interface ParamDifference {
  readonly name: string;
  /** Null where there is none of that name. */
  readonly file: number | null;
  readonly vehicle: number | null;
}

/** The differences; two values are equal if they are the same float32, since MAVLink sends no more. */
export function paramDifferences(file: ParamValues, vehicle: ParamValues): readonly ParamDifference[] {
  return [...new Set([...Object.keys(file), ...Object.keys(vehicle)])]
    .toSorted()
    .map((name) => ({ name, file: file[name] ?? null, vehicle: vehicle[name] ?? null }))
    .filter(
      (pair) =>
        pair.file === null || pair.vehicle === null || Math.fround(pair.file) !== Math.fround(pair.vehicle),
    );
}
