import type { LinkProblem, LinkState } from '../../shared/rpc/link-state.ts';
import { OWN_COMPONENT } from './encode.ts';
import type { Parts } from './parts.ts';

/** How long a notice stands that another vehicle took the place of the one before. */
const CHANGE_MS = 10 * 60_000;

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
    other_vehicles: [...parts.systems.others(vehicle.known?.system ?? null)],
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
    problems: problemsOf(parts),
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

function problemsOf(parts: Parts): LinkProblem[] {
  const { problems, router, vehicle, source, signing, systems, sameId, encoder, clock } = parts;
  const { asking, streams, oldProtocol } = parts;
  const found = [...problems()];
  const own = vehicle.known?.system ?? null;
  const others = systems.others(own);
  if (own !== null && others.length > 0) {
    const detail = `Another vehicle is heard on the link: system ${others.join(', ')}. Commands go to system ${own} alone. Set mavlink.system to fly another one.`;
    found.push({ code: 'other_vehicle', detail });
  }
  const { changed } = vehicle;
  if (changed !== null && clock.now() - changed.at < CHANGE_MS) {
    const detail = `System ${changed.from} had been silent for 30 s and was disarmed when it was heard last: commands go to system ${changed.to} now.`;
    found.push({ code: 'vehicle_changed', detail });
  }
  // A vehicle forwards our frames to its other links, from where they may come back. The source is fine then.
  if (router.sourceLoops && !vehicle.alive) {
    const detail = `What this node sends to its source ${source} comes back from it: it leads to an endpoint of this node. Point mavlink.source at the flight controller.`;
    found.push({ code: 'source_loops', detail });
  }
  if (sameId.present) {
    const detail = `Another program speaks as system ${encoder.system}, component ${OWN_COMPONENT}, which is this node: what the vehicle answers may be for either. Give the other program another component id.`;
    found.push({ code: 'same_id', detail });
  }
  if (oldProtocol.isOld) {
    const detail =
      'The vehicle understands MAVLink 1 alone: fences, rally points, long texts and what else version 2 added do not reach it or this node.';
    found.push({ code: 'mavlink_1', detail });
  }
  if (asking.isFlooded) {
    const detail =
      'The vehicle answers so that this node would have to ask without end: it asks as often as the line allows, and no more. What it shows of the vehicle may be incomplete.';
    found.push({ code: 'endless_asking', detail });
  }
  if (streams.isUnheard) {
    const detail =
      'The vehicle sends heartbeats and no telemetry, although it was asked for it. Look at the stream rates of its port (ArduPilot: SRn_*; PX4: MAV_n_MODE).';
    found.push({ code: 'no_telemetry', detail });
  }
  if (signing.lost) {
    const detail =
      'The vehicle signs what it sends, and this node does not have its key: it may ignore all commands from this node and its ground stations. Enrol its key again.';
    found.push({ code: 'signing_lost', detail });
  }
  return found;
}
