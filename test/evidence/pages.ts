import { markdownOf, table } from '../soak/report.ts';
import type { AttackCase } from './attack-cases.ts';
import type { BenchRun, Evidence } from './data.ts';

/** What the pages are made of besides what was measured. */
export interface Sources {
  readonly cases: readonly AttackCase[];
  /** Who gets what on which route, tab separated, as `npm run matrix` writes it. */
  readonly matrix: string;
  /** All benches that there are. */
  readonly benches: readonly string[];
}

const NOT_RUN = 'not run';

/** All files of docs/evidence except `data`, by name. */
export function pagesOf(evidence: Evidence, sources: Sources): ReadonlyMap<string, string> {
  return new Map([
    ['index.md', index(evidence, sources)],
    ['access-matrix.tsv', sources.matrix],
    ['attack-cases.md', attackPage(sources.cases)],
    ['bench.md', benchPage(evidence, sources.benches)],
    [
      'soak.md',
      evidence.soak === null ? page('Soak', [NOT_RUN]) : markdownOf({ ...evidence.soak, history: [] }),
    ],
    ['conformance.md', conformancePage(evidence)],
    ['tests.md', testsPage(evidence)],
    ['packages.md', packagesPage(evidence)],
  ]);
}

function index(evidence: Evidence, { cases, matrix, benches }: Sources): string {
  const { made, soak, bench, tests, packages } = evidence;
  const kit = evidence['svc-conformance'];
  const suites = evidence['mcp-conformance'];
  const untested = cases.filter((one) => one.tests.length === 0).length;
  const of = (commit: string | null, at: string): string =>
    `${at}, commit ${commit ?? 'not recorded'}${commit === (made?.commit ?? null) ? '' : ', another one than this page'}`;
  const runs = Object.values(bench ?? {});
  const newest = (times: readonly string[]): string => times.toSorted().at(-1) ?? NOT_RUN;
  const rows = [
    [
      '[access-matrix.tsv](access-matrix.tsv)',
      `${matrix.trim().split('\n').length - 1} routes: who gets which answer, with each credential and from each place`,
      'the code: `npm run matrix`',
    ],
    [
      '[attack-cases.md](attack-cases.md)',
      `${cases.length} attack cases with the tests that carry their ids; ${untested} without one`,
      'the code: docs/threat-model.md and the titles of the tests',
    ],
    [
      '[bench.md](bench.md)',
      `${benches.filter((name) => bench?.[name] !== undefined).length} of ${benches.length} benches`,
      runs.length === 0
        ? NOT_RUN
        : `\`npm run bench\`; each with its own date and machine, newest ${newest(runs.map(({ at }) => at))}`,
    ],
    [
      '[soak.md](soak.md)',
      soak === null
        ? NOT_RUN
        : `${soak.ok ? 'every invariant held' : 'an invariant was broken'} in ${Math.round(soak.duration_s / 60)} min`,
      soak === null ? NOT_RUN : `\`npm run soak\`; ${of(soak.commit, soak.started_at)}`,
    ],
    [
      '[conformance.md](conformance.md)',
      `svc-conformance: ${kit === null ? NOT_RUN : `${kit.passed} passed, ${kit.failed} failed, ${kit.not_run} not run`}; MCP suite: ${suites === null ? NOT_RUN : Object.keys(suites).join(', ')}`,
      newest([...(kit === null ? [] : [kit.started_at]), ...Object.values(suites ?? {}).map(({ at }) => at)]),
    ],
    [
      '[tests.md](tests.md)',
      tests === null
        ? NOT_RUN
        : `${Object.values(tests).reduce((sum, { passes }) => sum + passes, 0)} passed`,
      newest(Object.values(tests ?? {}).map(({ at }) => at)),
    ],
    [
      '[packages.md](packages.md)',
      packages === null ? NOT_RUN : `${packages.components.length} packages with their licences`,
      'the code: the bill of materials (CycloneDX) of what is installed',
    ],
  ];
  return page('Evidence', [
    'Made by `npm run evidence`, and by no hand: each number comes from a file that a command wrote. The files are below `data`; the pages are made from these and from the code. What was not run says so.',
    '',
    made === null
      ? NOT_RUN
      : `Put together ${made.at}, commit ${made.commit ?? 'not recorded'}, on ${Object.entries(made.machine)
          .map(([name, value]) => `${name} ${value}`)
          .join(', ')}.`,
    '',
    ...table(['File', 'What', 'From'], rows),
    'To measure again, into `evidence-results`:',
    '',
    '```sh',
    'npm run bench                                                   # takes its own folder, bench-results',
    'npm run soak -- --hours 2 --json evidence-results/soak.json',
    '.ci/run                                                         # the numbers of the tests, and both conformance suites',
    'npm run evidence',
    '```',
  ]);
}

