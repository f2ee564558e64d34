import semver from 'semver';
import { compileValidator, createAjv, lazyValidator, type Violation } from '../schemas/validator.ts';
import { isArchivePath } from './archive-paths.ts';
import { type Category, capabilityOf, type Half, type Risk, riskReason } from './capabilities.ts';
import { checkManifest } from './manifest-checks.ts';
import { normalise, type RawManifest } from './manifest-normal.ts';
import { readOlderNames } from './manifest-older.ts';
import { MANIFEST_SCHEMA } from './manifest-schema.ts';
import { readManifestText } from './manifest-text.ts';
import type { Manifest, ReadManifest } from './manifest-types.ts';

export type * from './manifest-types.ts';

const MAX_VIOLATIONS = 50;

const validate = lazyValidator(() => {
  const ajv = createAjv();
  ajv.addFormat('path-in-archive', isArchivePath);
  ajv.addFormat('semantic-version', (text) => semver.valid(text) === text);
  ajv.addFormat('version-range', (text) => rangeOf(text) !== null);
  ajv.addFormat('command-line', isCommandLine);
  return compileValidator(ajv, MANIFEST_SCHEMA);
});

/**
 * Reads a `manifest.yaml`: every violation at once, each with a JSON Pointer, and what is only odd as warnings (sentences).
 * Never throws.
 */
export function parseManifest(text: string): ReadManifest {
  const read = readManifestText(text);
  if (read.violations.length > 0) return { manifest: null, violations: read.violations, warnings: [] };
  const { value } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return {
      manifest: null,
      violations: [{ path: '', message: 'must be a map with id, version and so on' }],
      warnings: [],
    };
  const warnings = readOlderNames(value as Record<string, unknown>);
  const checked = checkManifest(value);
  const violations: Violation[] = [...(validate(value) ?? []), ...checked.violations].slice(
    0,
    MAX_VIOLATIONS,
  );
  warnings.push(...checked.warnings);
  return {
    manifest: violations.length > 0 ? null : normalise(value as RawManifest),
    violations,
    warnings,
  };
}

export interface RequestedPermission {
  readonly id: string;
  readonly required: boolean;
  readonly half: Half;
  readonly label: string;
  readonly category: Category;
  readonly risk: Risk;
  readonly risk_reason: string;
}

/** What both halves ask for, for a person to decide about. */
export function requestedPermissions(manifest: Manifest): RequestedPermission[] {
  const halves = [
    ['agent', manifest.agent],
    ['gcs', manifest.gcs],
  ] as const;
  return halves.flatMap(([half, part]) =>
    (part?.permissions ?? []).map(({ id, required }) => {
      const known = capabilityOf(id, half);
      return known === null
        ? {
            id,
            required,
            half,
            label: 'is not known to this node, and cannot be granted',
            category: 'plugin' as const,
            risk: 'high' as const,
            risk_reason: 'Nobody here knows what it means.',
          }
        : {
            id,
            required,
            half,
            label: known.label,
            category: known.category,
            risk: known.risk,
            risk_reason: riskReason(known),
          };
    }),
  );
}

/** Whether this version of the node is one that the manifest names. What follows a hyphen in the version does not count. */
export function svcVersionFits(manifest: Manifest, version: string): boolean {
  const range = rangeOf(manifest.compatibility.svc_version);
  const parsed = semver.parse(version);
  if (range === null || parsed === null) return false;
  return semver.satisfies(`${parsed.major}.${parsed.minor}.${parsed.patch}`, range);
}

/** `>=1.0, <2` as the library writes it; null when it cannot be read. */
function rangeOf(text: string): string | null {
  const parts = text.split(',').map((part) => part.trim().replace(/^==/, '='));
  return parts.includes('') ? null : semver.validRange(parts.join(' '));
}

/** No shell reads it, but systemd's own prefixes and separators would change what runs. */
function isCommandLine(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[\u0000-\u001f\u007f]/.test(text) && !/^\s*[-@:+!|]/.test(text) && !/(?:^|\s);(?:\s|$)/.test(text);
}
