/**
 * What a manifest may say, before defaults are filled in. Members that are not named are let through: the manifest says with a
 * warning that it does not know them, so that a manifest of a later version can still be read.
 */

const TEXT = { type: 'string', maxLength: 20_000 } as const;
const NAME = { type: 'string', minLength: 1, maxLength: 128 } as const;
const OPTIONAL_TEXT = { type: ['string', 'null'], maxLength: 20_000 } as const;
const TEXTS = { type: 'array', maxItems: 500, items: NAME } as const;
/** A path inside the archive. */
const FILE = { type: 'string', format: 'path-in-archive', maxLength: 240 } as const;

const PERMISSIONS = {
  type: 'array',
  maxItems: 100,
  items: {
    anyOf: [
      NAME,
      {
        type: 'object',
        required: ['id'],
        properties: { id: NAME, required: { type: 'boolean' }, degraded_behavior: OPTIONAL_TEXT },
      },
    ],
  },
} as const;

const RESOURCES = {
  type: 'object',
  properties: {
    class: { enum: ['standard', 'heavy'] },
    max_ram_mb: { type: 'integer', minimum: 8, maximum: 4096 },
    max_cpu_percent: { type: 'integer', minimum: 1, maximum: 100 },
    max_pids: { type: 'integer', minimum: 1, maximum: 256 },
  },
} as const;

/** Tools, resources and prompts for AI clients. The connector's character set for names. */
const MCP_NAME = { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,64}$' } as const;
const TOOLS = {
  type: 'array',
  maxItems: 64,
  items: {
    type: 'object',
    required: ['name'],
    properties: { name: MCP_NAME, title: TEXT, description: TEXT, inputSchema: { type: 'object' } },
  },
} as const;
const RESOURCE_LIST = {
  type: 'array',
  maxItems: 64,
  items: {
    type: 'object',
    properties: { name: MCP_NAME, title: TEXT, description: TEXT, uri: { type: 'string', maxLength: 512 } },
  },
} as const;
const PROMPTS = {
  type: 'array',
  maxItems: 64,
  items: { type: 'object', required: ['name'], properties: { name: MCP_NAME, description: TEXT } },
} as const;
const MCP = { tools: TOOLS, resources: RESOURCE_LIST, prompts: PROMPTS } as const;

const AGENT = {
  type: ['object', 'null'],
  required: ['entrypoint'],
  properties: {
    entrypoint: { type: 'string', minLength: 1, maxLength: 240 },
    isolation: { enum: ['subprocess', 'inprocess'] },
    runtime: { enum: ['python', 'rust', 'binary', 'node'] },
    permissions: PERMISSIONS,
    resources: RESOURCES,
    contributes: {
      type: 'object',
      properties: {
        ...MCP,
        services: { type: 'array' },
        drivers: { type: 'array' },
        vision: { type: 'object' },
      },
    },
    listen_ports: {
      type: 'array',
      maxItems: 16,
      uniqueItems: true,
      items: { type: 'integer', minimum: 1024, maximum: 65_535 },
    },
    mavlink_components: {
      type: 'array',
      maxItems: 16,
      items: {
        type: 'object',
        required: ['component_id', 'component_kind'],
        properties: {
          component_id: { type: 'integer', minimum: 0, maximum: 255 },
          component_kind: { enum: ['camera', 'gimbal', 'payload', 'peripheral', 'generic', 'vio'] },
        },
      },
    },
    contains_vendor_binary: { type: 'boolean' },
    vendor_attribution: {
      type: 'array',
      maxItems: 50,
      items: { type: 'object', required: ['license'], properties: { license: NAME } },
    },
    subprocess_spawn: {
      type: 'array',
      maxItems: 50,
      items: { type: 'string', pattern: '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$' },
    },
    per_drone_config: { type: 'boolean' },
    target_profiles: {
      type: 'array',
      minItems: 1,
      maxItems: 8,
      items: { enum: ['drone', 'ground-station', 'ground_station', 'workstation', 'compute'] },
    },
    binaries: {
      type: 'object',
      maxProperties: 32,
      propertyNames: { pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' },
      additionalProperties: {
        type: 'object',
        maxProperties: 16,
        propertyNames: { pattern: '^[a-z0-9_]+-[a-z0-9_]+$' },
        additionalProperties: FILE,
      },
    },
    test_fixtures: { type: 'object', maxProperties: 100, additionalProperties: FILE },
    payloads: { type: 'array' },
    http: { type: 'boolean' },
  },
} as const;

const GCS = {
  type: ['object', 'null'],
  required: ['entrypoint'],
  properties: {
    entrypoint: FILE,
    isolation: { enum: ['iframe', 'worker', 'inline'] },
    permissions: PERMISSIONS,
    locales: { type: 'array', maxItems: 100, items: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,35}$' } },
    contributes: { type: 'object', properties: MCP },
  },
} as const;

export const MANIFEST_SCHEMA = {
  type: 'object',
  required: ['id', 'version', 'compatibility'],
  properties: {
    schema_version: { enum: [1, 2, 3] },
    id: { type: 'string', pattern: '^[a-z0-9]+(\\.[a-z0-9-]+)+$', maxLength: 128 },
    version: { type: 'string', maxLength: 64, format: 'semantic-version' },
    name: { type: 'string', format: 'shown-name', maxLength: 128 },
    description: TEXT,
    author: TEXT,
    license: { type: 'string', maxLength: 128 },
    homepage: OPTIONAL_TEXT,
    risk: { enum: ['low', 'medium', 'high', 'critical'] },
    compatibility: {
      type: 'object',
      required: ['svc_version'],
      properties: {
        svc_version: { type: 'string', minLength: 1, maxLength: 128, format: 'version-range' },
        gcs_version: { type: ['string', 'null'], maxLength: 128 },
        supported_boards: TEXTS,
        min_tier: { type: ['integer', 'null'], minimum: 1, maximum: 4 },
      },
    },
    agent: AGENT,
    gcs: GCS,
    description_long: OPTIONAL_TEXT,
    documentation_url: { type: ['string', 'null'], maxLength: 1024, pattern: '^https://' },
    features: TEXTS,
    telemetry_fields: TEXTS,
    hardware_requirements: { type: 'object' },
    resource_impact: {
      type: 'object',
      properties: {
        cpu_percent_peak: { type: 'number', minimum: 0, maximum: 1000 },
        ram_mb: { type: 'number', exclusiveMinimum: 0 },
        pids: { type: 'number', exclusiveMinimum: 0 },
        startup_time_seconds: { type: 'number', exclusiveMinimum: 0 },
        output_rate_hz: { type: 'number', exclusiveMinimum: 0, maximum: 10_000 },
      },
    },
    required_fc_parameters: { type: 'object' },
    screenshots: {
      type: 'array',
      maxItems: 20,
      items: {
        type: 'object',
        required: ['url'],
        properties: { url: { type: 'string', maxLength: 1024 }, caption: OPTIONAL_TEXT },
      },
    },
    extra: { type: 'object' },
    settings: {
      type: ['object', 'null'],
      required: ['properties'],
      properties: {
        type: { const: 'object' },
        properties: {
          type: 'object',
          maxProperties: 100,
          propertyNames: { pattern: '^[A-Za-z0-9_-]{1,64}$' },
          additionalProperties: { type: 'object' },
        },
      },
    },
  },
} as const;
