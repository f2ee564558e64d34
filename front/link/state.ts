import type { LinkState } from '../../shared/rpc/link-state.ts';
import type { Parts } from './parts.ts';

/**
 * What the clients get. While `mavlink_alive` is false the telemetry is what was last received: the reader decides whether to
 * show it.
 */
export function linkState(parts: Parts): LinkState {
  const { transport, vehicle, evidence } = parts;
  return {
    source: parts.source,
    fc_port: transport.port,
    fc_baud: transport.baud,
    transport_open: transport.open,
    mavlink_alive: vehicle.alive,
    heard: vehicle.heard,
    heartbeat_age_s: secondsOf(vehicle.heartbeatAge),
    link_age_s: secondsOf(vehicle.linkAge),
    armed: vehicle.armed,
    guard: parts.guard.state(vehicle.target?.system ?? null),
    guard_any: parts.guard.worst,
    system_id: vehicle.target?.system ?? null,
    component_id: vehicle.target?.component ?? null,
    other_vehicles: [...parts.systems.others],
    vehicle_changed: changeOf(parts),
    mode_changed: modeChangeOf(parts),
    firmware: vehicle.firmware,
    firmware_version: vehicle.version?.text ?? null,
    simulated: evidence.list.length > 0,
    simulated_evidence: [...evidence.list],
    statustext: [...parts.texts.newest],
    telemetry: { ...vehicle.telemetry, prearm: parts.prearm.report },
    extensions: parts.extensions.values,
    params: parts.params.progress,
    offboard: parts.offboard.state,
    manual: parts.manual.state,
    commander: parts.commander.name(vehicle.armed),
    tlog: parts.tlog.state,
    problems: parts.list.flatMap((part) => part.problems?.() ?? []),
    counters: countersOf(parts),
  };
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms) / 1000;
}

function changeOf({ vehicle }: Parts): LinkState['vehicle_changed'] {
  const { changed } = vehicle;
  if (changed === null) return null;
  const { wall, from, to } = changed;
  return { at: new Date(wall).toISOString(), from, to };
}

function modeChangeOf({ vehicle }: Parts): LinkState['mode_changed'] {
  const change = vehicle.modeChange;
  if (change === null) return null;
  const { wall, from, to, by } = change;
  return { at: new Date(wall).toISOString(), from, to, by };
}

function countersOf({ transport, vehicle, intake, router }: Parts): LinkState['counters'] {
  const { framing, rxBytes } = intake;
  return {
    rx_frames: framing.frames,
    rx_bytes: rxBytes,
    rx_bad_crc: framing.badCrc,
    rx_garbage_bytes: framing.garbageBytes,
    rx_lost: vehicle.lost,
    rx_looped: router.sourceLooped,
    rx_kernel_dropped: transport.counters.rxKernelDropped,
    tx_frames: transport.counters.txFrames,
    tx_bytes: transport.counters.txBytes,
    reconnects: transport.counters.reconnects,
  };
}
