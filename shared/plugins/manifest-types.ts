import type { JsonObject } from '../member.ts';
import type { Violation } from '../schemas/validator.ts';
import type { Risk } from './capabilities.ts';
import type { ComponentKind } from './mavlink-kinds.ts';

/** A manifest with every default filled in. */
export interface Manifest {
  readonly schema_version: 1 | 2 | 3;
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  readonly description_long: string | null;
  readonly author: string;
  readonly license: string;
  readonly homepage: string | null;
  readonly documentation_url: string | null;
  readonly risk: Risk;
  readonly compatibility: {
    /** As written; `svcVersionFits` reads it. */
    readonly svc_version: string;
    readonly gcs_version: string | null;
    /** Empty for every board. */
    readonly supported_boards: readonly string[];
    readonly min_tier: number | null;
  };
  readonly features: readonly string[];
  readonly telemetry_fields: readonly string[];
  /** What only informs: hardware_requirements, resource_impact, required_fc_parameters, screenshots, extra. */
  readonly info: JsonObject;
  /** JSON Schema of its settings, an object; for the form in the page. */
  readonly settings: SettingsSchema | null;
  readonly agent: AgentHalf | null;
  readonly gcs: GcsHalf | null;
}

export interface SettingsSchema {
  readonly properties: Readonly<Record<string, JsonObject>>;
}

export interface Permission {
  readonly id: string;
  readonly required: boolean;
  /** What the extension does without it, in its author's words. */
  readonly degraded_behavior: string | null;
}

export interface McpContributions {
  readonly tools: readonly McpTool[];
  readonly resources: readonly JsonObject[];
  readonly prompts: readonly (JsonObject & { readonly name: string })[];
}

interface McpTool {
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** As declared; `toolClass` decides. */
  readonly safety_class: unknown;
}

export interface AgentHalf {
  /** A path in the archive; for `python` also `module:Class`, for `binary` also `bin:<name>`. */
  readonly entrypoint: string;
  readonly runtime: 'node' | 'binary' | 'python';
  readonly permissions: readonly Permission[];
  readonly resources: {
    readonly max_ram_mb: number;
    readonly max_cpu_percent: number;
    readonly max_pids: number;
  };
  readonly contributes: McpContributions;
  /** TCP ports on which it accepts connections. */
  readonly listen_ports: readonly number[];
  readonly mavlink_components: readonly {
    readonly component_id: number;
    readonly component_kind: ComponentKind;
  }[];
  /** Names of programs in `agent/vendor/` that it may start. */
  readonly subprocess_spawn: readonly string[];
  readonly per_drone_config: boolean;
  readonly target_profiles: readonly string[];
  /** name -> `<arch>-<os>` -> path in the archive. */
  readonly binaries: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly test_fixtures: Readonly<Record<string, string>>;
  readonly http: boolean;
}

export interface GcsHalf {
  readonly entrypoint: string;
  readonly permissions: readonly Permission[];
  readonly locales: readonly string[];
  readonly contributes: McpContributions & {
    /** Panels, overlays, settings and the like, as written. */
    readonly ui: JsonObject;
  };
}

export interface ReadManifest {
  /** Null when there is any violation. */
  readonly manifest: Manifest | null;
  readonly violations: readonly Violation[];
  readonly warnings: readonly string[];
}
