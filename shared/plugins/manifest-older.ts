import { isObject, isRecord, memberOf } from '../member.ts';

/** Older names of members, as extensions that are published already use them: where, the older name, ours. */
const OLDER: readonly (readonly [parent: string, older: string, name: string])[] = [
  ['compatibility', 'ados_version', 'svc_version'],
];

/**
 * Renames the older names in a manifest that was just read, in place.
 * @returns a warning for each
 */
export function readOlderNames(manifest: unknown): string[] {
  const warnings: string[] = [];
  for (const [parentName, older, name] of OLDER) {
    const parent = memberOf(manifest, parentName);
    if (!isChangeable(parent) || memberOf(parent, older) === undefined) continue;
    if (parent[name] === undefined) parent[name] = parent[older];
    else
      warnings.push(`${parentName}.${older} is ignored, since ${parentName}.${name} stands there as well.`);
    delete parent[older];
    warnings.push(`${parentName}.${older} is an older name; write ${parentName}.${name}.`);
  }
  const slots = memberOf(memberOf(manifest, 'gcs'), 'permissions');
  for (const _ of renamed(slots, 'ui.slot.notification', 'ui.slot.notification-channel'))
    warnings.push(
      'gcs.permissions: ui.slot.notification is an older name; write ui.slot.notification-channel.',
    );
  const agent = memberOf(manifest, 'agent');
  if (isChangeable(agent) && memberOf(agent, 'runtime') === 'rust') {
    agent['runtime'] = 'binary';
    warnings.push('agent.runtime: rust is an older name; write binary.');
  }
  for (const _ of renamed(memberOf(agent, 'permissions'), 'vehicle.command', 'command.send'))
    warnings.push('agent.permissions: vehicle.command is an older name; write command.send.');
  return warnings;
}

/** Renames a permission, which is a text or has its name as `id`. @returns the places where it stood */
function renamed(permissions: unknown, older: string, name: string): readonly number[] {
  if (!Array.isArray(permissions)) return [];
  const all: unknown[] = permissions;
  const places = [...all.keys()].filter((at) => (memberOf(all[at], 'id') ?? all[at]) === older);
  for (const at of places) {
    const item = all[at];
    all[at] = isRecord(item) ? { ...item, id: name } : name;
  }
  return places;
}

function isChangeable(value: unknown): value is Record<string, unknown> {
  return isObject(value);
}
