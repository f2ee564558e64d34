import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/node.ts';
import { CONFIG, mutatedFiles, staleFiles } from './files.ts';
import { strykerPlugins } from './ignore-words.ts';
import { LEAST_PERCENT, mutantsPage, percentOf, rowsOf } from './page.ts';
import { type MutantReport, scoresOf, survivorsOf, triedBy } from './report.ts';
import { differences, keptSurvivors } from './survivors.ts';

const place = (line: number, column: number) => ({ line, column });
const mutant = (status: string, replacement: string, columns: readonly [number, number], line = 1) => ({
  mutatorName: 'StringLiteral',
  replacement,
  status,
  location: { start: place(line, columns[0]), end: place(line, columns[1]) },
});
const REPORT: MutantReport = {
  config: { mutate: ['b.ts', 'a.ts'] },
  files: {
    'b.ts': { source: 'x();', mutants: [mutant('Timeout', '', [1, 5])] },
    'a.ts': {
      source: '  if (a < b)\n    go();\n',
      mutants: [
        mutant('Killed', 'true', [7, 12]),
        mutant('Survived', 'a <= b', [7, 12]),
        mutant('NoCoverage', '', [5, 10], 2),
        { ...mutant('Ignored', '', [1, 5]), statusReason: 'Static mutant (and "ignoreStatic" was enabled)' },
        { ...mutant('Ignored', '', [1, 5]), statusReason: 'a sentence for people' },
      ],
    },
  },
};
const SURVIVORS = [
  { file: 'a.ts', line: 'if (a < b)', was: 'a < b', becomes: 'a <= b' },
  { file: 'a.ts', line: 'go();', was: 'go();', becomes: '' },
];

describe('mutants that stay', () => {
  it('each has its reason, and its line still stands in its file', () => {
    const kept = keptSurvivors();
    for (const { reason, mutants } of kept) {
      expect(reason.length, reason).to.be.greaterThan(20);
      expect(mutants, reason).to.not.have.length(0);
    }
    const missing = kept
      .flatMap(({ mutants }) => mutants)
      .filter(({ file, line }) =>
        readFileSync(join(ROOT, file), 'utf8')
          .split('\n')
          .every((each) => each.trim() !== line),
      );
    expect(missing).to.deep.equal([]);
  });

  it('are read from the report of Stryker, with what was killed or did not end', () => {
    expect(scoresOf(REPORT)).to.deep.equal([
      { file: 'a.ts', mutants: 3, killed: 1, survived: 2, untried: 1, mark: 'd36641ec5b2d' },
      { file: 'b.ts', mutants: 1, killed: 1, survived: 0, untried: 0, mark: 'bb4844668faf' },
    ]);
    expect(survivorsOf(REPORT)).to.deep.equal(SURVIVORS);
    const broken = { files: { 'a.ts': { source: '', mutants: [mutant('RuntimeError', '', [1, 1])] } } };
    expect(() => scoresOf(broken)).to.throw('a.ts:1: a mutant ended as RuntimeError');
  });

  it('the list and the report have to agree, each as often as it is there', () => {
    const [first, second] = SURVIVORS;
    const listed = (...mutants: typeof SURVIVORS) => [{ reason: 'why', mutants }];
    expect(differences(listed(...SURVIVORS), SURVIVORS)).to.deep.equal({ unexplained: [], gone: [] });
    expect(differences([], SURVIVORS)).to.deep.equal({ unexplained: SURVIVORS, gone: [] });
    expect(differences(listed(...SURVIVORS), SURVIVORS.slice(1))).to.deep.equal({
      unexplained: [],
      gone: [first],
    });
    expect(differences(listed(...SURVIVORS), [...SURVIVORS, ...SURVIVORS.slice(1)])).to.deep.equal({
      unexplained: [second],
      gone: [],
    });
  });

  it('the page says how many of each file are killed, and of all', () => {
    const page = mutantsPage(scoresOf(REPORT), [{ reason: 'because', mutants: SURVIVORS }]);
    expect(page).to.include('| `a.ts` | 3 | 1 | 2 | 33.3 | 1 | d36641ec5b2d |');
    expect(page).to.include('| all | 4 | 2 | 2 | 50.0 | 1 |  |');
    expect(page).to.include('| 2 | because |');
    expect([percentOf([]), LEAST_PERCENT]).to.deep.equal([0, 90]);
  });

  it('the page is as new as the code that it vouches for', () => {
    const stale = staleFiles(rowsOf(readFileSync(join(ROOT, 'docs/mutants.md'), 'utf8')), mutatedFiles());
    expect(stale, `docs/mutants.md is older than ${stale.join(', ')}: npm run mutants`).to.deep.equal([]);
  });

  it('a file is tried again when it has changed or is new; its row is all that a run writes anew', () => {
    const rows = rowsOf(mutantsPage(scoresOf(REPORT), []));
    expect(rows).to.deep.equal(scoresOf(REPORT));
    const [a, b] = rows.map(({ file, mark }) => [file, mark] as const);
    if (a === undefined || b === undefined) throw new Error('two files have rows');
    expect(staleFiles(rows, new Map([a, b]))).to.deep.equal([]);
    expect(staleFiles(rows, new Map([a]))).to.deep.equal([]);
    expect(staleFiles(rows, new Map([a, ['b.ts', 'changed'], ['c.ts', 'new']]))).to.deep.equal([
      'b.ts',
      'c.ts',
    ]);
    const run = { ...REPORT, config: { mutate: ['b.ts', 'gone.ts'] } };
    expect(Object.keys(triedBy(run, new Map([a, b])))).to.deep.equal(['b.ts']);
  });

  it('each pattern of a file and each spec that is named stands for something', () => {
    const { mutate, mochaOptions } = CONFIG;
    const patterns = [...mutate.map((each) => each.replace(/^!/, '')), ...mochaOptions.spec];
    expect(patterns.filter((each) => globSync(each, { cwd: ROOT }).length === 0)).to.deep.equal([]);
  });

  it('sentences and what is logged are not mutated; a decision is', () => {
    const ignored = (node: object): string | undefined =>
      strykerPlugins[0]?.value.shouldIgnore({ node: node as { type: string } });
    const text = (value: string) => ({ type: 'StringLiteral', value });
    expect(ignored(text('The PIN is wrong.'))).to.equal('a sentence for people');
    expect(
      ignored({ type: 'TemplateLiteral', quasis: [{ value: { raw: 'is at ' } }, { value: { raw: 'end' } }] }),
    ).to.equal('a sentence for people');
    for (const value of ['read-only', 'svc-link', ' ', 'a b', ''])
      expect(ignored(text(value)), value).to.equal(undefined);
    const name = (word: string) => ({ type: 'Identifier', name: word });
    const member = (object: object, property: object) => ({ type: 'MemberExpression', object, property });
    const call = (callee: object) => ({ type: 'CallExpression', callee });
    expect(ignored(call(member(name('log'), name('warn'))))).to.equal('what is logged');
    expect(ignored(call(member(member(name('x'), name('log')), name('warn'))))).to.equal('what is logged');
    const alone = { type: 'ExpressionStatement', expression: call(member(name('log'), name('warn'))) };
    expect(ignored(alone)).to.equal('what is logged');
    expect(ignored(call(member(name('store'), name('write'))))).to.equal(undefined);
    expect(ignored(call(name('log')))).to.equal(undefined);
  });
});
