import { uptime } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Board } from '../../../shared/board.ts';
import { knownHeight } from '../../../shared/flight/known-place.ts';
import { flightPhase } from '../../../shared/flight/phase.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { runProgram } from '../../../shared/process/run-program.ts';
import type { Feature, Profile } from '../../../shared/profile.ts';
import type { coreRows } from '../../../shared/routes/core.ts';
import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import type { Client } from '../../../shared/rpc/contract.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import { probeSocket } from '../../../shared/rpc/probe.ts';
import type { SUPERVISOR } from '../../../shared/rpc/supervisor.ts';
import { telemetryOf } from '../../../shared/rpc/telemetry-body.ts';
import type { GroundRoleName } from '../../../shared/schemas/ground-station.ts';
import { diagnostics } from '../node/diagnostics.ts';
import { hottest, type SystemMonitor } from '../node/health.ts';
import { healthProblems, processProblems, stateProblems } from '../node/health-problems.ts';
import { RECENT_EVERY_S } from '../node/recent-health.ts';
import type { StateFolder } from '../node/state-folder.ts';
import type { SupportBundle } from '../node/support-bundle.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import type { WfbRadio } from '../radio/wfb-radio.ts';
import type { AuditReport, AuditState } from '../stores/audit.ts';
import { LLMS_TEXT } from './llms-text.ts';
import type { Metrics } from './metrics.ts';
import { serviceHandlers, serviceList } from './services.ts';
import { updateHandlers } from './update.ts';

export interface CoreDeps {
  readonly version: string;
  readonly profile: Profile;
  readonly nodeStartedAt: number;
  readonly board: Board;
  readonly monitor: SystemMonitor;
  readonly vehicle: VehicleView;
  readonly supervisor: Client<typeof SUPERVISOR>;
  readonly helper: Helper;
  /** Where a bundle is put for svc-helper. */
  readonly upload: string;
  /** Null in a build without the residual. */
  readonly residualSocket: string | null;
  readonly configProblem: string | null;
  /** What is wrong with files of state, a sentence each that names the file. */
  readonly stateProblems: () => readonly string[];
  readonly stateFolder: Pick<StateFolder, 'problems'>;
  /** The processes that hang, by name. */
  readonly hung: () => readonly string[];
  readonly openApi: () => string;
  readonly deviceId: string;
  readonly audit: () => AuditState;
  readonly verifyAudit: () => Promise<AuditReport>;
  /** The features that this node serves. */
  readonly served: readonly Feature[];
  /** As GET /api/video; null without svc-residual. */
  readonly video: () => Promise<MadeAnswer<'video.get'> | null>;
  readonly radio: WfbRadio;
  /** Of a ground station; null on a drone. */
  readonly role: () => Promise<GroundRoleName | null>;
  readonly supportBundle: SupportBundle;
  readonly log: Logger;
}

const PROBE_MS = 500;
/** Some measurements of the event loop. */
const FIRST_DELAYS_MS = 50;

/** The event loop's delay is measured a hundred times a second, so not before somebody asks; then for the first answer too. */
async function openMetrics(deps: CoreDeps): Promise<Metrics> {
  const loaded = await import('./metrics.ts');
  const metrics = new loaded.Metrics(deps);
  await delay(FIRST_DELAYS_MS);
  return metrics;
}

export function coreHandlers(deps: CoreDeps): HandlersOf<typeof coreRows, 'front'> {
  const { version, monitor, vehicle, supervisor } = deps;
  let metrics: Promise<Metrics> | null = null;
  const statusText = statusTexts(deps);
  return {
    'healthz.get': () => ({ status: 'ok', version }),

    'readyz.get': async () => {
      const checks: Record<string, boolean> = {
        'svc-link': vehicle.connected,
        'svc-supervisor': supervisor.connected,
        disk: deps.audit().disk === null,
        ...(deps.residualSocket === null ? {} : { 'svc-residual': await answers(deps.residualSocket) }),
        ...Object.fromEntries(deps.hung().map((name) => [name, false])),
      };
      const ready = Object.values(checks).every(Boolean);
      return new Reply(ready ? 200 : 503, { ready, checks });
    },

    'ping.get': () => ({ pong: Date.now() }),

    'version.get': () => ({
      api_version: '1',
      agent_version: version,
      capabilities: ['version.endpoint', 'openapi', ...deps.served.map((feature) => `feature.${feature}`)],
    }),

    'time.get': async () => ({
      time_ns: Date.now() * 1_000_000,
      monotonic_ns: Number(process.hrtime.bigint()),
      ntp_synced: await ntpSynced(),
    }),

    'status.get': () => new Reply(200, statusText()),

    'status.full.get': async () => {
      const [services, video] = await Promise.all([serviceList(supervisor.calls), deps.video()]);
      const { state } = vehicle;
      return {
        ...statusOf(deps),
        ...services,
        resources: monitor.facts,
        telemetry: state === null ? null : telemetryOf(state),
        video,
        radio: deps.radio.config.mode === 'off' ? null : await deps.radio.status(),
        role: await deps.role(),
      };
    },

    'metrics.get': async () => {
      metrics ??= openMetrics(deps);
      const made = await metrics;
      return new Reply(200, await made.text(), made.mediaType);
    },

    'system.get': () => ({
      ...monitor.facts,
      recent: { every_s: RECENT_EVERY_S, samples: monitor.recent.samples },
    }),

    'diagnostics.get': async () => diagnostics(deps),

    ...serviceHandlers(deps),

    ...updateHandlers(deps),

    'audit.verify.get': async () => deps.verifyAudit(),

    'support-bundle.get': async () =>
      new Reply(200, await deps.supportBundle.open(), 'application/zip', {
        'content-disposition': `attachment; filename="svc-support-${deps.deviceId}.zip"`,
      }),

    'llms-txt.get': () => new Reply(200, LLMS_TEXT, 'text/plain; charset=utf-8'),

    'openapi-json.get': () => new Reply(200, deps.openApi()),
  };
}

