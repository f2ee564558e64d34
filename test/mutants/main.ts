/**
 * `npm run mutants`: changes the code that decides about safety in one place after the other, and looks whether a test notices.
 * Tries only the files that docs/mutants.md does not vouch for as they are now, and writes their rows; `-- --all` tries all of them anew.
 * Ends with 1 below 90 % killed, or where test/mutants/survivors.json and the result do not agree. `-- --report` only looks at the last
 * result again.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/node.ts';
import { mutatedFiles, staleFiles } from './files.ts';
import { LEAST_PERCENT, mutantsPage, percentOf, rowsOf } from './page.ts';
import { type MutantReport, scoresOf, survivorsOf, triedBy } from './report.ts';
import { differences, keptSurvivors } from './survivors.ts';

const page = join(ROOT, 'docs/mutants.md');
const files = mutatedFiles();
const rows = rowsOf(readFileSync(page, 'utf8'));
const isAll = process.argv.includes('--all');
const stale = isAll ? [...files.keys()] : staleFiles(rows, files);
const isLook = process.argv.includes('--report');
if (!isLook && stale.length > 0) {
  // Stryker itself keeps what it knows of a file whose tests have not changed: a run that was broken off goes on there.
  const force = isAll ? ['--force'] : [];
  const { status } = spawnSync(
    'stryker',
    ['run', 'test/mutants/stryker.json', '--mutate', stale.join(','), ...force],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        NODE_OPTIONS: `--import=${pathToFileURL(join(ROOT, 'test/mutants/mocha-files.ts')).href}`,
      },
      stdio: 'inherit',
    },
  );
  if (status !== 0) process.exit(1);
}
const read = (): MutantReport =>
  JSON.parse(readFileSync(join(ROOT, 'mutants-results/report.json'), 'utf8')) as MutantReport;
const report = { files: isLook || stale.length > 0 ? triedBy(read(), files) : {} };
const others = rows.filter(({ file }) => files.has(file) && report.files[file] === undefined);
const scores = [...others, ...scoresOf(report)].toSorted((a, b) => (a.file < b.file ? -1 : 1));
const kept = keptSurvivors();
writeFileSync(page, mutantsPage(scores, kept));
/** Of a file that was not tried now nothing new is known. */
const isDue = (file: string): boolean => report.files[file] !== undefined || !files.has(file);
const { unexplained, gone } = differences(
  kept.map((each) => ({ ...each, mutants: each.mutants.filter(({ file }) => isDue(file)) })),
  survivorsOf(report),
);
for (const each of unexplained) process.stdout.write(`survives without a reason: ${JSON.stringify(each)}\n`);
for (const each of gone) process.stdout.write(`is listed and does not survive: ${JSON.stringify(each)}\n`);
const percent = percentOf(scores);
process.stdout.write(`${percent.toFixed(1)} % killed; docs/mutants.md\n`);
process.exitCode = percent < LEAST_PERCENT || unexplained.length > 0 || gone.length > 0 ? 1 : 0;
