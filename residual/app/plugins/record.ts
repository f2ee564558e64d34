import type { FromSchema } from 'json-schema-to-ts';
import semver from 'semver';
import { isCapability } from '../../../shared/plugins/capabilities.ts';
import { PluginRefusal } from '../../../shared/plugins/refusal.ts';
import { record, STATUSES } from '../../../shared/schemas/plugins.ts';

/** What the node keeps of each installed extension, in `plugin-state.json`. */

export type InstallRecord = FromSchema<typeof record>;
export type Status = (typeof STATUSES)[number];
export type Grants = InstallRecord['permissions'];

export interface StateFile {
  readonly schema: 1;
  readonly installs: readonly (InstallRecord & Partial<typeof RETIRED>)[];
}

/** Members that mean nothing. They stay in the file for the sake of version 1.0.0, which reads none without them, after a return to it. */
export const RETIRED = {
  auto_update: true,
  pinned_version: null,
  last_update_check_at: null,
  last_update_attempt: null,
  reenable_pending: false,
  model_status: null,
  service_status: null,
} as const;

export const stateFile = {
  type: 'object',
  required: ['schema', 'installs'],
  properties: {
    schema: { const: 1 },
    installs: {
      type: 'array',
      maxItems: 256,
      items: {
        ...record,
        properties: {
          ...record.properties,
          ...Object.fromEntries(Object.keys(RETIRED).map((name) => [name, {}])),
        },
      },
    },
  },
} as const;

/** The permissions that are granted at the moment, as far as this version offers them. */
export function grantedOf({ permissions }: Pick<InstallRecord, 'permissions'>): ReadonlySet<string> {
  return new Set(
    Object.keys(permissions).filter((id) => permissions[id]?.granted === true && isCapability(id)),
  );
}

/** Whether it should run, when the node starts: a failed one waits for a person. */
export function isOn({ status }: InstallRecord): boolean {
  return status === 'enabled' || status === 'running';
}

export function granting(permissions: readonly string[], at: number): Grants {
  return Object.fromEntries(
    permissions.map((id) => [id, { granted: true, granted_at: at, revoked_at: null }]),
  );
}

/** @throws PluginRefusal for an older version and another signer */
export function checkReplaces(old: InstallRecord, version: string, signer: string | null): void {
  if (semver.lt(version, old.version))
    throw new PluginRefusal(
      'host_io_error',
      `${old.version} is installed, and ${version} is older. Remove it first, if you want the older one.`,
    );
  if (old.signer_id !== signer)
    throw new PluginRefusal(
      'refused',
      `What is installed was signed by ${old.signer_id ?? 'nobody'}, this by ${signer ?? 'nobody'} (signer_change). Remove it first, if you trust the new one.`,
    );
}
