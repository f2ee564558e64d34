import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { every } from '../../../shared/async/every.ts';
import type { Principal } from '../../../shared/auth/principal.ts';
import { TICKET_PROTOCOL } from '../../../shared/auth/principal-mark.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { failureOf, rawFailure } from '../../../shared/http/answer.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { PrincipalWatch } from '../edge/principal-watch.ts';

/** Application close code for a socket whose credential is no longer valid. */
const CLOSE_UNAUTHENTICATED = 4401;
const CLOSE_GOING_AWAY = 1001;

/** A client that does not answer the close frame within this time is disconnected. */
const CLOSE_MS = 250;
const PING_MS = 15_000;
const MAX_PAYLOAD = 64 * 1024;
const MAX_SOCKETS = 256;

interface Open {
  readonly socket: WebSocket;
  answered: boolean;
}

/**
 * The WebSockets of the front. Each ends when its credential ends (within a second of a revocation, even if the client does not
 * answer), or when its peer stops answering pings.
 */
export class OpenSockets {
  readonly #open = new Set<Open>();
  readonly #log: Logger;
  readonly #principalWatch: PrincipalWatch;
  // The ticket in the offered protocols is a secret, so only the fixed name is echoed.
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_PAYLOAD,
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has(TICKET_PROTOCOL) ? TICKET_PROTOCOL : false),
  });
  #timer: NodeJS.Timeout | null = null;

  constructor(log: Logger, principalWatch: PrincipalWatch) {
    this.#log = log;
    this.#principalWatch = principalWatch;
    // The library would answer a malformed handshake in plain text.
    this.#server.on('wsClientError', (error, socket) => {
      socket.end(rawFailure(failureOf(new ApiError('E_BAD_REQUEST', `${messageOf(error)}.`))));
    });
  }

  start(): void {
    this.#timer = every(PING_MS, 'open sockets', () => this.#ping());
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const { socket } of this.#open) socket.close(CLOSE_GOING_AWAY, 'the node is stopping');
    this.#server.close();
  }

  get full(): boolean {
    return this.#open.size >= MAX_SOCKETS;
  }

  /**
   * Completes the handshake of a request that `decide` has passed.
   * @param ready called with the socket and a signal that aborts when the principal ends
   */
  accept(
    req: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    principal: Principal,
    ready: (socket: WebSocket, ended: AbortSignal) => void,
  ): void {
    this.#server.handleUpgrade(req, socket, head, (ws) => {
      const entry: Open = { socket: ws, answered: true };
      const ended = new AbortController();
      const release = this.#principalWatch.onEnd(principal, () => {
        ended.abort();
        ws.close(CLOSE_UNAUTHENTICATED, 'the credential is no longer valid');
        setTimeout(() => ws.terminate(), CLOSE_MS).unref();
      });
      this.#open.add(entry);
      ws.on('pong', () => {
        entry.answered = true;
      });
      ws.on('error', (error) => this.#log.debug(`socket: ${messageOf(error)}`));
      ws.on('close', () => {
        release();
        this.#open.delete(entry);
      });
      ready(ws, ended.signal);
    });
  }

  #ping(): void {
    for (const entry of this.#open) {
      if (!entry.answered) {
        entry.socket.terminate();
        continue;
      }
      entry.answered = false;
      entry.socket.ping();
    }
  }
}
