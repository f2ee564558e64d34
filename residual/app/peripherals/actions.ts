import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import { type NamedKind, raisedBy } from '../../../shared/routes/classes.ts';
import { holdsKey } from '../../../shared/routes/may.ts';
import type { Calls } from '../../../shared/rpc/contract.ts';
import type { SUPERVISOR } from '../../../shared/rpc/supervisor.ts';
import type { PeripheralAction } from '../../../shared/schemas/peripherals.ts';
import type { ConfigStore } from '../config/store.ts';
import type { Entry, Peripherals } from './peripherals.ts';

export interface ActionParts {
  readonly peripherals: Peripherals;
  readonly config: ConfigStore;
  readonly supervisor: Pick<Calls<typeof SUPERVISOR>, 'restart'>;
  /** The armed guard's state. */
  readonly guard: () => Promise<Armed>;
}

type Act = (
  parts: ActionParts,
  action: PeripheralAction,
  entry: Entry,
  principal: Principal,
) => Promise<string>;

/** Those without the link to the vehicle: a restart of svc-link has the armed guard of its own route. */
const SERVICES: readonly string[] = ['svc-video', 'svc-vision'];
const DEFAULT_BAUD = 115_200;

const rescan: Act = async ({ peripherals }) => {
  await peripherals.scan();
  const count = peripherals.all.filter(({ connected }) => connected).length;
  return `${count} peripherals are connected.`;
};

const restartService: Act = async ({ supervisor }, { service = '' }, _entry, principal) => {
  permit('service', service, principal);
  const { pid_before: before, pid_after: after } = await supervisor.restart({ name: service });
  return after === null
    ? `${service} was stopped: the config no longer has it.`
    : `${service} has restarted: process ${before ?? 'none'} before, ${after} now.`;
};

const useAsFlightController: Act = async (
  { config, guard },
  { baud = DEFAULT_BAUD },
  { found },
  principal,
) => {
  const key = 'mavlink.source';
  permit('config-key', key, principal);
  // PUT /api/config is guarded for this key, and so is this way to it (docs/contract/edge.md#armed-guard).
  const armed = await guard();
  if (armed !== false) throw new ApiError('E_ARMED', undefined, { action: `set ${key}`, armed });
  // The last one is the name by id, which stays over a re-enumeration.
  const value = `serial:${found.device_paths.at(-1) ?? ''}:${baud}`;
  const { restart_required: names } = await config.write(key, value);
  return `${key} is now ${value}. It counts once ${names.join(', ')} has restarted.`;
};

/** What a manifest may ask for: nothing else is done, whatever a file says. */
const ACTS: ReadonlyMap<string, Act> = new Map([
  ['rescan', rescan],
  ['restart_service', restartService],
  ['use_as_flight_controller', useAsFlightController],
]);

/** What does it; null if this version cannot. */
function actOf({ does, service = '' }: PeripheralAction, { found }: Entry): Act | null {
  if (does === 'restart_service' && !SERVICES.includes(service)) return null;
  if (does === 'use_as_flight_controller' && found.kind !== 'serial') return null;
  return ACTS.get(does) ?? null;
}

export function isAvailable(action: PeripheralAction, entry: Entry): boolean {
  return actOf(action, entry) !== null;
}

/**
 * Does what a manifest declares. @returns what came of it, as a sentence
 * @throws ApiError E_INVALID_VALUE without a confirmation that it needs, E_NOT_IMPLEMENTED, E_NOT_FOUND if it is unplugged,
 *   E_SCOPE, and those of the work itself
 */
export async function runAction(
  parts: ActionParts,
  action: PeripheralAction,
  entry: Entry,
  { principal, confirm }: { readonly principal: Principal; readonly confirm: boolean },
): Promise<string> {
  const act = actOf(action, entry);
  if (act === null)
    throw new ApiError(
      'E_NOT_IMPLEMENTED',
      `This node cannot do "${[action.does, action.service].filter(Boolean).join(' ')}" for a ${entry.found.kind} peripheral.`,
    );
  if (!entry.connected) throw new ApiError('E_NOT_FOUND', `${entry.found.name} is not connected.`);
  if (action.requires_confirm === true && !confirm) {
    const message = `must be true to ${action.display_name}`;
    throw new ApiError('E_INVALID_VALUE', `/confirm ${message}.`, {
      errors: [{ path: '/confirm', message }],
    });
  }
  return act(parts, action, entry, principal);
}

/**
 * As the route for it would: what is done here may need more than the class of this route.
 * @throws ApiError E_SCOPE
 */
function permit(kind: NamedKind, name: string, principal: Principal): void {
  for (const { class: needed, reason } of raisedBy(kind, name)) {
    const may =
      needed === 'root'
        ? false
        : needed === 'keyonly'
          ? holdsKey(principal)
          : principal.scopes === null || principal.scopes.includes(needed);
    if (!may)
      throw new ApiError('E_SCOPE', `${name} needs ${needed}: it ${reason}.`, {
        required: needed,
        granted: principal.scopes,
      });
  }
}
