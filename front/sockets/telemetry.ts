import type { WebSocket } from 'ws';
import type { flightRows } from '../../shared/routes/flight.ts';
import type { SocketHandlersOf } from '../../shared/routes/handler.ts';
import { telemetryOf } from '../handlers/flight.ts';
import type { VehicleView } from '../vehicle-view.ts';

// About ten snapshots: a reader that is further behind loses some, and the node loses nothing.
const MAX_BEHIND_BYTES = 32 * 1024;

export function flightSockets(vehicle: VehicleView): SocketHandlersOf<typeof flightRows, 'front', WebSocket> {
  return {
    'telemetry.ws.ws': (_call, socket) => {
      const send = (state: NonNullable<VehicleView['state']>): void => {
        if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_BEHIND_BYTES) {
          socket.send(JSON.stringify(telemetryOf(state)));
        }
      };
      if (vehicle.state !== null) send(vehicle.state);
      socket.on('close', vehicle.subscribe(send));
      socket.on('message', () => socket.close(1008, 'this stream takes no messages'));
    },
  };
}
