import { memberOf } from '../member.ts';

/** Older names of members, as extensions that are published already use them: where, the older name, ours. */
const OLDER: readonly (readonly [parent: string, older: string, name: string])[] = [
  ['compatibility', 'ados_version', 'svc_version'],
];

/**
 * Renames the older names in a manifest that was just read, in place.
 * @returns a warning for each
 */
export function readOlderNames(manifest: Record<string, unknown>): string[] {
  const warnings: string[] = [];
  for (const [parentName, older, name] of OLDER) {
    const parent = memberOf(manifest, parentName);
    if (typeof parent !== 'object' || parent === null || memberOf(parent, older) === undefined) continue;
    const fields = parent as Record<string, unknown>;
    if (fields[name] === undefined) fields[name] = fields[older];
    else
      warnings.push(`${parentName}.${older} is ignored, since ${parentName}.${name} stands there as well.`);
    delete fields[older];
    warnings.push(`${parentName}.${older} is an older name; write ${parentName}.${name}.`);
  }
  const slots = memberOf(memberOf(manifest, 'gcs'), 'permissions');
  for (const [index, item] of (Array.isArray(slots) ? slots : []).entries()) {
    const id: unknown = typeof item === 'string' ? item : memberOf(item, 'id');
    if (id !== 'ui.slot.notification') continue;
    const name = 'ui.slot.notification-channel';
    (slots as unknown[])[index] = typeof item === 'string' ? name : { ...(item as object), id: name };
    warnings.push(`gcs.permissions: ui.slot.notification is an older name; write ${name}.`);
  }
  const agent = memberOf(manifest, 'agent');
  if (memberOf(agent, 'runtime') === 'rust') {
    (agent as Record<string, unknown>)['runtime'] = 'binary';
    warnings.push('agent.runtime: rust is an older name; write binary.');
  }
  const permissions = memberOf(agent, 'permissions');
  for (const [index, item] of (Array.isArray(permissions) ? permissions : []).entries()) {
    const id: unknown = typeof item === 'string' ? item : memberOf(item, 'id');
    if (id !== 'vehicle.command') continue;
    (permissions as unknown[])[index] =
      typeof item === 'string' ? 'command.send' : { ...(item as object), id: 'command.send' };
    warnings.push('agent.permissions: vehicle.command is an older name; write command.send.');
  }
  return warnings;
}
