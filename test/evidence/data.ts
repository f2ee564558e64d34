import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../bench/result.ts';
import type { SoakReport } from '../soak/report.ts';

/**
 * What was measured, in files of its own below `docs/evidence/data`: the page is made from these and from the code, so that
 * anybody can make it again.
 */
export interface Evidence {
  readonly made: Made | null;
  readonly soak: Omit<SoakReport, 'history'> | null;
  /** By the name of the bench. */
  readonly bench: Readonly<Record<string, BenchRun>> | null;
  readonly 'svc-conformance': KitResult | null;
  /** By what the connector speaks for. */
  readonly 'mcp-conformance': Readonly<Record<string, SuiteRun>> | null;
  /** By the name of the file. */
  readonly tests: Readonly<Record<string, TestRun>> | null;
  readonly packages: Packages | null;
}

/** When the files were put together. */
export interface Made {
  readonly at: string;
  readonly commit: string | null;
  readonly machine: Readonly<Record<string, string | number>>;
}

export interface BenchRun {
  readonly at: string;
  /** Null: its file does not say. */
  readonly commit: string | null;
  readonly machine: string;
  readonly results: readonly Result[];
}

/** What `svc-conformance --json` writes, without each of its checks. */
export interface KitResult {
  readonly kit: string;
  readonly node: { readonly version: string; readonly profile: string };
  readonly started_at: string;
  readonly passed: number;
  readonly failed: number;
  readonly not_run: number;
}

/** A run of the MCP conformance suite. */
export interface SuiteRun {
  readonly at: string;
  readonly suite: string;
  readonly scenarios: number;
  /** How many checks ended with which status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** The numbers of mocha's JSON report. */
export interface TestRun {
  readonly at: string;
  readonly suites: number;
  readonly passes: number;
  readonly failures: number;
  readonly pending: number;
  readonly duration_ms: number;
}

/** What a bill of materials (CycloneDX) lists. */
export interface Packages {
  /** SHA-256 of the lock file that it is of. */
  readonly lock: string;
  readonly components: number;
  /** How many have which licence. */
  readonly licenses: Readonly<Record<string, number>>;
}

export const PARTS = [
  'made',
  'soak',
  'bench',
  'svc-conformance',
  'mcp-conformance',
  'tests',
  'packages',
] as const satisfies readonly (keyof Evidence)[];

/** @param folder `docs/evidence/data` */
export function readEvidence(folder: string): Evidence {
  const parts = PARTS.map((part) => {
    const path = join(folder, `${part}.json`);
    return [part, existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as unknown) : null];
  });
  return Object.fromEntries(parts);
}
