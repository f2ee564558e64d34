import type { FileScore } from './report.ts';
import type { Kept } from './survivors.ts';

/** Below this `npm run mutants` fails, %. */
export const LEAST_PERCENT = 90;

export function percentOf(scores: readonly Pick<FileScore, 'mutants' | 'killed'>[]): number {
  const [mutants, killed] = [sum(scores.map((each) => each.mutants)), sum(scores.map((each) => each.killed))];
  return mutants === 0 ? 0 : (100 * killed) / mutants;
}

const ROW = /^\| `(.+)` \| (\d+) \| (\d+) \| (\d+) \| [\d.-]+ \| (\d+) \| (\w+) \|$/gm;

/** What the page says of each file. */
export function rowsOf(page: string): readonly FileScore[] {
  return [...page.matchAll(ROW)].map(([, file = '', mutants, killed, survived, untried, mark = '']) => ({
    file,
    mutants: Number(mutants),
    killed: Number(killed),
    survived: Number(survived),
    untried: Number(untried),
    mark,
  }));
}

/** docs/mutants.md */
export function mutantsPage(scores: readonly FileScore[], kept: readonly Kept[]): string {
  const all = {
    file: 'all',
    mutants: sum(scores.map((each) => each.mutants)),
    killed: sum(scores.map((each) => each.killed)),
    survived: sum(scores.map((each) => each.survived)),
    untried: sum(scores.map((each) => each.untried)),
    mark: '',
  };
  const rows = [...scores, all].map(
    (each) =>
      `| ${each === all ? all.file : `\`${each.file}\``} | ${each.mutants} | ${each.killed} | ${each.survived} | ${each.mutants === 0 ? '-' : percentOf([each]).toFixed(1)} | ${each.untried} | ${each.mark} |`,
  );
  const reasons = kept.map(({ reason, mutants }) => `| ${mutants.length} | ${reason} |`);
  return `# Mutants

For reviewers of the tests. \`npm run mutants\` changes the safety-critical code in one place after another (Stryker) and runs the quick tests of it: a
mutant is killed if one fails or does not end. Run by hand. At least ${LEAST_PERCENT} % must be killed; each survivor has its reason in
\`test/mutants/survivors.json\`. Not mutated: messages (\`test/mutants/ignore-words.ts\`) and what runs when a module loads. Files and tests:
\`test/mutants/stryker.json\`. The last column is the beginning of the SHA-256 of the code as it was tried; \`npm test\` fails when that has changed, and
\`npm run mutants\` tries those files again (\`-- --all\`: all).

| File | Mutants | Killed | Survived | % killed | Not tried | SHA-256 |
| --- | ---: | ---: | ---: | ---: | ---: | --- |
${rows.join('\n')}

The survivors:

| Mutants | Why they stay |
| ---: | --- |
${reasons.join('\n')}
`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
