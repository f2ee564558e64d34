import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the stand-in for `rpicam-vid` does. */
export interface CsiPlan {
  readonly cameras: number;
  /** Then it does what `after` says; null: it goes on. */
  readonly pictures: number | null;
  readonly after: 'die' | 'stall';
  /** It does not listen to SIGTERM. */
  readonly deaf: boolean;
}

export const ONE_CAMERA: CsiPlan = { cameras: 1, pictures: null, after: 'die', deaf: false };

/** Puts the stand-in into a folder for the PATH. @param name of the program */
export async function installStandIn(folder: string, plan: CsiPlan, name = 'rpicam-vid'): Promise<void> {
  await mkdir(folder, { recursive: true });
  const program = join(import.meta.dirname, 'stand-in.ts');
  await writeFile(
    join(folder, name),
    `#!/bin/sh\nexec "${process.execPath}" "${program}" "${folder}" "$@"\n`,
    { mode: 0o755 },
  );
  await planStandIn(folder, plan);
}

/** What it does from its next start on. */
export async function planStandIn(folder: string, plan: CsiPlan): Promise<void> {
  await writeFile(join(folder, 'plan.json'), JSON.stringify(plan));
}

/** The starts so far: process id and arguments. */
export async function standInRuns(
  folder: string,
): Promise<readonly { readonly pid: number; readonly args: string }[]> {
  const text = await readFile(join(folder, 'runs'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => ({ pid: Number(line.split(' ')[0]), args: line.slice(line.indexOf(' ') + 1) }));
}
