import { networkInterfaces, uptime } from 'node:os';
import type { Board } from '../../../shared/board.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import type { Client } from '../../../shared/rpc/contract.ts';
import type { EndpointStatus, HeardSystem } from '../../../shared/rpc/link-state.ts';
import type { SUPERVISOR } from '../../../shared/rpc/supervisor.ts';
import type { AuditState } from '../stores/audit.ts';
import { hottest, type SystemFacts, type SystemMonitor } from './health.ts';
import type { VehicleView } from './vehicle-view.ts';

const MIB = 1024 * 1024;

interface DiagnosticsDeps {
  readonly version: string;
  readonly deviceId: string;
  /** Of `os.uptime()`, seconds. */
  readonly nodeStartedAt: number;
  readonly board: Board;
  readonly monitor: SystemMonitor;
  readonly vehicle: VehicleView;
  readonly supervisor: Client<typeof SUPERVISOR>;
  readonly configProblem: string | null;
  readonly audit: () => AuditState;
}

/** The facts to see first when something is wrong. A part that is not available is null. */
export async function diagnostics(deps: DiagnosticsDeps): Promise<MadeAnswer<'diagnostics.get'>> {
  const { board, monitor, vehicle, supervisor } = deps;
  const problems: string[] = deps.configProblem === null ? [] : [deps.configProblem];
  const ask = async <T>(what: string, answer: Promise<T>): Promise<T | null> =>
    answer.catch((error: unknown) => {
      problems.push(`${what}: ${messageOf(error)}`);
      return null;
    });
  const [services, endpoints, systems] = await Promise.all([
    ask('svc-supervisor', supervisor.calls.status({})),
    ask<readonly EndpointStatus[]>('svc-link', vehicle.link.endpoints({})),
    vehicle.link.systems({}).catch(() => null), // the line above has said why
  ]);
  const audit = deps.audit();
  if (audit.problem !== null) problems.push(`audit: cannot be written: ${audit.problem}`);
  if (audit.lost > 0) problems.push(`audit: ${audit.lost} records were lost`);
  if (audit.broken !== null) problems.push(`audit: ${audit.broken}`);
  for (const { detail } of vehicle.state?.problems ?? []) problems.push(detail);
  return {
    agent: {
      version: deps.version,
      uptime_seconds: Math.floor(uptime() - deps.nodeStartedAt),
      process_memory_mb: Math.round(process.memoryUsage.rss() / MIB),
    },
    board: { name: board.name, soc: board.soc, arch: board.arch, ram_total_mb: board.ram_mb },
    system: systemPart(monitor.facts),
    network: networkPart(),
    device: { device_id: deps.deviceId },
    services,
    audit,
    mavlink: mavlinkPart(vehicle, endpoints, systems),
    problems,
  };
}

function systemPart(facts: SystemFacts) {
  const { memory_total_mb: total, memory_available_mb: available } = facts;
  return {
    cpu_percent: facts.cpu_percent,
    memory_total_mb: total,
    memory_used_mb: total === null || available === null ? null : total - available,
    disk_total_gb: facts.disk_total_gb,
    disk_used_gb: facts.disk_used_gb,
    temp_c: hottest(facts),
    load_avg: facts.load_avg,
  };
}

/** Every interface that is up, with its addresses. */
function networkPart() {
  return Object.fromEntries(
    Object.entries(networkInterfaces()).map(([name, addresses = []]) => [
      name,
      { mac: addresses[0]?.mac ?? null, addresses: addresses.map(({ cidr, address }) => cidr ?? address) },
    ]),
  );
}

function mavlinkPart(
  vehicle: VehicleView,
  endpoints: readonly EndpointStatus[] | null,
  systems: readonly HeardSystem[] | null,
) {
  const { state } = vehicle;
  if (state === null) return null;
  const { source, fc_port, fc_baud, transport_open, mavlink_alive } = state;
  const { heartbeat_age_s, link_age_s, counters } = state;
  const opened = { source, fc_port, fc_baud, transport_open };
  return { ...opened, mavlink_alive, heartbeat_age_s, link_age_s, systems, counters, endpoints };
}
