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
import { collect } from './collect.ts';
import { readEvidence } from './data.ts';
import { pagesOf } from './pages.ts';
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
    await write(join(places.inputs, 'sbom.json'), {
      components: [{ name: 'b', version: '2', licenses: [{ license: { id: 'MIT' } }] }, { name: 'a' }],
    });
    expect(collect(places)).to.have.members([
      'made',
      'soak',
      'bench',
      'mcp-conformance',
      'tests',
      'packages',
    ]);
    const sources = { cases: [], matrix: 'method\tpath\nGET\t/x\n', benches: ['front', 'link'] };
    const pages = pagesOf(readEvidence(places.data), sources);
    const page = (name: string): string => pages.get(name) ?? '';
    expect(page('bench.md')).to.include('day 2, commit not recorded, a board, 4 cores, node v24.');
    expect(page('bench.md')).to.include('| time | 123 | ms | at most 50: missed |  |');
    expect(page('bench.md')).to.include('## link\n\nnot run');
    expect(page('soak.md')).to.include('- hangs: 7 s: it hung');
    expect(page('soak.md')).to.include('| kill | 3 | 1.2 s | not measured | 30 s |');
    expect(page('soak.md')).to.include('| svc-link | 2 | 1.5 (-1 to 4) | not measured | not measured |');
    expect(page('conformance.md')).to.include('## svc-conformance\n\nnot run');
    expect(page('conformance.md')).to.include('| ping | 1 | 2 |');
    expect(page('tests.md')).to.include('| tests-e2e | a day | 1 | 41 | 1 | 0 | 2 |');
    expect(page('packages.md')).to.match(/\| a \|\s+\| not stated \|\n\| b \| 2 \| MIT \|/);
    expect(page('index.md')).to.include('an invariant was broken in 60 min');
    expect(page('index.md')).to.include('commit abc, another one than this page');
    // A result that is not there any more is kept.
    await removeDir(places.inputs);
    await mkdir(places.inputs);
    await write(join(places.inputs, 'sbom.json'), { components: [] });
    expect(collect(places)).to.have.members(['made', 'bench', 'packages']);
    expect(pagesOf(readEvidence(places.data), sources).get('soak.md')).to.equal(page('soak.md'));
  });

  it('what is in docs/evidence is what npm run evidence makes of it', async () => {
    const pages = pagesOf(readEvidence(join(FOLDER, 'data')), sourcesOf());
    const files = await readdir(FOLDER);
    expect(files).to.have.members([...pages.keys(), 'data']);
    for (const [name, text] of pages)
      expect(await readFile(join(FOLDER, name), 'utf8'), `${name}: npm run evidence`).to.equal(text);
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

  it('the packages in it are those of the lock file', async () => {
    const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version?: string; readonly dev?: boolean }>>;
    };
    const locked = new Set(
      Object.entries(lock.packages)
        .filter(([path, { dev }]) => path !== '' && dev !== true)
        .map(
          ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)} ${version ?? ''}`,
        ),
    );
    const { packages } = readEvidence(join(FOLDER, 'data'));
    const listed = packages?.components.map(({ name, version }) => `${name} ${version}`) ?? [];
    expect(
      listed.filter((one) => !locked.has(one)),
      'npm run evidence',
    ).to.deep.equal([]);
    expect(listed).to.not.have.length(0);
  });
});