/** The text of GET /api/status, only made again after a change, since several clients poll it. */
function statusTexts(deps: CoreDeps): () => string {
  // os.uptime() opens a file each time, this does not.
  const offset = uptime() - performance.now() / 1000 - deps.nodeStartedAt;
  let made: readonly unknown[] = [];
  let text = '';
  return () => {
    const { monitor, vehicle } = deps;
    const { disk } = deps.audit();
    const of = [
      monitor.facts,
      vehicle.state,
      vehicle.armed,
      disk,
      Math.floor(offset + performance.now() / 1000),
    ];
    if (of.some((each, index) => each !== made[index])) {
      text = JSON.stringify(statusOf(deps));
      made = of;
    }
    return text;
  };
}

/** The body of GET /api/status. */
export function statusOf({ monitor, vehicle, version, profile, board, ...deps }: CoreDeps) {
  const link = vehicle.state;
  const { facts } = monitor;
  return {
    version,
    uptime_seconds: Math.floor(uptime() - deps.nodeStartedAt),
    profile,
    board,
    fc_connected: link !== null && link.transport_open && link.mavlink_alive,
    fc_port: link?.fc_port ?? null,
    fc_baud: link?.fc_baud ?? null,
    fc_firmware: link?.firmware ?? null,
    fc_source: link?.source ?? null,
    fc_heartbeat_age_s: link?.heartbeat_age_s ?? null,
    fc_link_age_s: link?.link_age_s ?? null,
    system_id: link?.system_id ?? null,
    fc_link_hint: linkHint(link),
    fc_simulated: link?.simulated ?? false,
    fc_simulated_evidence: link?.simulated_evidence ?? [],
    armed: vehicle.armed,
    flight_phase: flightPhase({
      armed: link?.heard === true ? vehicle.armed : null,
      landed: link?.telemetry.landed_state ?? null,
      height: knownHeight(link?.telemetry.position),
    }),
    failsafe: link?.mavlink_alive === true ? link.telemetry.failsafe : null,
    link_problems: link?.problems ?? [],
    config: { ok: deps.configProblem === null, problem: deps.configProblem },
    health: {
      cpu_percent: facts.cpu_percent,
      memory_percent: facts.memory_percent,
      disk_percent: facts.disk_percent,
      temperature: hottest(facts),
      problems: [
        ...stateProblems([...deps.stateProblems(), ...deps.stateFolder.problems]),
        ...processProblems(deps.hung()),
        ...healthProblems(monitor.recent.minute, facts.disk_percent, deps.audit().disk),
      ],
    },
  };
}

function linkHint(link: VehicleView['state']): NonNullable<MadeAnswer<'status.get'>['fc_link_hint']> {
  if (link === null) return 'link_down';
  if (!link.transport_open) return 'source_unreachable';
  if (link.mavlink_alive) return 'linked';
  return link.heard ? 'heartbeat_lost' : 'no_heartbeat';
}

async function answers(path: string): Promise<boolean> {
  return probeSocket(path, PROBE_MS).then(
    (state) => state === 'live',
    () => false, // it is not known, so clients should not rely on it
  );
}

/** As timedatectl reports; null if it is missing. */
async function ntpSynced(): Promise<boolean | null> {
  try {
    const said = await runProgram('timedatectl', ['show', '-p', 'NTPSynchronized', '--value'], PROBE_MS);
    return said.trim() === '' ? null : said.trim() === 'yes';
  } catch {
    return null; // no timedatectl or no bus: unknown
  }
}
