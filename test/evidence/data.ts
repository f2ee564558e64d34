import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../bench/result.ts';
import type { SoakReport } from '../soak/report.ts';

/**
 * What was measured, in files of its own below `docs/evidence/data`: the pages are made from these and from the code, so that
 * anybody can make them again.
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

/** What `svc-conformance --json` writes. */
export interface KitResult {
  readonly kit: string;
  readonly node: { readonly version: string; readonly profile: string };
  readonly started_at: string;
  readonly passed: number;
  readonly failed: number;
  readonly not_run: number;
  readonly checks: readonly { readonly name: string; readonly result: string; readonly why: string | null }[];
}

/** A run of the MCP conformance suite. */
export interface SuiteRun {
  readonly at: string;
  readonly suite: string;
  /** How many checks of each scenario ended with which status. */
  readonly scenarios: readonly {
    readonly name: string;
    readonly statuses: Readonly<Record<string, number>>;
  }[];
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
  /** Of its components: the rest of the document differs each time that it is made. */
  readonly sha256: string;
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly licenses: string;
  }[];
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
