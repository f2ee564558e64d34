import type { LinkProblem, LinkState } from '../../shared/rpc/link-state.ts';
import type { Parts } from './parts.ts';

/**
 * What the clients get. While `mavlink_alive` is false the telemetry is what was last received: the reader decides whether to
 * show it.
 */
export function linkState(parts: Parts): LinkState {
  const { transport, vehicle, evidence } = parts;
  const age = vehicle.heartbeatAge;
  return {
    source: parts.source,
    fc_port: transport.port,
    fc_baud: transport.baud,
    transport_open: transport.open,
    mavlink_alive: vehicle.alive,
    heard: vehicle.heard,
    heartbeat_age_s: age === null ? null : Math.round(age) / 1000,
    armed: vehicle.armed,
    guard: vehicle.guard,
    system_id: vehicle.target?.system ?? null,
    component_id: vehicle.target?.component ?? null,
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
    problems: problemsOf(parts),
    counters: countersOf(parts),
  };
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

function problemsOf({ problems, router, vehicle, source, signing }: Parts): LinkProblem[] {
  const found = [...problems()];
  // A vehicle forwards our frames to its other links, from where they may come back. The source is fine then.
  if (router.sourceLoops && !vehicle.alive) {
    const detail = `What this node sends to its source ${source} comes back from it: it leads to an endpoint of this node. Point mavlink.source at the flight controller.`;
    found.push({ code: 'source_loops', detail });
  }
  if (signing.lost) {
    const detail =
      'The vehicle signs what it sends, and this node does not have its key: it may ignore all commands from this node and its ground stations. Enrol its key again.';
    found.push({ code: 'signing_lost', detail });
  }
  return found;
}
