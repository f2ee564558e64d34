import type { RawData, WebSocket } from 'ws';
import type { Principal } from '../../../shared/auth/principal.ts';
import type { mavlinkStream } from '../../../shared/routes/flight.ts';
import type { SocketHandler } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { FeedHello } from '../../../shared/rpc/feed.ts';
import { openFeed } from '../../../shared/rpc/feed.ts';

/** About a second of a busy vehicle: a reader that is further behind loses frames, and the node loses nothing. */
const MAX_BEHIND_BYTES = 64 * 1024;

const CLOSE_UNSUPPORTED = 1003;
const CLOSE_POLICY = 1008;
const CLOSE_TRY_AGAIN = 1013;

/**
 * Raw MAVLink, one frame in each binary message, both ways. A token needs `flight` to send anything, and what the row that does
 * the same needs besides (`admin` for a parameter, `destructive` to kill); frames from a read-only
 * client are dropped and counted. svc-link enforces this and the armed guard, since it knows whether the vehicle is armed when
 * a frame comes.
 */
export function mavlinkSocket(feed: string): SocketHandler<typeof mavlinkStream, WebSocket> {
  return ({ query, principal, forced, clientId }, socket, ended) => {
    const { msgs = null } = parseQuery(query) ?? {};
    pipe(
      socket,
      feed,
      {
        name: principal.id,
        write: mayFly(principal),
        force: forced,
        msgs,
        client_id: clientId,
        ...(principal.scopes === null ? {} : { scopes: principal.scopes }),
      },
      ended,
    );
  };
}

/** Only tokens have scopes; every other accepted caller has the operator's rights. */
export function mayFly({ scopes }: Principal): boolean {
  return scopes === null || scopes.includes('flight');
}

function pipe(socket: WebSocket, path: string, hello: FeedHello, ended: AbortSignal): void {
  const feed = openFeed({
    path,
    hello,
    onFrame: (frame) => {
      if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_BEHIND_BYTES)
        socket.send(frame.bytes());
    },
    onRefused: (reason) => socket.close(CLOSE_POLICY, reason.slice(0, 120)),
    onEnd: (problem) => socket.close(CLOSE_TRY_AGAIN, problem.slice(0, 120)),
  });
  // Before the close frame, which a client may ignore: from now on none of its frames reach the vehicle.
  ended.addEventListener('abort', () => feed.end(), { once: true });
  socket.on('close', () => feed.end());
  socket.on('message', (data: RawData, isBinary) => {
    if (!isBinary) socket.close(CLOSE_UNSUPPORTED, 'frames are binary messages');
    else if (Buffer.isBuffer(data)) feed.write(data);
  });
}
