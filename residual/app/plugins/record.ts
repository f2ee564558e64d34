import type { FromSchema } from 'json-schema-to-ts';
import { record, STATUSES } from '../../../shared/schemas/plugins.ts';

/** What the node keeps of each installed extension, in `plugin-state.json`. */

export type InstallRecord = FromSchema<typeof record>;
export type Status = (typeof STATUSES)[number];
export type Grants = InstallRecord['permissions'];

export interface StateFile {
  readonly schema: 1;
  readonly installs: readonly InstallRecord[];
}

export const stateFile = {
  type: 'object',
  required: ['schema', 'installs'],
  properties: { schema: { const: 1 }, installs: { type: 'array', maxItems: 256, items: record } },
} as const;

/** The permissions that are granted at the moment. */
export function grantedOf({ permissions }: Pick<InstallRecord, 'permissions'>): ReadonlySet<string> {
  return new Set(Object.keys(permissions).filter((id) => permissions[id]?.granted === true));
}

/** Whether it should run, when the node starts: a failed one waits for a person. */
export function isOn({ status }: InstallRecord): boolean {
  return status === 'enabled' || status === 'running';
}
