import { randomUUID } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { JsonObject } from '../../../shared/member.ts';
import type { offboardStream } from '../../../shared/routes/flight.ts';
import type { SocketHandler } from '../../../shared/routes/handler.ts';
import type { SetPoint } from '../../../shared/rpc/link-state.ts';
import type { PilotRule } from '../edge/decision.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import { mayFly } from './mavlink.ts';

const CLOSE_UNSUPPORTED = 1003;
/** Set-points that svc-link has not answered yet: it answers at once, and an old one is of no use. */
const MAX_WAITING = 4;
/** A client that is refused 50 times a second is told so once. */
const ERROR_EVERY_MS = 1000;
const MAX_BEHIND_BYTES = 32 * 1024;

/**
 * Set-points from the client, one JSON text message each, 2 to 50 a second; to all clients, who sends and whether the vehicle
 * follows. A token needs `flight` to send. svc-link checks the set-points, knows the one holder, and lets the vehicle hold
 * when nothing has come for 0.5 s or the client is gone.
 */
export function offboardSocket(
  vehicle: VehicleView,
  pilot: PilotRule | null,
): SocketHandler<typeof offboardStream, WebSocket> {
  return ({ principal, clientId }, socket, ended) => {
    const holder = randomUUID();
    const flies = mayFly(principal);
    let waiting = 0;
    let refusedAt = -Infinity;
    let sent = false;
    let told = '';

    const say = (message: JsonObject): void => {
      if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_BEHIND_BYTES)
        socket.send(JSON.stringify(message));
    };
    const refuse = (error: unknown): void => {
      const now = performance.now();
      if (now - refusedAt < ERROR_EVERY_MS) return;
      refusedAt = now;
      say({
        type: 'error',
        code: error instanceof ApiError ? error.code : 'E_INTERNAL',
        detail: messageOf(error),
      });
    };
    const status = (): void => {
      const { state } = vehicle;
      const who = state?.offboard.holder ?? null;
      const message = {
        type: 'status',
        holder: who === null ? null : who === holder ? 'you' : 'other',
        following: state?.offboard.following ?? false,
        mode: state?.telemetry.mode ?? null,
        armed: state?.mavlink_alive === true ? state.telemetry.armed : null,
      };
      const text = JSON.stringify(message);
      if (text === told) return;
      told = text;
      say(message);
    };
    const release = (): void => {
      if (sent) vehicle.link.setpoint_end({ holder }).catch(refuse);
      sent = false;
    };

    status();
    socket.on('close', vehicle.subscribe(status));
    socket.on('close', release);
    ended.addEventListener('abort', release, { once: true });
    socket.on('message', (data: RawData, isBinary) => {
      if (ended.aborted) return;
      if (isBinary || !Buffer.isBuffer(data)) {
        socket.close(CLOSE_UNSUPPORTED, 'set-points are text messages');
        return;
      }
      if (!flies) {
        refuse(new ApiError('E_SCOPE', 'Sending set-points needs the scope flight.'));
        return;
      }
      const other = pilot?.otherThan(clientId) ?? null;
      if (other !== null) {
        refuse(new ApiError('E_NOT_PIC', `${other} is pilot in command.`));
        return;
      }
      const point = parsed(data);
      if (point === undefined) {
        refuse(new ApiError('E_BAD_REQUEST', 'Send each set-point as one JSON object in a text message.'));
        return;
      }
      if (waiting >= MAX_WAITING) return;
      waiting++;
      sent = true;
      vehicle.link
        .setpoint({ holder, point })
        .catch(refuse)
        .finally(() => {
          waiting--;
        });
    });
  };
}

/** @returns undefined for what is not JSON; svc-link checks the rest */
function parsed(data: Buffer): SetPoint | undefined {
  try {
    return JSON.parse(data.toString('utf8')) as SetPoint;
  } catch {
    return undefined;
  }
}
