import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/node.ts';
import type { Survivor } from './report.ts';

/** Mutants that stay, and why: test/mutants/survivors.json. */
export interface Kept {
  readonly reason: string;
  readonly mutants: readonly Survivor[];
}

export function keptSurvivors(): readonly Kept[] {
  return JSON.parse(readFileSync(join(ROOT, 'test/mutants/survivors.json'), 'utf8')) as readonly Kept[];
}

/** What the list and a report do not agree on; the same mutant may be there more than once. */
export function differences(
  kept: readonly Kept[],
  found: readonly Survivor[],
): { readonly unexplained: readonly Survivor[]; readonly gone: readonly Survivor[] } {
  const listed = kept.flatMap(({ mutants }) => mutants);
  return { unexplained: without(found, listed), gone: without(listed, found) };
}

function without(all: readonly Survivor[], taken: readonly Survivor[]): readonly Survivor[] {
  const left = taken.map(keyOf);
  return all.filter((each) => {
    const at = left.indexOf(keyOf(each));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function keyOf({ file, line, was, becomes }: Survivor): string {
  return JSON.stringify([file, line, was, becomes]);
}
