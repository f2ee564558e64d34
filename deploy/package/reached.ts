import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** As tsc writes them: a statement at the start of a line, or a call. */
const IMPORT =
  /^(?:import|export)\b(?:[^'";]*\bfrom)?\s*["']([^"']+)["']|\b(?:import|require)\(\s*["']([^"']+)["']/gm;

export interface Reached {
  /** Relative to the folder, sorted. */
  readonly files: readonly string[];
  /** The packages that they import, Node's own aside, sorted. */
  readonly packages: readonly string[];
}

/**
 * What compiled files import, and what that imports in turn: the part of `dist` that a program needs. Of a process in one file, what
 * deploy/build/bundle-processes.ts has noted beside it.
 */
export async function reachedFrom(dist: string, entries: readonly string[]): Promise<Reached> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const next = [...entries];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (files.has(file)) continue;
    const noted = await notedOf(dist, file);
    for (const each of [file, ...(noted?.files ?? [])]) files.add(each);
    for (const each of noted?.packages ?? []) packages.add(each);
    if (noted !== null || !file.endsWith('.js')) continue;
    for (const [, fixed, called] of (await readFile(join(dist, file), 'utf8')).matchAll(IMPORT)) {
      const target = fixed ?? called ?? '';
      if (target.startsWith('.')) next.push(join(dirname(file), target));
      else if (!target.startsWith('node:'))
        packages.add(
          target
            .split('/')
            .slice(0, target.startsWith('@') ? 2 : 1)
            .join('/'),
        );
    }
  }
  return { files: [...files].toSorted(), packages: [...packages].toSorted() };
}

async function notedOf(dist: string, file: string): Promise<Reached | null> {
  const beside = join(dist, file.replace(/\.js$/, '.json'));
  if (beside === join(dist, file) || !existsSync(beside)) return null;
  // The compiler has written it a moment ago.
  const noted: Reached = JSON.parse(await readFile(beside, 'utf8'));
  return noted;
}
