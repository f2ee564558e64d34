import { formerly, type JsonSchema } from './json-schema.ts';
import { logQuery as nodeLogQuery } from './logs.ts';
import { forceQuery } from './no-body.ts';

/** Bodies of the extension routes (docs/contract/extensions.md). Times are Unix time in ms. */

const text = { type: 'string' } as const satisfies JsonSchema;
const textOrNull = { type: ['string', 'null'] } as const satisfies JsonSchema;
const time = { type: ['integer', 'null'], description: 'ms since 1970' } as const satisfies JsonSchema;
const yes = { const: true } as const satisfies JsonSchema;
const free = { type: 'object' } as const satisfies JsonSchema;
const names = { type: 'array', items: text } as const satisfies JsonSchema;

export const STATUSES = ['installed', 'enabled', 'running', 'disabled', 'failed', 'incompatible'] as const;
const SANDBOXES = ['systemd', 'bwrap', 'none'] as const;

/** What the node keeps of one extension, and shows of it. */
export const record = {
  title: 'Extension',
  type: 'object',
  required: [
    'plugin_id',
    'version',
    'manifest_hash',
    'source',
    'source_uri',
    'signer_id',
    'status',
    'installed_at',
    'enabled_at',
    'failure_reason',
    'last_words',
    'sandbox',
    'permissions',
  ],
  properties: {
    plugin_id: text,
    version: text,
    manifest_hash: { type: 'string', description: 'SHA-256 of manifest.yaml' },
    source: { enum: ['local_file', 'git_url', 'registry'] },
    source_uri: textOrNull,
    signer_id: { ...textOrNull, description: 'the verified signer; null: none' },
    status: { enum: STATUSES },
    installed_at: { type: 'integer', description: 'ms since 1970' },
    enabled_at: time,
    failure_reason: {
      ...textOrNull,
      description: 'why the node stopped or refused it, such as `tampered: <path>` or `signer_revoked`',
    },
    last_words: { ...names, description: 'the last lines of its stderr before it last ended by itself' },
    sandbox: { enum: [...SANDBOXES, null], description: 'the sandbox it last ran in' },
    permissions: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['granted', 'granted_at', 'revoked_at'],
        properties: { granted: { type: 'boolean' }, granted_at: time, revoked_at: time },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const installs = {
  title: 'ExtensionList',
  type: 'object',
  required: ['plugins', 'installs'],
  properties: {
    plugins: { type: 'array', items: record },
    installs: formerly({ type: 'array', items: record }, '`plugins`'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const permission = {
  title: 'ExtensionPermission',
  type: 'object',
  required: ['id', 'required', 'halves', 'available', 'label', 'category', 'risk', 'risk_reason'],
  properties: {
    id: text,
    required: { type: 'boolean' },
    halves: { type: 'array', items: { enum: ['agent', 'gcs'] }, description: 'the halves that ask for it' },
    available: {
      type: 'boolean',
      description: 'false: this node does not offer it, and nobody can grant it',
    },
    label: { type: 'string', description: 'what it allows, in words' },
    category: text,
    risk: { enum: ['low', 'medium', 'high', 'critical'] },
    risk_reason: text,
  },
} as const satisfies JsonSchema;
const permissions = { type: 'array', items: permission } as const satisfies JsonSchema;
const contributions = { type: 'array', items: free } as const satisfies JsonSchema;
const tools = {
  type: 'array',
  items: {
    type: 'object',
    required: ['name', 'class'],
    properties: { name: text, class: { ...text, description: 'the scope that a call needs' } },
  },
} as const satisfies JsonSchema;

export const detail = {
  title: 'ExtensionDetail',
  type: 'object',
  required: ['install', 'granted_capabilities', 'manifest', 'settings'],
  properties: {
    install: record,
    granted_capabilities: names,
    manifest: {
      type: ['object', 'null'],
      description: 'null: its files cannot be read; failure_reason says why',
      required: [
        'id',
        'version',
        'name',
        'risk',
        'license',
        'halves',
        'gcs',
        'settings',
        'permissions',
        'mcp',
      ],
      properties: {
        id: text,
        version: text,
        name: text,
        description: text,
        author: text,
        risk: text,
        license: text,
        http: { type: 'boolean', description: 'it serves its own API under /x/' },
        halves: names,
        gcs: {
          type: ['object', 'null'],
          required: ['entrypoint', 'contributes', 'locales'],
          properties: { entrypoint: text, contributes: free, locales: names },
        },
        settings: { type: ['object', 'null'], description: 'JSON Schema of its settings' },
        permissions,
        mcp: {
          type: 'object',
          required: ['tools', 'resources', 'prompts'],
          properties: { tools, resources: contributions, prompts: contributions },
          additionalProperties: false,
        },
      },
    },
    settings: {
      type: 'object',
      description: 'the settings named in its manifest that are set; `writeOnly` ones as ***',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const about = {
  ok: yes,
  plugin_id: text,
  version: text,
  signer_id: textOrNull,
  risk: text,
} as const;

export const parsed = {
  title: 'ExtensionParsed',
  type: 'object',
  required: [
    'ok',
    'plugin_id',
    'version',
    'name',
    'signer_id',
    'signed',
    'signature_problem',
    'halves',
    'permissions',
    'warnings',
  ],
  properties: {
    ...about,
    name: text,
    description: text,
    author: text,
    license: text,
    signed: { type: 'boolean', description: 'by a signer that this node trusts' },
    signature_problem: { ...textOrNull, description: 'why it would not be installed' },
    halves: names,
    permissions,
    warnings: names,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const installed = {
  title: 'ExtensionInstalled',
  type: 'object',
  required: ['ok', 'plugin_id', 'version', 'signer_id', 'risk', 'permissions_requested', 'granted', 'job_id'],
  properties: {
    ...about,
    permissions_requested: names,
    granted: names,
    job_id: textOrNull,
    sha256: { type: 'string', description: 'of an archive downloaded from a URL' },
    warnings: names,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const permissionIds = {
  type: 'array',
  maxItems: 128,
  items: { type: 'string', maxLength: 128 },
  description: 'permissions to grant at once',
} as const satisfies JsonSchema;

export const installQuery = {
  type: 'object',
  properties: {
    job_id: {
      type: 'string',
      pattern: '^[A-Za-z0-9._-]{1,128}$',
      description: "the caller's own name for it, returned in the answer",
    },
    requested_permissions: {
      type: 'string',
      examples: ['telemetry.read'],
      maxLength: 4096,
      description: 'permissions to grant, comma-separated',
    },
    force: forceQuery,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const installFromUrl = {
  title: 'ExtensionInstallRequest',
  examples: [
    {
      url: 'https://github.com/example/extension/releases/download/v1/extension.svcplug',
      expected_sha256: '9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f',
    },
  ],
  type: 'object',
  required: ['url', 'expected_sha256'],
  properties: {
    url: { type: 'string', maxLength: 2048 },
    expected_sha256: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
    requested_permissions: permissionIds,
    job_id: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const grantRequest = {
  title: 'ExtensionGrantRequest',
  examples: [{ permission_id: 'telemetry.read' }],
  type: 'object',
  required: ['permission_id'],
  properties: { permission_id: { type: 'string', minLength: 1, maxLength: 128 } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const done = {
  title: 'ExtensionDone',
  type: 'object',
  required: ['ok'],
  properties: { ok: yes },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const revoked = {
  title: 'ExtensionRevoked',
  type: 'object',
  required: ['ok', 'plugin_id', 'granted', 'requires_restart'],
  properties: { ok: yes, plugin_id: text, granted: names, requires_restart: { const: false } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const removeQuery = {
  type: 'object',
  properties: {
    keep_data: {
      enum: ['1', 'true', 't', 'yes', 'y', 'on', '0', 'false', 'f', 'no', 'n', 'off'],
      description: 'whether its stored data stays',
    },
    force: forceQuery,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const configWrite = {
  title: 'ExtensionConfigRequest',
  examples: [{ key: 'interval_s', value: 5, scope: 'drone' }],
  type: 'object',
  required: ['key', 'value'],
  properties: {
    key: { type: 'string', minLength: 1, maxLength: 128 },
    value: { description: 'any JSON; null removes the key' },
    scope: { enum: ['drone', 'global'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const configWritten = {
  title: 'ExtensionConfigAnswer',
  type: 'object',
  required: ['set', 'plugin_id', 'key', 'scope'],
  properties: { set: yes, plugin_id: text, key: text, scope: { enum: ['drone', 'global'] } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const state = {
  title: 'ExtensionState',
  type: 'object',
  description: 'by topic, not older than 10 s',
  additionalProperties: {
    type: 'object',
    required: ['payload', 'ts_ms'],
    properties: { payload: true, ts_ms: { type: 'integer' } },
    additionalProperties: false,
  },
} as const satisfies JsonSchema;

export const readiness = {
  title: 'ExtensionReadiness',
  type: 'object',
  required: ['ok', 'plugin_id', 'services'],
  properties: {
    ok: yes,
    plugin_id: text,
    services: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'ready', 'reason'],
        properties: { name: text, ready: { type: 'boolean' }, reason: textOrNull },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const { service: _service, ...ofOne } = nodeLogQuery.properties;
/** As GET /api/logs, of one extension. */
export const logQuery = {
  type: 'object',
  properties: ofOne,
  additionalProperties: false,
} as const satisfies JsonSchema;

export const invoke = {
  title: 'ExtensionToolRequest',
  examples: [{ arguments: { count: 3 }, timeout_ms: 5000 }],
  type: 'object',
  properties: {
    arguments: { type: 'object' },
    timeout_ms: { type: 'integer', minimum: 1, maximum: 25_000 },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const invoked = {
  title: 'ExtensionToolAnswer',
  type: 'object',
  required: ['plugin_id', 'tool', 'result'],
  properties: { plugin_id: text, tool: text, result: true },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The answer for an extension that does not serve HTTP. */
export const notServing = {
  title: 'ExtensionNotServing',
  type: 'object',
  required: ['detail'],
  properties: { detail: text },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** Every refusal of a lifecycle route; numbers and kinds are in shared/plugins/refusal.ts, words in shared/errors.ts. */
export const refusal = {
  title: 'LifecycleRefusal',
  type: 'object',
  required: ['ok', 'code', 'kind', 'detail', 'error'],
  properties: {
    ok: { const: false },
    code: { type: 'integer' },
    kind: text,
    detail: text,
    error: text,
  },
} as const satisfies JsonSchema;
