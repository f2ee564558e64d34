import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from '../schemas/json-schema.ts';

/** The machines that there are packages for, as Debian calls them. */
export const ARCHES = ['amd64', 'arm64'] as const;
export type Arch = (typeof ARCHES)[number];

/** The name of a version: semantic, and safe as the name of a folder. */
const VERSION_PATTERN =
  '^(0|[1-9]\\d{0,5})\\.(0|[1-9]\\d{0,5})\\.(0|[1-9]\\d{0,5})(-[0-9A-Za-z][0-9A-Za-z.-]{0,31})?$';

/**
 * `manifest.json` of an update bundle. A bundle is a zip archive of `manifest.json`, `manifest.json.minisig` (a signature of
 * minisign over exactly those bytes) and the tree of the version below `tree/`; symbolic links are entries of that mode.
 */
export const MANIFEST_SCHEMA = {
  type: 'object',
  required: ['product', 'version', 'arch', 'security_floor', 'files'],
  properties: {
    product: { const: 'svc' },
    version: { type: 'string', pattern: VERSION_PATTERN },
    arch: { enum: ARCHES },
    security_floor: {
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000,
      description: 'no version with a lower one is installed after this one',
    },
    files: {
      type: 'object',
      description: 'each file of the tree: SHA-256 in hex, mode; or where a symbolic link points to',
      additionalProperties: {
        oneOf: [
          {
            type: 'object',
            required: ['sha256', 'mode'],
            properties: {
              sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
              mode: { enum: [0o644, 0o755] },
            },
            additionalProperties: false,
          },
          {
            type: 'object',
            required: ['link'],
            properties: { link: { type: 'string', minLength: 1, maxLength: 255 } },
            additionalProperties: false,
          },
        ],
      },
    },
    keys: {
      type: 'object',
      description: 'public keys that may sign the bundles after this one, by file name',
      additionalProperties: { type: 'string', maxLength: 1024 },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
export type Manifest = FromSchema<typeof MANIFEST_SCHEMA>;
