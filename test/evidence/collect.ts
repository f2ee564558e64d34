import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Result } from '../bench/result.ts';
import type { SoakReport } from '../soak/report.ts';
import { commitOf, machineFacts } from '../support/machine-facts.ts';
import type { BenchRun, Evidence, KitResult, Packages, SuiteRun, TestRun } from './data.ts';

/** Where results are looked for. */
export interface Places {
  /** The clone. */
  readonly root: string;
  /** What the commands in docs/evidence/index.md wrote. */
  readonly inputs: string;
  /** What `npm run bench` wrote. */
  readonly bench: string;
  /** Where it is kept: docs/evidence/data. */
  readonly data: string;
}

/** Takes over every result that is there; what is not there stays as it was. @returns the names of the parts that are new */
export function collect(places: Places): readonly string[] {
  const { inputs, data } = places;
  const old = (part: keyof Evidence): Readonly<Record<string, unknown>> =>
    (readJson(join(data, `${part}.json`)) as Readonly<Record<string, unknown>> | null) ?? {};
  const soak = readJson(join(inputs, 'soak.json')) as SoakReport | null;
  const parts: Partial<Record<keyof Evidence, unknown>> = {
    made: { at: new Date().toISOString(), commit: commitOf(), machine: machineFacts() },
    ...(soak === null ? {} : { soak: { ...soak, history: undefined } }),
    ...some('bench', benchOf(places.bench), old('bench')),
    ...some('svc-conformance', kitOf(join(inputs, 'svc-conformance.json')), {}),
    ...some('mcp-conformance', suitesOf(join(inputs, 'mcp-conformance')), old('mcp-conformance')),
    ...some('tests', testsOf(inputs), old('tests')),
    packages: packagesOf(places),
  };
  mkdirSync(data, { recursive: true });
  for (const [part, content] of Object.entries(parts))
    writeFileSync(join(data, `${part}.json`), `${JSON.stringify(content, null, 2)}\n`);
  return Object.keys(parts);
}

/** Nothing where nothing was found, else with what was known before. */
function some(
  part: keyof Evidence,
  found: object | null,
  before: object,
): Partial<Record<keyof Evidence, unknown>> {
  return found === null || Object.keys(found).length === 0 ? {} : { [part]: { ...before, ...found } };
}

/** The newest run of each bench. */
function benchOf(folder: string): Readonly<Record<string, BenchRun>> {
  const newest: Record<string, BenchRun> = {};
  for (const path of globSync(join(folder, '*.json')).toSorted()) {
    const { at, commit, cpu, cores, node, results } = readJson(path) as {
      readonly at: string;
      readonly commit?: string | null;
      readonly cpu: string;
      readonly cores: number;
      readonly node: string;
      readonly results: readonly Result[];
    };
    for (const [name, own] of Map.groupBy(results, ({ name: full }) => full.split(':', 1)[0] ?? ''))
      newest[name] = {
        at,
        commit: commit ?? null,
        machine: `${cpu}, ${cores} cores, node ${node}`,
        results: own.map((result) => ({ ...result, name: result.name.slice(name.length + 2) })),
      };
  }
  return newest;
}

function kitOf(path: string): KitResult | null {
  return readJson(path) as KitResult | null;
}

/** @param folder one folder for each target, with the suite's own folders in it */
function suitesOf(folder: string): Readonly<Record<string, SuiteRun>> {
  const runs: Record<string, SuiteRun> = {};
  for (const target of globSync(join(folder, '*')).toSorted()) {
    const files = globSync(join(target, 'server-*/checks.json')).toSorted();
    const checks = files.map((path) => ({
      name: basename(dirname(path))
        .replace(/^server-/, '')
        .replace(/-\d{4}-\d\d-\d\dT.*$/, ''),
      checks: readJson(path) as readonly { readonly status: string; readonly timestamp: string }[],
    }));
    const times = checks.flatMap(({ checks: own }) => own.map(({ timestamp }) => timestamp)).toSorted();
    if (times[0] === undefined) continue;
    runs[basename(target)] = {
      at: times[0],
      suite: versionOf('@modelcontextprotocol/conformance'),
      scenarios: checks.map(({ name, checks: own }) => ({
        name,
        statuses: Object.fromEntries(
          [...Map.groupBy(own, ({ status }) => status)]
            .map(([status, { length }]) => [status, length] as const)
            .toSorted(([a], [b]) => a.localeCompare(b)),
        ),
      })),
    };
  }
  return runs;
}

function versionOf(name: string): string {
  const path = join(import.meta.dirname, '../../node_modules', name, 'package.json');
  return `${name} ${(readJson(path) as { readonly version: string } | null)?.version ?? 'not installed'}`;
}

function testsOf(inputs: string): Readonly<Record<string, TestRun>> {
  const runs: Record<string, TestRun> = {};
  for (const path of globSync(join(inputs, 'tests*.json')).toSorted()) {
    const { stats } = readJson(path) as {
      readonly stats: Omit<TestRun, 'at' | 'duration_ms'> & {
        readonly start: string;
        readonly duration: number;
      };
    };
    const { suites, passes, failures, pending, start, duration } = stats;
    runs[basename(path, '.json')] = { at: start, suites, passes, failures, pending, duration_ms: duration };
  }
  return runs;
}

interface Bom {
  readonly components: readonly {
    readonly name: string;
    readonly version?: string;
    readonly licenses?: readonly {
      readonly license?: { readonly id?: string; readonly name?: string };
      readonly expression?: string;
    }[];
  }[];
}

/** The bill of materials that the package was made with, if it is there, else npm's own of the lock file. */
function packagesOf({ root, inputs }: Places): Packages {
  const given = join(inputs, 'sbom.json');
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const bom = (
    existsSync(given)
      ? readJson(given)
      : JSON.parse(
          execFileSync('npm', words, {
            cwd: root,
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'ignore'],
          }),
        )
  ) as Bom;
  const components = bom.components.map(({ name, version, licenses }) => ({
    name,
    version: version ?? '',
    licenses:
      licenses
        ?.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '')
        .filter((text) => text !== '')
        .join(', ') ?? '',
  }));
  return {
    sha256: createHash('sha256').update(JSON.stringify(bom.components)).digest('hex'),
    components: components.toSorted((a, b) =>
      `${a.name} ${a.version}`.localeCompare(`${b.name} ${b.version}`, 'en'),
    ),
  };
}

function readJson(path: string): unknown {
  return existsSync(path) && statSync(path).isFile()
    ? (JSON.parse(readFileSync(path, 'utf8')) as unknown)
    : null;
}
