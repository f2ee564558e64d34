import type { WebSocket } from 'ws';
import type { flightRows } from '../../../shared/routes/flight.ts';
import type { SocketHandlersOf } from '../../../shared/routes/handler.ts';
import type { PilotRule } from '../edge/decision.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import { mavlinkSocket } from './mavlink.ts';
import { offboardSocket } from './offboard.ts';
import { telemetrySocket } from './telemetry.ts';

/** @param feed the Unix socket of svc-link for raw frames */
export function flightSockets(
  vehicle: VehicleView,
  feed: string,
  pilot: PilotRule | null,
): SocketHandlersOf<typeof flightRows, 'front', WebSocket> {
  return {
    'telemetry.ws.ws': telemetrySocket(vehicle),
    'mavlink.ws.ws': mavlinkSocket(feed),
    'offboard.ws.ws': offboardSocket(vehicle, pilot),
  };
}
