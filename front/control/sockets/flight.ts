import type { WebSocket } from 'ws';
import type { flightRows } from '../../../shared/routes/flight.ts';
import type { SocketHandlersOf } from '../../../shared/routes/handler.ts';
import type { SetPoint, Sticks } from '../../../shared/rpc/link-state.ts';
import type { PilotRule } from '../edge/decision.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import { type HeldStream, holdStream } from './held-stream.ts';
import { mavlinkSocket } from './mavlink.ts';
import { telemetrySocket } from './telemetry.ts';

/** @param feed the Unix socket of svc-link for raw frames */
export function flightSockets(
  vehicle: VehicleView,
  feed: string,
  pilot: PilotRule | null,
): SocketHandlersOf<typeof flightRows, 'front', WebSocket> {
  const { link } = vehicle;
  const setPoints: HeldStream<SetPoint> = {
    what: 'set-points',
    take: async (holder, point, by) => link.setpoint({ holder, point, by }),
    end: async (holder) => link.setpoint_end({ holder }),
    shown: (state) => ({
      holder: state?.offboard.holder ?? null,
      following: state?.offboard.following ?? false,
    }),
  };
  const manual: HeldStream<Sticks & { readonly type: 'manual' }> = {
    what: 'sticks',
    take: async (holder, sticks, by) => link.manual({ holder, sticks, by }),
    end: async (holder) => link.manual_end({ holder }),
    shown: (state) => ({ holder: state?.manual.holder ?? null }),
  };
  return {
    'telemetry.ws.ws': telemetrySocket(vehicle),
    'mavlink.ws.ws': mavlinkSocket(feed),
    'offboard.ws.ws': (call, socket, ended) => holdStream(setPoints, vehicle, pilot, call, socket, ended),
    'manual.ws.ws': (call, socket, ended) => holdStream(manual, vehicle, pilot, call, socket, ended),
  };
}
