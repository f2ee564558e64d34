import semver from 'semver';
import { isRecord } from '../member.ts';
import type { Made } from '../schemas/made.ts';
import type { permission } from '../schemas/plugins.ts';
import { compileValidator, createAjv, lazyValidator, type Violation } from '../schemas/validator.ts';
import { isArchivePath } from './archive-paths.ts';
import { capabilityOf, type Half, riskReason } from './capabilities.ts';
import { checkManifest } from './manifest-checks.ts';
import { normalise, type RawManifest } from './manifest-normal.ts';
import { readOlderNames } from './manifest-older.ts';
import { MANIFEST_SCHEMA } from './manifest-schema.ts';
import { readManifestText } from './manifest-text.ts';
import type { Manifest, ReadManifest } from './manifest-types.ts';
import { notOffered } from './not-offered.ts';

export type * from './manifest-types.ts';

const MAX_VIOLATIONS = 50;

const validate = lazyValidator(() => {
  const ajv = createAjv();
  ajv.addFormat('path-in-archive', isArchivePath);
  ajv.addFormat('semantic-version', (text) => semver.valid(text) === text);
  ajv.addFormat('version-range', (text) => rangeOf(text) !== null);
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
  if (!isRecord(value))
    return {
      manifest: null,
      violations: [{ path: '', message: 'must be a map with id, version and so on' }],
      warnings: [],
    };
  const warnings = readOlderNames(value);
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

export type RequestedPermission = Made<typeof permission>;

/** What its halves ask for, for a person to decide about: each once, since there is one grant for both. */
export function requestedPermissions(manifest: Manifest): RequestedPermission[] {
  const asked = new Map<string, RequestedPermission>();
  for (const half of ['agent', 'gcs'] as const)
    for (const { id, required } of manifest[half]?.permissions ?? []) {
      const before = asked.get(id);
      asked.set(id, {
        ...describe(id, half),
        ...before,
        required: required || before?.required === true,
        halves: [...(before?.halves ?? []), half],
      });
    }
  return [...asked.values()];
}

function describe(id: string, half: Half): Omit<RequestedPermission, 'required' | 'halves'> {
  const known = capabilityOf(id, half);
  if (known === null)
    return {
      id,
      available: false,
      label: 'is not offered by this node, and cannot be granted',
      category: 'plugin',
      risk: 'high',
      risk_reason: `Nobody is granted it: ${notOffered(id) ?? 'nobody here knows what it means'}.`,
    };
  const { label, category, risk } = known;
  return { id, available: true, label, category, risk, risk_reason: riskReason(known) };
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
