import type { NodeStatus, Position } from '../../../shared/fleet/told.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';

/** What a list of nodes shows, beside the body of GET /api/status. What was not measured is null. */
export function listed(
  telemetry: Telemetry | null,
  now: number,
): Pick<NodeStatus, 'at' | 'mode' | 'battery_percent' | 'position'> {
  return {
    at: now,
    mode: telemetry?.mode ?? null,
    battery_percent: telemetry?.battery.remaining ?? null,
    position: positionOf(telemetry),
  };
}

function positionOf(telemetry: Telemetry | null): Position | null {
  const { lat = null, lon = null, alt_msl, alt_rel, heading } = telemetry?.position ?? {};
  if (lat === null || lon === null) return null;
  return { lat, lon, alt_m: alt_msl ?? null, relative_alt_m: alt_rel ?? null, heading: heading ?? null };
}
