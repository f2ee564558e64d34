import type { WebSocket } from 'ws';
import type { JsonObject } from '../../../shared/member.ts';
import type { telemetryStream } from '../../../shared/routes/flight.ts';
import type { SocketHandler } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { LinkState } from '../../../shared/rpc/link-state.ts';
import { telemetryOf } from '../../../shared/rpc/telemetry-body.ts';
import type { VehicleView } from '../node/vehicle-view.ts';

// About ten snapshots: a reader that is further behind loses some, and the node loses nothing.
const MAX_BEHIND_BYTES = 32 * 1024;

/**
 * Snapshots as they come (at most ten a second), or `?rate=` a second; `?fields=position,battery` sends those members only.
 * Unknown members are left out.
 */
export function telemetrySocket(vehicle: VehicleView): SocketHandler<typeof telemetryStream, WebSocket> {
  return ({ query }, socket) => {
    const { rate, fields } = parseQuery(query) ?? {};
    const wanted = fields === undefined ? null : fields.split(',');
    const interval = rate === undefined ? 0 : 1000 / Number(rate);
    let due = 0;
    const send = (state: LinkState): void => {
      const now = performance.now();
      if (now < due) return;
      // Counted from when it was due, so that jitter does not lower the rate; after a pause, from now.
      due = now - due > interval ? now + interval : due + interval;
      if (socket.readyState !== socket.OPEN || socket.bufferedAmount >= MAX_BEHIND_BYTES) return;
      const text =
        wanted === null ? vehicle.telemetryText : JSON.stringify(select(telemetryOf(state), wanted));
      if (text !== null) socket.send(text);
    };
    if (vehicle.state !== null) send(vehicle.state);
    socket.on('close', vehicle.subscribe(send));
    socket.on('message', () => socket.close(1008, 'this stream takes no messages'));
  };
}

function select(snapshot: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.filter((field) => Object.hasOwn(snapshot, field)).map((field) => [field, snapshot[field]]),
  );
}
