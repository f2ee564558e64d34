import { randomUUID } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { type JsonObject, parseJson } from '../../../shared/member.ts';
import type { LinkState } from '../../../shared/rpc/link-state.ts';
import type { PilotRule } from '../edge/decision.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import { mayFly } from './mavlink.ts';

const CLOSE_UNSUPPORTED = 1003;
/** Messages that svc-link has not answered yet: it answers at once, and an old one is of no use. */
const MAX_WAITING = 4;
/** A client that is refused 50 times a second is told so once. */
const ERROR_EVERY_MS = 1000;
const MAX_BEHIND_BYTES = 32 * 1024;

/** A stream that one client at a time may send to the vehicle. */
export interface HeldStream<Message> {
  /** What it carries, in the plural. */
  readonly what: string;
  /** Hands one message to svc-link, which checks it and knows the holder. */
  readonly take: (holder: string, message: Message, by: string) => Promise<unknown>;
  /** The client has gone. */
  readonly end: (holder: string) => Promise<unknown>;
  /** Who sends, and what else all clients are told. */
  readonly shown: (state: LinkState | null) => { readonly holder: string | null } & JsonObject;
}

interface Client {
  readonly principal: Principal;
  readonly clientId: string | null;
}

/**
 * Messages from the client, one JSON text each; to all clients, who sends, with the mode and whether the vehicle is armed. A token needs
 * `flight` to send. svc-link checks the messages, knows the one holder, and ends its hold when nothing comes or the client is gone.
 */
export function holdStream<Message>(
  { what, take, end, shown }: HeldStream<Message>,
  vehicle: VehicleView,
  pilot: PilotRule | null,
  { principal, clientId }: Client,
  socket: WebSocket,
  ended: AbortSignal,
): void {
  const own = randomUUID();
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
    const { holder, ...more } = shown(state);
    const message = {
      type: 'status',
      holder: holder === null ? null : holder === own ? 'you' : 'other',
      ...more,
      mode: state?.telemetry.mode ?? null,
      armed: state?.mavlink_alive === true ? state.telemetry.armed : null,
    };
    const text = JSON.stringify(message);
    if (text === told) return;
    told = text;
    say(message);
  };
  const release = (): void => {
    if (sent) end(own).catch(refuse);
    sent = false;
  };

  status();
  socket.on('close', vehicle.subscribe(status));
  socket.on('close', release);
  ended.addEventListener('abort', release, { once: true });
  socket.on('message', (data: RawData, isBinary) => {
    if (ended.aborted) return;
    if (isBinary || !Buffer.isBuffer(data)) {
      socket.close(CLOSE_UNSUPPORTED, `${what} are text messages`);
      return;
    }
    if (!flies) {
      refuse(new ApiError('E_SCOPE', `Sending ${what} needs the scope flight.`));
      return;
    }
    const other = pilot?.otherThan(clientId) ?? null;
    if (other !== null) {
      refuse(new ApiError('E_NOT_PIC', `${other} is pilot in command.`));
      return;
    }
    const message = parsed(data);
    if (message === undefined) {
      refuse(new ApiError('E_BAD_REQUEST', `Send ${what} as JSON objects, each in a text message.`));
      return;
    }
    if (waiting >= MAX_WAITING) return;
    waiting++;
    sent = true;
    take(own, message as Message, principal.id)
      .catch(refuse)
      .finally(() => {
        waiting--;
      });
  });
}

/** @returns undefined for what is not JSON; svc-link checks the rest */
function parsed(data: Buffer): unknown {
  try {
    return parseJson(data.toString('utf8'));
  } catch {
    return undefined;
  }
}
