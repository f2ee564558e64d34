/** Parameters by name. */
export type ParamValues = Readonly<Record<string, number>>;

const LINE = /^([A-Za-z_][A-Za-z0-9_]{0,15})[\s,]+([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*$/;

/**
 * Reads a parameter file as Mission Planner, MAVProxy and ours write it: `NAME value` or `NAME,value` a line, `#` begins a
 * comment.
 * @throws Error that names the line
 */
export function readParamFile(text: string): ParamValues {
  const values: Record<string, number> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const bare = line.replace(/#.*$/, '').trim();
    if (bare === '') continue;
    const match = LINE.exec(bare);
    if (match === null) throw new Error(`line ${index + 1} is not NAME value: ${line.slice(0, 60)}`);
    values[match[1] ?? ''] = Number(match[2]);
  }
  return values;
}

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
