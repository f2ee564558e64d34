import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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
  const told = readJson(path) as (KitResult & { readonly checks?: unknown }) | null;
  if (told === null) return null;
  const { checks: _checks, ...kit } = told;
  return kit;
}

/** @param folder one folder for each target, with the suite's own folders in it */
function suitesOf(folder: string): Readonly<Record<string, SuiteRun>> {
  const runs: Record<string, SuiteRun> = {};
  for (const target of globSync(join(folder, '*')).toSorted()) {
    const files = globSync(join(target, 'server-*/checks.json'));
    const checks = files.flatMap(
      (path) => readJson(path) as readonly { readonly status: string; readonly timestamp: string }[],
    );
    const [at] = checks.map(({ timestamp }) => timestamp).toSorted();
    if (at === undefined) continue;
    runs[basename(target)] = {
      at,
      suite: versionOf('@modelcontextprotocol/conformance'),
      scenarios: files.length,
      statuses: counted(checks.map(({ status }) => status)),
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
    readonly licenses?: readonly {
      readonly license?: { readonly id?: string; readonly name?: string };
      readonly expression?: string;
    }[];
  }[];
}

/** npm's own bill of materials of the lock file. */
function packagesOf({ root }: Places): Packages {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const { components } = JSON.parse(
    execFileSync('npm', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as Bom;
  const names = components.map(({ licenses = [] }) =>
    licenses
      .map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '')
      .filter((text) => text !== '')
      .join(', '),
  );
  return {
    lock: lockOf(root),
    components: components.length,
    licenses: counted(names.map((name) => name || 'not stated')),
  };
}

/** SHA-256 of the lock file. @param root of the clone */
export function lockOf(root: string): string {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

function counted(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...Map.groupBy(names, (name) => name)]
      .map(([name, { length }]) => [name, length] as const)
      .toSorted(([a], [b]) => a.localeCompare(b)),
  );
}

function readJson(path: string): unknown {
  return existsSync(path) && statSync(path).isFile()
    ? (JSON.parse(readFileSync(path, 'utf8')) as unknown)
    : null;
}
