import type { JsonObject } from '../member.ts';
import type { LinkState } from './link-state.ts';

/** The body of GET /api/telemetry, of each message on its WebSocket, and of what extensions get. */
export function telemetryOf(state: LinkState): JsonObject {
  const { params } = state;
  return {
    mavlink_alive: state.mavlink_alive,
    heartbeat_age_s: state.heartbeat_age_s,
    ...state.telemetry,
    // The motors of a silent vehicle may still be running.
    armed: state.mavlink_alive ? state.telemetry.armed : null,
    extensions: state.extensions,
    statustext: state.statustext,
    param_cached_count: params.cached,
    param_expected_count: params.expected,
    param_generation: params.generation,
    param_priming: params.priming,
  };
}