function attackPage(cases: readonly AttackCase[]): string {
  const untested = cases.filter(({ tests }) => tests.length === 0);
  return page('Attack cases', [
    `${cases.length} cases of the [threat model](../threat-model.md); ${untested.length} have no test that carries their id${untested.length === 0 ? '.' : `: ${untested.map(({ id }) => id).join(', ')}.`}`,
    '',
    ...table(
      ['Id', 'Case', 'Tests'],
      cases.map(({ id, text, tests }) => [
        id,
        text,
        tests.length === 0
          ? 'none'
          : tests
              .map(({ file, title }) => `\`${file}\`: ${title ?? 'one of its list of cases'}`)
              .join('<br>'),
      ]),
    ),
  ]);
}

function benchPage({ bench }: Evidence, names: readonly string[]): string {
  return page(
    'Benches',
    names
      .toSorted()
      .flatMap((name) => ['', `## ${name}`, '', ...benchTable(bench?.[name])])
      .slice(1),
  );
}

function benchTable(run: BenchRun | undefined): readonly string[] {
  if (run === undefined) return [NOT_RUN];
  return [
    `${run.at}, commit ${run.commit ?? 'not recorded'}, ${run.machine}.`,
    '',
    ...table(
      ['What', 'Value', 'Unit', 'Goal', 'Note'],
      run.results.map(({ name, value, unit, goal, higher, note }) => [
        name,
        Math.abs(value) < 100 ? Math.round(value * 100) / 100 : Math.round(value),
        unit,
        goal === undefined
          ? ''
          : `${higher === true ? 'at least' : 'at most'} ${goal}: ${(higher === true ? value >= goal : value <= goal) ? 'met' : 'missed'}`,
        note ?? '',
      ]),
    ).slice(0, -1),
  ];
}

function conformancePage(evidence: Evidence): string {
  const kit = evidence['svc-conformance'];
  const suites = Object.entries(evidence['mcp-conformance'] ?? {}).toSorted(([a], [b]) => a.localeCompare(b));
  return page('Conformance', [
    '## svc-conformance',
    '',
    ...(kit === null
      ? [NOT_RUN]
      : [
          `${kit.started_at}, kit ${kit.kit}, against a ${kit.node.profile} ${kit.node.version}: ${kit.passed} passed, ${kit.failed} failed, ${kit.not_run} not run.`,
          '',
          ...table(
            ['Check', 'Result', 'Why'],
            kit.checks.map(({ name, result, why }) => [name, result, why ?? '']),
          ).slice(0, -1),
        ]),
    '',
    '## MCP conformance suite',
    '',
    ...(suites.length === 0 ? [NOT_RUN] : []),
    ...suites.flatMap(([target, { at, suite, scenarios }]) => {
      const statuses = [...new Set(scenarios.flatMap((one) => Object.keys(one.statuses)))].toSorted();
      const sum = (status: string): number =>
        scenarios.reduce((all, one) => all + (one.statuses[status] ?? 0), 0);
      return [
        `Of the connector with a ${target}: ${at}, ${suite}. What fails is expected, and listed in \`test/e2e/mcp-conformance-baseline.yml\`.`,
        '',
        ...table(
          ['Scenario', ...statuses],
          [
            ...scenarios.map((one) => [one.name, ...statuses.map((status) => one.statuses[status] ?? 0)]),
            ['all', ...statuses.map(sum)],
          ],
        ),
      ];
    }),
  ]);
}

function testsPage({ tests }: Evidence): string {
  const runs = Object.entries(tests ?? {}).toSorted(([a], [b]) => a.localeCompare(b));
  if (runs.length === 0) return page('Tests', [NOT_RUN]);
  return page('Tests', [
    ...table(
      ['Run', 'Begun', 'Suites', 'Passed', 'Failed', 'Skipped', 'Seconds'],
      runs.map(([name, { at, suites, passes, failures, pending, duration_ms: ms }]) => [
        name,
        at,
        suites,
        passes,
        failures,
        pending,
        Math.round(ms / 1000),
      ]),
    ),
  ]);
}

function packagesPage({ packages }: Evidence): string {
  if (packages === null) return page('Packages', [NOT_RUN]);
  const { sha256, components } = packages;
  const licenses = [...Map.groupBy(components, (one) => one.licenses || 'not stated')]
    .map(([name, { length }]) => [name, length] as const)
    .toSorted(([a, first], [b, second]) => second - first || a.localeCompare(b));
  return page('Packages', [
    `What a node installs besides its own code. SHA-256 of the components of the bill of materials: \`${sha256}\`.`,
    '',
    ...table(['Licence', 'Packages'], licenses),
    ...table(
      ['Package', 'Version', 'Licence'],
      components.map(({ name, version, licenses: own }) => [name, version, own || 'not stated']),
    ),
  ]);
}

function page(title: string, lines: readonly string[]): string {
  return `${[`# ${title}`, '', ...lines].join('\n').trimEnd()}\n`;
}
