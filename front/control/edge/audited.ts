import { takesEnergyOut } from '../../../shared/flight/pilot.ts';
import { recordOf } from '../../../shared/member.ts';
import { raisedByRequest } from '../../../shared/routes/classes.ts';
import type { Pass } from './decision.ts';

/** What the audit records of a change, and which changes need the audit. */

const MAX_NAMES = 20;
const MAX_CHARS = 200;
/** Members of a body that name the changed thing; never the one with the value. */
const NAMING = [
  'key',
  'cmd',
  'name',
  'interface',
  'iface',
  'ssid',
  'id',
  'token_id',
  'permission_id',
  'profile',
  'scope',
  'path',
  'device_id',
  'role',
  'hub',
] as const;
const HELD: ReadonlySet<string> = new Set(['flight', 'destructive', 'admin', 'secret_read', 'none', 'inner']);

/** The config key, parameter, service or command that a request names; empty where it names none. */
export function changedBy({ params }: Pass, body: unknown): string {
  const record = recordOf(body);
  const named = NAMING.flatMap((member) => {
    const value = record[member];
    return typeof value === 'string' ? [value] : [];
  });
  const many = Object.keys(recordOf(record['params'])).slice(0, MAX_NAMES);
  return [...Object.values(params), ...named, ...many].join(' ').slice(0, MAX_CHARS);
}

/** Whether this request waits for its record, and is refused while that cannot be written (docs/contract/edge.md). */
export function needsAudit({ policy, policyParams, row, forced }: Pass, body: unknown): boolean {
  if (row.access === 'public') return false; // sign-in and pairing: they depend on files of their own
  const command = recordOf(body)['cmd'];
  if (
    policy.id === 'command.post' &&
    typeof command === 'string' &&
    takesEnergyOut(command) // it must work even if the disk is broken or stands still
  )
    return false;
  // Whatever an item adds is at least `flight`, or closed to tokens.
  const raises = raisedByRequest(policy.names, policyParams, body).length > 0;
  return forced || raises || HELD.has(policy.scope) || policy.blast === 'aircraft';
}
