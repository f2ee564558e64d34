import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Folders of `test` whose specs are slow: `npm run test:e2e`. All others are `npm test`. */
const SLOW = ['attack', 'cli', 'clients', 'connector', 'e2e', 'fault', 'hub', 'sim', 'video'];

/** Each a command of its own: `machine` needs the network and both cores, `cluster` programs that few machines have. */
const APART = ['cluster', 'image', 'machine'];

/** How many files run at once at most (test/support/when-idle.ts). */
const SUITES = { quick: { timeout: 120_000, jobs: 5 }, slow: { timeout: 120_000, jobs: 6 } } as const;

/** A spec that nobody has measured yet. */
const UNKNOWN: Taken = { seconds: 20, processor: 10 };

interface Taken {
  readonly seconds: number;
  /** Seconds of the processor, of all its processes. */
  readonly processor: number;
}

/** What mocha is to do; with the slow ones also those in the file that `SVC_TEST_ALSO` names. @param name which suite */
export function suite(name: keyof typeof SUITES): object {
  const folderOf = (file: string): string => file.split('/')[1] ?? '';
  const list = name === 'slow' ? process.env['SVC_TEST_ALSO'] : undefined;
  const also = list === undefined ? [] : readFileSync(join(ROOT, list), 'utf8').split('\n');
  const files = globSync('test/**/*.spec.ts', { cwd: ROOT }).filter(
    (file) =>
      !APART.includes(folderOf(file)) &&
      (SLOW.includes(folderOf(file)) === (name === 'slow') || also.includes(file)),
  );
  const spec = inTurns(files, durations());
  return {
    ...SUITES[name],
    spec,
    parallel: true,
    require: ['test/support/when-idle.ts', 'test/support/durations.ts'],
    reporter: 'test/support/naming-reporter.ts',
    'reporter-option': [`suite=${name === 'slow' ? 'tests-e2e' : 'tests'}`],
    'forbid-only': true,
    exit: true,
  };
}

/**
 * The longest first, so that no core waits for a last one; one that calculates and one that waits in turns, so that neither all
 * cores are wanted at once nor none.
 */
function inTurns(files: readonly string[], known: ReadonlyMap<string, Taken>): readonly string[] {
  const taken = (file: string): Taken => known.get(file) ?? UNKNOWN;
  const load = (file: string): number => taken(file).processor / taken(file).seconds;
  const byLoad = files.toSorted((a, b) => load(b) - load(a) || a.localeCompare(b));
  const half = Math.ceil(byLoad.length / 2);
  const [busy, waiting] = [byLoad.slice(0, half), byLoad.slice(half)].map((part) =>
    part.toSorted((a, b) => taken(b).seconds - taken(a).seconds),
  );
  return (busy ?? []).flatMap((file, index) => [file, waiting?.[index] ?? []].flat());
}

/** By spec, as somebody's run had them; each line `test/….spec.ts TAB seconds TAB seconds of the processor`. */
function durations(): ReadonlyMap<string, Taken> {
  const lines = readFileSync(join(ROOT, 'test/durations.tsv'), 'utf8').trim().split('\n');
  return new Map(
    lines
      .map((line) => line.split('\t'))
      .map(([file = '', seconds, processor]) => [
        file,
        { seconds: Number(seconds), processor: Number(processor) },
      ]),
  );
}
