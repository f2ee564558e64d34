import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/node.ts';
import { markOf } from './files.ts';

/** What Stryker's report says (mutation-testing-report-schema 2.0), as far as it is read here. */
export interface MutantReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
  readonly config: { readonly mutate: readonly string[] };
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  /** Why it was not tried. */
  readonly statusReason?: string;
  /** Lines and columns from 1. */
  readonly location: { readonly start: Place; readonly end: Place };
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** What became of the mutants of one file. */
export interface FileScore {
  readonly file: string;
  readonly mutants: number;
  /** A test failed; or the tests did not end, which is as good. */
  readonly killed: number;
  readonly survived: number;
  /** In what runs once, when a module is loaded: each would cost a process. Tables of this kind have a test for each row instead. */
  readonly untried: number;
  /** Of the file as it was tried (`markOf`). */
  readonly mark: string;
}

/** A mutant that no test notices: the line in which it is, what stood there, what stands there in its place. */
export interface Survivor {
  readonly file: string;
  readonly line: string;
  readonly was: string;
  readonly becomes: string;
}

const KILLED: ReadonlySet<string> = new Set(['Killed', 'Timeout']);
/** No test runs the code, or none fails. */
const SURVIVED: ReadonlySet<string> = new Set(['Survived', 'NoCoverage']);

/** The report without what earlier runs found and files that are not named any more; with files that have nothing to mutate. */
export function triedBy(
  { files, config }: MutantReport,
  named: ReadonlyMap<string, unknown>,
): MutantReport['files'] {
  const nothing = (file: string) => ({ source: readFileSync(join(ROOT, file), 'utf8'), mutants: [] });
  const tried = config.mutate.filter((file) => named.has(file));
  return Object.fromEntries(tried.map((file) => [file, files[file] ?? nothing(file)]));
}

/** @throws Error for a mutant that was not tried to its end */
export function scoresOf({ files }: Pick<MutantReport, 'files'>): readonly FileScore[] {
  return Object.entries(files)
    .map(([file, { source, mutants }]) => {
      const strange = mutants.find(
        ({ status }) => !KILLED.has(status) && !SURVIVED.has(status) && status !== 'Ignored',
      );
      if (strange !== undefined)
        throw new Error(`${file}:${strange.location.start.line}: a mutant ended as ${strange.status}`);
      const count = (wanted: ReadonlySet<string>): number =>
        mutants.filter(({ status }) => wanted.has(status)).length;
      const [killed, survived] = [count(KILLED), count(SURVIVED)];
      const untried = mutants.filter(({ statusReason = '' }) => statusReason.startsWith('Static mutant'));
      return {
        file,
        mutants: killed + survived,
        killed,
        survived,
        untried: untried.length,
        mark: markOf(source),
      };
    })
    .toSorted((a, b) => (a.file < b.file ? -1 : 1));
}

export function survivorsOf({ files }: Pick<MutantReport, 'files'>): readonly Survivor[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n');
    return mutants
      .filter(({ status }) => SURVIVED.has(status))
      .map(({ mutatorName, replacement = mutatorName, location: { start, end } }) => ({
        file,
        line: lines[start.line - 1]?.trim() ?? '',
        was: short(between(lines, start, end)),
        becomes: short(replacement),
      }));
  });
}

function between(lines: readonly string[], start: Place, end: Place): string {
  return lines
    .slice(start.line - 1, end.line)
    .map((line, index, all) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === all.length - 1 ? end.column - 1 : undefined),
    )
    .join('\n');
}

/** In one line, for a file that people read. */
function short(code: string): string {
  const flat = code.replaceAll(/\s+/g, ' ');
  return flat.length <= 100 ? flat : `${flat.slice(0, 99)}…`;
}
