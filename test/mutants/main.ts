/**
 * `npm run mutants`: changes the code that decides about safety in one place after the other, and looks whether a test notices.
 * Writes docs/mutants.md. Ends with 1 below 90 % killed, or where test/mutants/survivors.json and the result do not agree.
 * `-- --report` only looks at the last result again.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { commitOf } from '../support/machine-facts.ts';
import { ROOT } from '../support/node.ts';
import { LEAST_PERCENT, mutantsPage, percentOf } from './page.ts';
import { type MutantReport, scoresOf, survivorsOf } from './report.ts';
import { differences, keptSurvivors } from './survivors.ts';

const results = join(ROOT, 'mutants-results');
/** Of the run, which may be another than that of a later look. */
const commitFile = join(results, 'commit');
if (!process.argv.includes('--report')) {
  mkdirSync(results, { recursive: true });
  writeFileSync(commitFile, commitOf() ?? 'unknown');
  const { status } = spawnSync('stryker', ['run', 'test/mutants/stryker.json'], {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=${pathToFileURL(join(ROOT, 'test/mutants/mocha-files.ts')).href}`,
    },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}
const report = JSON.parse(readFileSync(join(results, 'report.json'), 'utf8')) as MutantReport;
const scores = scoresOf(report);
const kept = keptSurvivors();
writeFileSync(join(ROOT, 'docs/mutants.md'), mutantsPage(scores, kept, readFileSync(commitFile, 'utf8')));
const { unexplained, gone } = differences(kept, survivorsOf(report));
for (const each of unexplained) process.stdout.write(`survives without a reason: ${JSON.stringify(each)}\n`);
for (const each of gone) process.stdout.write(`is listed and does not survive: ${JSON.stringify(each)}\n`);
const percent = percentOf(scores);
process.stdout.write(`${percent.toFixed(1)} % killed; docs/mutants.md\n`);
process.exitCode = percent < LEAST_PERCENT || unexplained.length > 0 || gone.length > 0 ? 1 : 0;
