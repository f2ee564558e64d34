import type { FromSchema } from 'json-schema-to-ts';
import type { MANIFEST_SCHEMA } from './manifest-schema.ts';
import type { AgentHalf, GcsHalf, Manifest, McpContributions, Permission } from './manifest-types.ts';

/** A manifest that fits the schema, without its defaults. */
export type RawManifest = FromSchema<typeof MANIFEST_SCHEMA>;
type RawAgent = NonNullable<RawManifest['agent']>;
type RawGcs = NonNullable<RawManifest['gcs']>;

const INFORMATION = [
  'hardware_requirements',
  'resource_impact',
  'required_fc_parameters',
  'screenshots',
  'extra',
] as const;
const NO_MCP: McpContributions = { tools: [], resources: [], prompts: [] };
const RESOURCES = { max_ram_mb: 96, max_cpu_percent: 25, max_pids: 12 } as const;
/** Below this version of the schema, tools, resources and prompts have another meaning. */
const MCP_SCHEMA = 3;

/** Fills in every default. */
export function normalise(raw: RawManifest): Manifest {
  const schema = raw.schema_version ?? 1;
  const { compatibility } = raw;
  return {
    schema_version: schema,
    id: raw.id,
    version: raw.version,
    name: raw.name === undefined || raw.name === '' ? raw.id : raw.name,
    description: raw.description ?? '',
    description_long: raw.description_long ?? null,
    author: raw.author ?? '',
    license: raw.license ?? '',
    homepage: raw.homepage ?? null,
    documentation_url: raw.documentation_url ?? null,
    risk: raw.risk ?? 'medium',
    compatibility: {
      svc_version: compatibility.svc_version,
      gcs_version: compatibility.gcs_version ?? null,
      supported_boards: boards(compatibility.supported_boards ?? []),
      min_tier: compatibility.min_tier ?? null,
    },
    features: raw.features ?? [],
    telemetry_fields: raw.telemetry_fields ?? [],
    info: Object.fromEntries(
      INFORMATION.flatMap((name) => (raw[name] === undefined ? [] : [[name, raw[name]]])),
    ),
    settings: raw.settings ?? null,
    agent: raw.agent === undefined || raw.agent === null ? null : agentOf(raw.agent, schema >= MCP_SCHEMA),
    gcs: raw.gcs === undefined || raw.gcs === null ? null : gcsOf(raw.gcs, schema >= MCP_SCHEMA),
  };
}

function boards(names: readonly string[]): readonly string[] {
  return names.includes('*') ? [] : names;
}

function agentOf(raw: RawAgent, withMcp: boolean): AgentHalf {
  const runtime = raw.runtime ?? 'python';
  const { max_ram_mb, max_cpu_percent, max_pids } = { ...RESOURCES, ...raw.resources };
  return {
    entrypoint: raw.entrypoint,
    runtime: runtime === 'rust' ? 'binary' : runtime,
    permissions: permissionsOf(raw.permissions ?? []),
    resources: { max_ram_mb, max_cpu_percent, max_pids },
    contributes: withMcp ? mcpOf(raw.contributes) : NO_MCP,
    listen_ports: raw.listen_ports ?? [],
    mavlink_components: (raw.mavlink_components ?? []).map(({ component_id, component_kind }) => ({
      component_id,
      component_kind,
    })),
    subprocess_spawn: raw.subprocess_spawn ?? [],
    per_drone_config: raw.per_drone_config ?? false,
    target_profiles: [...new Set((raw.target_profiles ?? ['drone']).map((name) => name.replace('_', '-')))],
    binaries: raw.binaries ?? {},
    test_fixtures: raw.test_fixtures ?? {},
    http: raw.http ?? false,
  };
}

function gcsOf(raw: RawGcs, withMcp: boolean): GcsHalf {
  const { tools: _tools, resources: _resources, prompts: _prompts, ...ui } = raw.contributes ?? {};
  return {
    entrypoint: raw.entrypoint,
    permissions: permissionsOf(raw.permissions ?? []),
    locales: raw.locales ?? [],
    contributes: { ...(withMcp ? mcpOf(raw.contributes) : NO_MCP), ui },
  };
}

function permissionsOf(raw: NonNullable<RawAgent['permissions']>): Permission[] {
  return raw.map((item) =>
    typeof item === 'string'
      ? { id: item, required: true, degraded_behavior: null }
      : {
          id: item.id,
          required: item.required ?? true,
          degraded_behavior: item.degraded_behavior ?? null,
        },
  );
}

function mcpOf(raw: RawAgent['contributes'] | RawGcs['contributes']): McpContributions {
  return {
    tools: (raw?.tools ?? []).map((tool) => ({
      name: tool.name,
      title: tool.title ?? null,
      description: tool.description ?? '',
      inputSchema: tool.inputSchema ?? { type: 'object' },
      safety_class: tool['safety_class'],
    })),
    resources: raw?.resources ?? [],
    prompts: raw?.prompts ?? [],
  };
}
