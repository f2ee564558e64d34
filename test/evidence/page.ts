import { table } from '../soak/report.ts';
import type { AttackCase } from './attack-cases.ts';
import type { BenchRun, Evidence } from './data.ts';

/** What the page is made of besides what was measured. */
export interface Sources {
  readonly cases: readonly AttackCase[];
  readonly routes: number;
  /** All benches that there are. */
  readonly benches: readonly string[];
}

const NOT_RUN = 'not run';

/** docs/evidence/index.md: the figures, each with its date, its commit and the command that makes them again. */
export function pageOf(evidence: Evidence, sources: Sources): string {
  const { made } = evidence;
  return `${[
    '# Evidence',
    '',
    'Made by `npm run evidence`, and by no hand: each number comes from a file that a command wrote (`data`), or from the code. What was not run says so.',
    '',
    made === null
      ? NOT_RUN
      : `Put together ${made.at}, commit ${made.commit ?? 'not recorded'}, on ${machineOf(made.machine)}.`,
    '',
    ...table(['What', 'Result', 'When', 'Command'], summary(evidence, sources)),
    '`.ci/run` writes the numbers of the tests and of both conformance suites into `evidence-results`, each check of them too.',
    '',
    ...soakPart(evidence),
    ...benchPart(evidence, sources.benches),
    ...licencePart(evidence),
  ]
    .join('\n')
    .trimEnd()}\n`;
}

function summary(evidence: Evidence, { cases, routes }: Sources): readonly (readonly (string | number)[])[] {
  const { soak, tests, packages } = evidence;
  const kit = evidence['svc-conformance'];
  const untested = cases.filter((one) => one.tests.length === 0).map(({ id }) => id);
  const suites = Object.entries(evidence['mcp-conformance'] ?? {}).toSorted(([a], [b]) => a.localeCompare(b));
  const runs = Object.entries(tests ?? {}).toSorted(([a], [b]) => a.localeCompare(b));
  const broken = soak?.invariants.filter(({ outcome }) => outcome === 'broken').length ?? 0;
  return [
    ...runs.map(([name, { at, passes, failures, pending, duration_ms: ms }]) => [
      name === 'tests' ? 'tests' : 'end-to-end tests',
      `${passes} passed, ${failures} failed, ${pending} skipped, in ${Math.round(ms / 1000)} s`,
      at,
      name === 'tests' ? '`npm test`' : '`npm run test:e2e`',
    ]),
    [
      'svc-conformance',
      kit === null
        ? NOT_RUN
        : `${kit.passed} passed, ${kit.failed} failed, ${kit.not_run} not run, against a ${kit.node.profile} ${kit.node.version}`,
      kit?.started_at ?? NOT_RUN,
      '`svc-conformance --json`',
    ],
    ...suites.map(([target, { at, suite, scenarios, statuses }]) => [
      `MCP suite, connector with a ${target}`,
      `${scenarios} scenarios, ${Object.entries(statuses)
        .map(([status, checks]) => `${checks} ${status}`)
        .join(', ')}; what fails is expected (\`test/e2e/mcp-conformance-baseline.yml\`)`,
      at,
      suite,
    ]),
    [
      'soak',
      soak === null
        ? NOT_RUN
        : `${soak.invariants.length - broken} of ${soak.invariants.length} invariants held in ${Math.round(soak.duration_s / 60)} min`,
      soak === null ? NOT_RUN : `${soak.started_at}, commit ${soak.commit ?? 'not recorded'}`,
      '`npm run soak -- --hours 2 --json evidence-results/soak.json`',
    ],
    [
      'attack cases',
      `${cases.length} in the [threat model](../threat-model.md), without a test that carries their id: ${untested.length === 0 ? 'none' : untested.join(', ')}`,
      'the code',
      '',
    ],
    ['routes', `${routes}, each with each credential and from each place`, 'the code', '`npm run matrix`'],
    [
      'packages',
      packages === null ? NOT_RUN : `${packages.components} besides its own code`,
      'the lock file',
      '`npm sbom --sbom-format cyclonedx --omit dev`',
    ],
  ];
}

function soakPart({ soak }: Evidence): readonly string[] {
  if (soak === null) return [];
  return [
    `## Soak`,
    '',
    `Seed ${soak.seed}, version ${soak.version}, on ${machineOf(soak.machine)}; ${soak.faults.reduce((sum, { count }) => sum + count, 0)} faults of ${soak.faults.length} kinds.`,
    '',
    ...table(
      ['Invariant', 'Rule', 'Outcome', 'Checked', 'Broken'],
      soak.invariants.map(({ name, rule, outcome, checked, broken }) => [
        name,
        rule,
        outcome,
        checked,
        broken,
      ]),
    ),
    ...soak.invariants.flatMap(({ name, breaches }) => breaches.map((breach) => `- ${name}: ${breach}`)),
    ...soak.skipped.map(({ name, why }) => `- not done: ${name} (${why})`),
    '',
  ];
}

/** What has a goal. */
function benchPart({ bench }: Evidence, names: readonly string[]): readonly string[] {
  const run = names.toSorted().filter((name) => bench?.[name] !== undefined);
  const missing = names.filter((name) => !run.includes(name)).toSorted();
  return [
    '## Benches',
    '',
    `\`npm run bench\`: what has a goal, of ${run.length} benches. ${missing.length === 0 ? '' : `Not run: ${missing.join(', ')}.`}`.trim(),
    '',
    ...table(
      ['Bench', 'What', 'Value', 'Goal', 'When'],
      run.flatMap((name) => benchRows(name, bench?.[name])),
    ),
  ];
}

function benchRows(name: string, run: BenchRun | undefined): readonly (readonly string[])[] {
  return (run?.results ?? []).flatMap(({ name: what, value, unit, goal, higher }) => {
    if (goal === undefined) return [];
    const met = higher === true ? value >= goal : value <= goal;
    const rounded = Math.abs(value) < 100 ? Math.round(value * 100) / 100 : Math.round(value);
    return [
      [
        name,
        what,
        `${rounded} ${unit}`.trim(),
        `${higher === true ? 'at least' : 'at most'} ${goal}: ${met ? 'met' : 'missed'}`,
        run?.at.slice(0, 10) ?? '',
      ],
    ];
  });
}

function licencePart({ packages }: Evidence): readonly string[] {
  if (packages === null) return [];
  const licences = Object.entries(packages.licenses).toSorted(
    ([a, first], [b, second]) => second - first || a.localeCompare(b),
  );
  return ['## Licences', '', ...table(['Licence', 'Packages'], licences)];
}

function machineOf(machine: Readonly<Record<string, string | number>>): string {
  return Object.entries(machine)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
