import { uptime } from 'node:os';
import type { groundStationRows } from '../../../shared/routes/ground-station.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import { recordingsRow, recordStartRow, recordStopRow } from '../../../shared/routes/video.ts';
import type { ResidualProxy } from '../forward/residual-proxy.ts';
import type { SystemMonitor } from '../node/health.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import type { BoundRadios } from '../relay/bound-radios.ts';
import type { RelayHealth } from '../relay/relay-client.ts';
import type { ActiveDrone } from './active-drone.ts';
import type { FactoryReset } from './factory-reset.ts';
import type { GroundRole } from './ground-role.ts';
import type { GroundUi } from './ground-ui.ts';

type Rows = HandlersOf<typeof groundStationRows, 'front'>;
type GroundHandlers = Pick<
  Rows,
  | 'ground-station.status.get'
  | 'ground-station.role.get'
  | 'ground-station.role.put'
  | 'ground-station.ui.get'
  | 'ground-station.ui.put'
  | 'ground-station.recording.get'
  | 'ground-station.recording.start.post'
  | 'ground-station.recording.stop.post'
  | 'ground-station.factory-reset.post'
  | 'ground-station.drones.get'
  | 'ground-station.drones.active.put'
>;

export interface GroundDeps {
  readonly deviceId: string;
  readonly radios: BoundRadios;
  readonly active: ActiveDrone;
  readonly role: GroundRole;
  readonly ui: GroundUi;
  readonly reset: FactoryReset;
  readonly pilot: { readonly state: MadeAnswer<'ground-station.pic.get'> };
  readonly vehicle: VehicleView;
  readonly monitor: SystemMonitor;
  readonly version: string;
  readonly nodeStartedAt: number;
  /** Of the relay to a drone. */
  readonly health: (deviceId: string) => RelayHealth;
  /** The radio, as GET /api/wfb; null: not known. */
  readonly link: () => Promise<MadeAnswer<'wfb.get'> | null>;
  /** The radio link of a slot, null if it has none. */
  readonly linkOf: (slot: number) => Pick<MadeAnswer<'wfb.get'>, 'state' | 'quality'> | null;
  /** As GET /api/v1/ground-station/network; null: not known. */
  readonly network: () => Promise<MadeAnswer<'ground-station.network.get'> | null>;
  /** As GET /api/video; null: not known. */
  readonly video: () => Promise<MadeAnswer<'video.get'> | null>;
  /** A row of the residual. @throws ApiError the residual's own, E_NOT_IMPLEMENTED where this build has none */
  readonly residual: ResidualProxy['call'];
  /** Wall clock, ms. */
  readonly now: () => number;
}

export function groundStationHandlers(deps: GroundDeps): GroundHandlers {
  const { active, role, ui } = deps;
  return {
    'ground-station.status.get': async () => status(deps),
    'ground-station.role.get': async () => role.state(),
    'ground-station.role.put': async ({ body }) => role.change(body.role),
    'ground-station.ui.get': async () => ui.read(),
    'ground-station.ui.put': async ({ body }) => ui.change(body),
    'ground-station.recording.get': async () => {
      const { recordings: files, recording } = await deps.residual(recordingsRow);
      const recordings = files.filter(({ kind }) => kind === 'recording');
      return { recording: recording !== null, current: recording, recordings, items: recordings };
    },
    'ground-station.recording.start.post': async ({ body }) => deps.residual(recordStartRow, body),
    'ground-station.recording.stop.post': async () => deps.residual(recordStopRow),
    'ground-station.factory-reset.post': async ({ body }) => deps.reset.begin(body.confirm, deps.deviceId),
    'ground-station.drones.get': () => drones(deps),
    'ground-station.drones.active.put': async ({ body }) => {
      await active.choose(body.device_id);
      return drones(deps);
    },
  };
}

function drones({
  radios,
  active,
  health,
  linkOf,
  now,
}: GroundDeps): MadeAnswer<'ground-station.drones.get'> {
  return {
    active: active.deviceId,
    drones: radios.list().map(({ slot, device_id: id, name }) => {
      const { silentMs } = health(id);
      const lastSeen = silentMs === null ? null : new Date(now() - silentMs).toISOString();
      const { state = null, quality = null } = linkOf(slot) ?? {};
      return { slot, device_id: id, name, link: state, quality, last_seen: lastSeen };
    }),
  };
}

async function status(deps: GroundDeps): Promise<MadeAnswer<'ground-station.status.get'>> {
  const { radios, monitor, vehicle } = deps;
  const [link, network, video, role, clients] = await Promise.all([
    deps.link(),
    deps.network(),
    deps.video(),
    deps.role.state(),
    clientsOf(vehicle),
  ]);
  const bound = radios.list();
  const { facts } = monitor;
  const { memory_total_mb: total, memory_available_mb: available } = facts;
  const temperatures = Object.values(facts.temperatures);
  return {
    profile: 'ground-station',
    paired_drones: bound.map(({ slot, device_id, name, fingerprint, proved }) => ({
      slot,
      device_id,
      name,
      key_fingerprint: fingerprint,
      proved,
    })),
    active: deps.active.deviceId,
    link,
    gcs: { clients, pic: deps.pilot.state },
    network,
    system: {
      cpu_pct: facts.cpu_percent,
      ram_used_mb: total === null || available === null ? null : total - available,
      ram_total_mb: total,
      temp_c: temperatures.length === 0 ? null : Math.max(...temperatures),
      uptime_seconds: Math.floor(uptime() - deps.nodeStartedAt),
      agent_version: deps.version,
    },
    recording: recordingIn(video),
    video,
    role,
    relay: bound.map(({ device_id: id }) => {
      const { silentMs, latencyMs } = deps.health(id);
      return { device_id: id, silent_ms: rounded(silentMs), latency_ms: rounded(latencyMs) };
    }),
  };
}

async function clientsOf(vehicle: VehicleView) {
  if (!vehicle.connected) return null;
  return vehicle.link.endpoints({}).then(
    (endpoints) =>
      endpoints.flatMap(({ name: endpoint, peers }) =>
        peers.map(({ name, last_seen_s: seen }) => ({ endpoint, name, last_seen_s: seen })),
      ),
    () => null, // it went away meanwhile
  );
}

/** Null while svc-video does not say. */
function recordingIn(shown: MadeAnswer<'video.get'> | null): boolean | null {
  return shown === null || shown.state === 'down' ? null : shown.recording !== null;
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
