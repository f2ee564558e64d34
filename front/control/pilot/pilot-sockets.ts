import type { WebSocket } from 'ws';
import type { groundStationRows } from '../../../shared/routes/ground-station.ts';
import type { SocketHandlersOf } from '../../../shared/routes/handler.ts';
import type { PilotInCommand } from './pilot-in-command.ts';

type GroundSockets = SocketHandlersOf<typeof groundStationRows, 'front', WebSocket>;

/** Who is pilot in command: the state at once, then each change, one JSON text message each. */
export function pilotSockets(pilot: PilotInCommand): Pick<GroundSockets, 'ground-station.pic.events.ws'> {
  return {
    'ground-station.pic.events.ws': (_call, socket) => {
      const { state } = pilot;
      socket.send(JSON.stringify({ event: 'state', client_id: state.claimed_by, ...state }));
      const end = pilot.onEvent((event) => {
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(event));
      });
      socket.on('close', end);
    },
  };
}
