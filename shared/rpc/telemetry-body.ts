import type { JsonObject } from '../member.ts';
import type { LinkState } from './link-state.ts';

/** The body of GET /api/telemetry, of each message on its WebSocket, and of what extensions get. */
export function telemetryOf(state: LinkState): JsonObject {
  const { params } = state;
  return {
    mavlink_alive: state.mavlink_alive,
    heartbeat_age_s: state.heartbeat_age_s,
    link_age_s: state.link_age_s,
    system_id: state.system_id,
    ...state.telemetry,
    // The motors of a vehicle whose heartbeats stay away may still be running.
    armed: state.heard && state.armed !== 'unknown' ? state.telemetry.armed : null,
    extensions: state.extensions,
    statustext: state.statustext,
    param_cached_count: params.cached,
    param_expected_count: params.expected,
    param_generation: params.generation,
    param_priming: params.priming,
  };
}
