import { type WebSocket, WebSocketServer } from 'ws';
import { every } from '../../../shared/async/every.ts';
import { TICKET_PROTOCOL } from '../../../shared/auth/principal-mark.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { failureOf, rawFailure } from '../../../shared/http/answer.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Batch } from '../../../shared/schemas/vision.ts';
import type { UpgradeHandler } from '../base.ts';
import type { DetectionFeed } from './detection-feed.ts';

const MAX_SOCKETS = 32;
const TICK_MS = 500;
const PING_TICKS = 30;
/** How long a client waits for a detector that was never there, and for one that is restarted, with a large model. */
const NONE_MS = 2500;
const AWAY_MS = 10_000;
const CLOSE = { goingAway: 1001, policy: 1008, noDetector: 1011 } as const;

interface Open {
  readonly socket: WebSocket;
  answered: boolean;
}

interface DetectionSocketsOptions {
  readonly feed: DetectionFeed;
  /** Whether batches may come: a detector runs. */
  readonly running: () => boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * The WebSockets that show batches. A client that is slow gets the newest batch when it has taken the one before, so nothing
 * queues up. svc-control closes the connection when its principal ends.
 */
export class DetectionSockets {
  readonly #options: DetectionSocketsOptions;
  readonly #open = new Set<Open>();
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: 1024,
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has(TICKET_PROTOCOL) ? TICKET_PROTOCOL : false),
  });
  #timer: NodeJS.Timeout | null = null;
  #ticks = 0;
  /** When those who wait for a detector are told that there is none. */
  #waitUntil = -Infinity;

  constructor(options: DetectionSocketsOptions) {
    this.#options = options;
    this.#server.on('wsClientError', (error, socket) => {
      socket.end(rawFailure(failureOf(new ApiError('E_BAD_REQUEST', `${messageOf(error)}.`))));
    });
  }

  readonly upgrade: UpgradeHandler = (_call, req, socket, head) => {
    if (this.#open.size >= MAX_SOCKETS)
      throw new ApiError('E_DRAINING', 'Too many WebSockets. Try again shortly.');
    this.#server.handleUpgrade(req, socket, head, (ws) => this.#accept(ws));
  };

  stop(): void {
    for (const { socket } of this.#open) {
      socket.close(CLOSE.goingAway, 'the node is stopping');
      setTimeout(() => socket.terminate(), TICK_MS).unref();
    }
    this.#server.close();
  }

  #accept(socket: WebSocket): void {
    const { feed, now, log } = this.#options;
    const entry: Open = { socket, answered: true };
    if (this.#open.size === 0) {
      this.#waitUntil = now() + NONE_MS;
      this.#timer = every(TICK_MS, 'detection sockets', () => this.#tick());
    }
    this.#open.add(entry);
    const unsubscribe = feed.subscribe(newestTo(socket, feed.latest()));
    socket.on('pong', () => {
      entry.answered = true;
    });
    socket.on('message', () => socket.close(CLOSE.policy, 'this stream takes no messages'));
    socket.on('error', (error) => log.debug(`detection socket: ${messageOf(error)}`));
    socket.on('close', () => {
      unsubscribe();
      this.#open.delete(entry);
      if (this.#open.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    });
  }

  #tick(): void {
    const { feed, running, now } = this.#options;
    if (running() || feed.latest() !== null) this.#waitUntil = now() + AWAY_MS;
    const away = now() > this.#waitUntil;
    const ping = ++this.#ticks % PING_TICKS === 0;
    for (const entry of this.#open) {
      const { socket } = entry;
      if (away) socket.close(CLOSE.noDetector, 'no detector is running');
      if (!ping) continue;
      if (!entry.answered) {
        socket.terminate();
        continue;
      }
      entry.answered = false;
      socket.ping();
    }
  }
}

/** Sends a batch when the one before is out of this process; of those that come meanwhile, the last. */
function newestTo(socket: WebSocket, first: Batch | null): (batch: Batch) => void {
  let next: Batch | null = first;
  let sending = false;
  const send = (): void => {
    if (sending || next === null || socket.readyState !== socket.OPEN) return;
    const text = JSON.stringify(next);
    next = null;
    sending = true;
    socket.send(text, () => {
      sending = false;
      send();
    });
  };
  send();
  return (batch) => {
    next = batch;
    send();
  };
}
