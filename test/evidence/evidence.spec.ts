import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { SoakReport } from '../soak/report.ts';
import { needs } from '../support/needs.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { attackCases } from './attack-cases.ts';
import { collect, lockOf } from './collect.ts';
import { readEvidence } from './data.ts';
import { pageOf } from './page.ts';
import { sourcesOf } from './sources.ts';

const FOLDER = join(ROOT, 'docs/evidence');
const CODE = ['bin', 'connector', 'deploy', 'front', 'residual', 'shared'];
const WEEK_MS = 7 * 24 * 3600 * 1000;

const SOAK: SoakReport = {
  started_at: '2026-01-02T03:04:05.000Z',
  ended_at: '2026-01-02T04:04:05.000Z',
  duration_s: 3600,
  asked_s: 3600,
  cut_short: null,
  seed: 5,
  version: '1.2.3',
  commit: 'abc',
  machine: { cores: 2 },
  ok: false,
  invariants: [
    {
      name: 'hangs',
      rule: 'none',
      outcome: 'broken',
      checked: 9,
      broken: 1,
      breaches: ['7 s: it hung'],
      numbers: { 'longest ms': null },
    },
  ],
  faults: [{ name: 'kill', count: 3, whole_ms: { median: 1200, max: null }, bound_ms: 30_000 }],
  skipped: [{ name: 'full disk', why: 'needs root' }],
  latency: {
    'between faults': { count: 4, p50: 1.5, p99: 2.25, max: 3 },
    'during faults': { count: 0, p50: null, p99: null, max: null },
  },
  slopes: [
    {
      process: 'svc-link',
      runs: 2,
      rss: { per_hour: 1.5, low: -1, high: 4, points: 30 },
      files: null,
      threads: null,
      last: null,
    },
  ],
  load: { requests: 17 },
  history: [{ at_s: 1, fault: 'kill', whole_ms: 1200 }],
};

describe('the published evidence', () => {
  let base: string;
  before(async () => {
    base = await tempDir();
  });
  after(async () => removeDir(base));

  it('an attack case is told with the titles that carry its id, or the file that does, or none', () => {
    const model =
      '| Id | Case | Test |\n|---|---|---|\n| Z1 | one | `x` |\n| Z2 | two | `x` |\n| Z3 | three | `x` |\n';
    const specs = [
      { file: 'b.spec.ts', text: `it('Z1 Z2 isn\\'t let in', () => {}); // Z9` },
      { file: 'a.spec.ts', text: `for (const id of ['Z2']) it(\`\${id} is refused\`, run); // %Z3 and Z31` },
    ];
    expect(attackCases(model, specs)).to.deep.equal([
      { id: 'Z1', text: 'one', tests: [{ file: 'b.spec.ts', title: "Z1 Z2 isn't let in" }] },
      {
        id: 'Z2',
        text: 'two',
        tests: [
          { file: 'a.spec.ts', title: null },
          { file: 'b.spec.ts', title: "Z1 Z2 isn't let in" },
        ],
      },
      { id: 'Z3', text: 'three', tests: [] },
    ]);
  });

  it('takes over what was measured, the newest of each bench, and says of the rest that it was not run', async () => {
    const places = {
      root: ROOT,
      inputs: join(base, 'inputs'),
      bench: join(base, 'bench'),
      data: join(base, 'data'),
    };
    const suite = join(places.inputs, 'mcp-conformance/node/server-ping-2026-01-01T00-00-00-000Z');
    for (const folder of [suite, places.bench]) await mkdir(folder, { recursive: true });
    const write = async (path: string, content: unknown): Promise<void> =>
      writeFile(path, JSON.stringify(content));
    const machine = { cpu: 'a board', cores: 4, node: 'v24' };
    for (const [day, value] of [
      [1, 10],
      [2, 123.4],
    ] as const)
      await write(join(places.bench, `2026-01-0${day}.json`), {
        at: `day ${day}`,
        ...machine,
        results: [{ name: 'front: time', value, unit: 'ms', goal: 50 }],
      });
    await write(join(places.inputs, 'soak.json'), SOAK);
    await write(join(suite, 'checks.json'), [
      { status: 'SUCCESS', timestamp: '2026-01-01T00:00:00Z' },
      { status: 'SUCCESS', timestamp: '2026-01-01T00:00:00Z' },
      { status: 'FAILURE', timestamp: '2026-01-01T00:00:00Z' },
    ]);
    await write(join(places.inputs, 'tests-e2e.json'), {
      stats: { suites: 1, passes: 41, failures: 1, pending: 0, start: 'a day', duration: 2000 },
    });
    expect(collect(places)).to.have.members([
      'made',
      'soak',
      'bench',
      'mcp-conformance',
      'tests',
      'packages',
    ]);
    const sources = { cases: [], routes: 2, benches: ['front', 'link'] };
    const page = pageOf(readEvidence(places.data), sources);
    expect(page).to.include('| front | time | 123 ms | at most 50: missed | day 2 |');
    expect(page).to.include('of 1 benches. Not run: link.');
    expect(page).to.include('- hangs: 7 s: it hung\n- not done: full disk (needs root)');
    expect(page).to.include(
      '| soak | 0 of 1 invariants held in 60 min | 2026-01-02T03:04:05.000Z, commit abc |',
    );
    expect(page).to.include('| svc-conformance | not run |');
    expect(page).to.include('| 1 scenarios, 1 FAILURE, 2 SUCCESS; what fails is expected');
    expect(page).to.include('| end-to-end tests | 41 passed, 1 failed, 0 skipped, in 2 s | a day |');
    expect(page).to.match(/^\| MIT \| \d+ \|$/m);
    // A result that is not there any more is kept.
    await removeDir(places.inputs);
    expect(collect(places)).to.have.members(['made', 'bench', 'packages']);
    expect(readEvidence(places.data).soak?.invariants).to.deep.equal(SOAK.invariants);
  });

  it('the page is what npm run evidence makes of its data and of the code', async () => {
    expect(await readdir(FOLDER)).to.have.members(['index.md', 'data']);
    expect(await readFile(join(FOLDER, 'index.md'), 'utf8'), 'npm run evidence').to.equal(
      pageOf(readEvidence(join(FOLDER, 'data')), sourcesOf()),
    );
  });

  it('no page is more than a week older than the code that it vouches for', async function () {
    needs(this, 'git');
    if (!existsSync(join(ROOT, '.git'))) this.skip();
    const { stdout } = await promisify(execFile)('git', ['log', '-1', '--format=%cI', '--', ...CODE], {
      cwd: ROOT,
    });
    const oldest = Date.parse(stdout.trim()) - WEEK_MS;
    const { soak, tests, ...kits } = readEvidence(join(FOLDER, 'data'));
    const times: Readonly<Record<string, string | undefined>> = {
      'npm run soak': soak?.started_at,
      'npm test': tests?.['tests']?.at,
      'npm run test:e2e': tests?.['tests-e2e']?.at,
      'svc-conformance': kits['svc-conformance']?.started_at,
      'the MCP suite against a node': kits['mcp-conformance']?.['node']?.at,
      'the MCP suite against a fleet': kits['mcp-conformance']?.['fleet']?.at,
    };
    const old = Object.entries(times).filter(([, at]) => !(Date.parse(at ?? '') >= oldest));
    expect(old, 'run them again: docs/evidence/index.md').to.deep.equal([]);
  });

  it('the packages in it are those of the lock file', () => {
    expect(readEvidence(join(FOLDER, 'data')).packages?.lock, 'npm run evidence').to.equal(lockOf(ROOT));
  });
});
