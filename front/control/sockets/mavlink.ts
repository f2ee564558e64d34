import { connect } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Principal } from '../../../shared/auth/principal.ts';
import { messageOf } from '../../../shared/errors.ts';
import { Framer } from '../../../shared/mavlink/framer.ts';
import type { mavlinkStream } from '../../../shared/routes/flight.ts';
import type { SocketHandler } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { FeedHello, FeedReply } from '../../../shared/rpc/link.ts';

/** About a second of a busy vehicle: a reader that is further behind loses frames, and the node loses nothing. */
const MAX_BEHIND_BYTES = 64 * 1024;
/** Limit of a client's bytes that svc-link has not read yet; svc-link reads at once, so only a flood reaches it. */
const MAX_WAITING_BYTES = 256 * 1024;
const REPLY_MS = 2000;
const LF = 0x0a;
const MAX_REPLY_BYTES = 4096;

const CLOSE_UNSUPPORTED = 1003;
const CLOSE_POLICY = 1008;
const CLOSE_TRY_AGAIN = 1013;

/**
 * Raw MAVLink, one frame in each binary message, both ways. A token needs `flight` to send anything; frames from a read-only
 * client are dropped and counted. svc-link enforces this and the armed guard, since it knows whether the vehicle is armed when
 * a frame comes.
 */
export function mavlinkSocket(feed: string): SocketHandler<typeof mavlinkStream, WebSocket> {
  return ({ query, principal, forced }, socket, ended) => {
    const { msgs = null } = parseQuery(query) ?? {};
    pipe(socket, feed, { name: principal.id, write: mayFly(principal), force: forced, msgs }, ended);
  };
}

/** Only tokens have scopes; every other accepted caller has the operator's rights. */
export function mayFly({ scopes }: Principal): boolean {
  return scopes === null || scopes.includes('flight');
}

function pipe(socket: WebSocket, feed: string, hello: FeedHello, ended: AbortSignal): void {
  const link = connect(feed);
  // Before the close frame, which a client may ignore: from now on none of its frames reach the vehicle.
  ended.addEventListener('abort', () => link.destroy(), { once: true });
  const framer = new Framer((frame) => {
    if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_BEHIND_BYTES)
      socket.send(frame.bytes());
  });
  let head: Buffer | null = Buffer.alloc(0);
  link.setTimeout(REPLY_MS, () => link.destroy(new Error('svc-link does not answer')));
  link.write(`${JSON.stringify(hello)}\n`); // before any frame of a client that sends early
  link.on('data', (chunk: Buffer) => {
    if (head === null) {
      framer.push(chunk, performance.now());
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(LF);
    if (end === -1) {
      if (head.length > MAX_REPLY_BYTES) link.destroy(new Error('svc-link sent no valid reply'));
      return;
    }
    const reply = parseReply(head.toString('utf8', 0, end));
    const rest = head.subarray(end + 1);
    head = null;
    link.setTimeout(0);
    if (reply.ok) framer.push(rest, performance.now());
    else socket.close(CLOSE_POLICY, reply.detail.slice(0, 120));
  });
  link.on('error', (error) => socket.close(CLOSE_TRY_AGAIN, messageOf(error).slice(0, 120)));
  link.on('close', () => socket.close(CLOSE_TRY_AGAIN, 'svc-link has ended'));
  socket.on('close', () => link.destroy());
  socket.on('message', (data: RawData, isBinary) => {
    if (!isBinary) socket.close(CLOSE_UNSUPPORTED, 'frames are binary messages');
    else if (!link.destroyed && Buffer.isBuffer(data) && link.writableLength < MAX_WAITING_BYTES)
      link.write(data);
  });
}

function parseReply(line: string): FeedReply {
  try {
    return JSON.parse(line) as FeedReply;
  } catch (error) {
    return { ok: false, detail: messageOf(error) };
  }
}
