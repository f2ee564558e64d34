import { ApiError } from '../../../shared/errors.ts';
import { refusesWhile } from '../../../shared/flight/armed.ts';
import { cpuSecondsOf } from '../../../shared/process/cpu-time.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { memoryOf } from '../../../shared/process/memory.ts';
import type { coreRows } from '../../../shared/routes/core.ts';
import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import type { Calls, Client } from '../../../shared/rpc/contract.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import { SUPERVISOR } from '../../../shared/rpc/supervisor.ts';
import { unitName } from '../../../shared/units.ts';
import { listUnits, restartUnit } from '../node/systemd.ts';
import type { VehicleView } from '../node/vehicle-view.ts';

/** Delay, so that the answer goes out before this process ends. */
const PARTING_MS = 200;

const FRONT = 'svc-control';

interface ServiceDeps {
  readonly supervisor: Client<typeof SUPERVISOR>;
  readonly helper: Helper;
  readonly vehicle: VehicleView;
  readonly log: Logger;
}

type ServiceHandlers = Pick<
  HandlersOf<typeof coreRows, 'front'>,
  | 'services.get'
  | 'services.name.restart.post'
  | 'system.restart-supervisor.post'
  | 'system.reboot.post'
  | 'system.shutdown.post'
>;

/** Our own processes, as the supervisor has them, and the allow-listed units of systemd where it runs. */
export async function serviceList(supervisor: Calls<typeof SUPERVISOR>): Promise<MadeAnswer<'services.get'>> {
  const [{ services }, units] = await Promise.all([supervisor.status({}), listUnits()]);
  const own = services.map(async (process) => ({
    ...process,
    kind: 'process' as const,
    ...(await useOf(process.pid)),
  }));
  const others = (units ?? []).map(async ({ name, active, sub, pid }) => ({
    name,
    kind: 'unit' as const,
    state: stateOf(active),
    sub_state: sub,
    hangs: false,
    pid,
    restarts: null,
    uptime_seconds: null,
    last_exit: null,
    last_words: [],
    restart_required: [],
    ...(await useOf(pid)),
  }));
  return { services: await Promise.all([...own, ...others]), systemd_available: units !== null };
}

/** The words of our own processes for systemd's. */
function stateOf(active: string): 'running' | 'starting' | 'stopped' {
  if (active === 'active') return 'running';
  return active === 'activating' ? 'starting' : 'stopped';
}

async function useOf(pid: number | null) {
  if (pid === null) return { memory_mb: null, cpu_seconds: null };
  const [memory, cpu] = await Promise.all([memoryOf(pid), cpuSecondsOf(pid)]);
  return { memory_mb: memory, cpu_seconds: cpu };
}

export function serviceHandlers({ supervisor, helper, vehicle, log }: ServiceDeps): ServiceHandlers {
  /** The edge has checked it too, but a vehicle may have armed since (docs/threat-model.md J7). */
  const demandDisarmed = (action: string, forced: boolean): void => {
    if (!forced && refusesWhile(vehicle.anyArmed))
      throw new ApiError('E_ARMED', undefined, { action, armed: vehicle.anyArmed });
  };
  const later = (what: string, act: () => Promise<unknown>): void => {
    setTimeout(() => {
      act().catch((error: unknown) => log.error(`${what}: ${String(error)}`));
    }, PARTING_MS);
  };
  const restartSupervisor = (forced: boolean): Reply => {
    if (!supervisor.connected) throw new ApiError('E_UPSTREAM_DOWN', 'svc-supervisor is not answering.');
    later('restart of the supervisor', async () => {
      demandDisarmed('restart the supervisor', forced);
      return supervisor.calls.restart_self({});
    });
    return new Reply(202, { status: 'accepted', name: SUPERVISOR.server, pid_before: null, pid_after: null });
  };
  const power = async (
    action: 'reboot' | 'poweroff',
    forced: boolean,
  ): Promise<MadeAnswer<'system.reboot.post'>> => {
    demandDisarmed(action, forced);
    await helper.power({ action });
    return { status: 'ok', action };
  };
  return {
    'services.get': async () => serviceList(supervisor.calls),

    'services.name.restart.post': async ({ params, forced }) => {
      const name = unitName(params.name);
      if (name === SUPERVISOR.server) return restartSupervisor(forced);
      if (name === FRONT) {
        later('restart of the front', async () => supervisor.calls.restart({ name }));
        return new Reply(202, { status: 'accepted', name, pid_before: process.pid, pid_after: null });
      }
      const proof = await supervisor.calls.restart({ name }).catch(async (error: unknown) => {
        if (error instanceof ApiError && error.code === 'E_NOT_FOUND') return restartUnit(helper, name);
        throw error;
      });
      return { status: 'ok', name, ...proof };
    },

    'system.restart-supervisor.post': ({ forced }) => restartSupervisor(forced),

    'system.reboot.post': async ({ forced }) => power('reboot', forced),

    'system.shutdown.post': async ({ forced }) => power('poweroff', forced),
  };
}
