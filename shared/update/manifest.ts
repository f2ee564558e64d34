import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from '../schemas/json-schema.ts';

/** The machines that there are packages for, as Debian calls them. */
export const ARCHES = ['amd64', 'arm64'] as const;
export type Arch = (typeof ARCHES)[number];

/** The name of a version: semantic, and safe as the name of a folder. */
const VERSION_PATTERN =
  '^(0|[1-9]\\d{0,5})\\.(0|[1-9]\\d{0,5})\\.(0|[1-9]\\d{0,5})(-[0-9A-Za-z][0-9A-Za-z.-]{0,31})?$';

export const MIB = 1024 * 1024;
const MAX_ENTRIES = 60_000;
const MAX_MANIFEST_BYTES = 16 * MIB;
const MAX_UNPACKED_BYTES = 1024 * MIB;

/**
 * `header.json` of an update bundle: how much there is to read. A bundle is a zip archive of `header.json`, `header.json.minisig`
 * (a signature of minisign over exactly those bytes), `manifest.json`, in this order and not compressed, and the tree of the version
 * below `tree/`; symbolic links are entries of that mode.
 */
export const HEADER_SCHEMA = {
  type: 'object',
  required: ['format', 'entries', 'unpacked_bytes', 'manifest'],
  properties: {
    format: { const: 2 },
    entries: { type: 'integer', minimum: 3, maximum: MAX_ENTRIES, description: 'of the archive' },
    unpacked_bytes: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_UNPACKED_BYTES,
      description: 'of the files of the tree together',
    },
    manifest: {
      type: 'object',
      required: ['bytes', 'sha256'],
      properties: {
        bytes: { type: 'integer', minimum: 1, maximum: MAX_MANIFEST_BYTES },
        sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
export type Header = FromSchema<typeof HEADER_SCHEMA>;

/** `manifest.json` of an update bundle, which its header vouches for. */
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
