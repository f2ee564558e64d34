import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { every } from '../../shared/async/every.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { failureOf, rawFailure } from '../../shared/http/answer.ts';
import type { Logger } from '../../shared/logger.ts';
import { TICKET_PROTOCOL } from '../edge/headers.ts';

/** Application close code for a socket whose credential died. */
export const CLOSE_UNAUTHENTICATED = 4401;
const CLOSE_GOING_AWAY = 1001;

const RECHECK_MS = 500;
const PING_MS = 15_000;
const MAX_PAYLOAD = 64 * 1024;
const MAX_SOCKETS = 256;

interface Open {
  readonly socket: WebSocket;
  /** Whether the credential that opened it still holds. */
  readonly holds: () => boolean;
  answered: boolean;
}

/**
 * The WebSockets of the front. Each lives no longer than the credential that opened it (checked twice a second, so that a
 * revoked one is out within a second), and no longer than its peer answers pings.
 */
export class OpenSockets {
  readonly #open = new Set<Open>();
  readonly #log: Logger;
  // The ticket in the offered protocols is a secret: only the fixed name is ever echoed.
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_PAYLOAD,
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has(TICKET_PROTOCOL) ? TICKET_PROTOCOL : false),
  });
  #timers: NodeJS.Timeout[] = [];

  constructor(log: Logger) {
    this.#log = log;
    // The library would answer a malformed handshake in plain text.
    this.#server.on('wsClientError', (error, socket) => {
      socket.end(rawFailure(failureOf(new ApiError('E_BAD_REQUEST', `${messageOf(error)}.`))));
    });
  }

  start(): void {
    this.#timers = [
      every(RECHECK_MS, 'open sockets', () => this.recheck()),
      every(PING_MS, 'open sockets', () => this.#ping()),
    ];
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const { socket } of this.#open) socket.close(CLOSE_GOING_AWAY, 'the node is stopping');
    this.#server.close();
  }

  get full(): boolean {
    return this.#open.size >= MAX_SOCKETS;
  }

  /** Completes the handshake of a request that was decided upon. */
  accept(
    req: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    holds: () => boolean,
    ready: (socket: WebSocket) => void,
  ): void {
    this.#server.handleUpgrade(req, socket, head, (ws) => {
      const entry: Open = { socket: ws, holds, answered: true };
      this.#open.add(entry);
      ws.on('pong', () => {
        entry.answered = true;
      });
      ws.on('error', (error) => this.#log.debug(`socket: ${messageOf(error)}`));
      ws.on('close', () => this.#open.delete(entry));
      ready(ws);
    });
  }

  /** Closes every socket whose credential no longer holds. */
  recheck(): void {
    for (const { socket, holds } of this.#open) {
      if (!holds()) socket.close(CLOSE_UNAUTHENTICATED, 'the credential no longer holds');
    }
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
