import type { RowId } from '../../../../shared/routes/table.ts';
import { type Ask, call, pathOf, Refused } from './client.ts';
import { clientId, credential } from './credential.ts';
import { heard, missed, socketsRefused } from './presence.ts';
import { relayed } from './relay.ts';
import { ROW } from './rows.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
// The node sends at least a heartbeat's worth of news a second.
const SILENCE_MS = 5000;

/** A ticket was given out each time, so the node is there: it is no coincidence then. */
const UNOPENED = 3;

/** What flies asks who is the pilot in command; elsewhere it is a word that the node does not know. */
const FLIES: ReadonlySet<RowId> = new Set(['mavlink.ws.ws', 'manual.ws.ws']);

/** A WebSocket row, opened again whenever it breaks off, until `stop`. A browser cannot send headers with it: so by a ticket. */
export class Stream {
  readonly #id: RowId;
  readonly #ask: Ask;
  readonly #onText: (text: string) => void;
  readonly #onOpen: (open: boolean) => void;
  /** Silence that counts as a broken connection, ms; null: it may be silent. */
  readonly #silenceMs: number | null;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #stopped = false;
  /** How often in a row it was closed without having been open. */
  #unopened = 0;

  constructor(
    id: RowId,
    onText: (text: string) => void,
    {
      ask = {},
      onOpen = () => undefined,
      silenceMs = SILENCE_MS,
    }: { ask?: Ask; onOpen?: (open: boolean) => void; silenceMs?: number | null } = {},
  ) {
    this.#id = id;
    this.#ask = ask;
    this.#onText = onText;
    this.#onOpen = onOpen;
    this.#silenceMs = silenceMs;
    void this.#open();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  /** @returns false if it is not open at the moment */
  send(text: string): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(text);
    return true;
  }

  async #open(): Promise<void> {
    try {
      const protocols = await this.#protocols();
      if (this.#stopped) return;
      const url = new URL(
        pathOf(this.#id, {
          ...this.#ask,
          query: { ...this.#ask.query, ...(FLIES.has(this.#id) ? { client_id: clientId } : {}) },
        }),
        location.href,
      );
      url.protocol = url.protocol.replace('http', 'ws');
      this.#follow(new WebSocket(url, protocols));
    } catch (error) {
      // Without a credential it is the sign-in's turn; it opens a stream anew.
      if (error instanceof Refused && (error.status === 401 || error.status === 403)) return;
      this.#again(performance.now());
    }
  }

  async #protocols(): Promise<string[]> {
    if (credential.value === null) return [];
    const { ticket } = ROW[this.#id];
    const drone = this.#ask.here === true ? null : relayed.value;
    const scope =
      drone === null
        ? (ticket ?? '').replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => this.#ask.params?.[name] ?? '')
        : `relay:${drone.deviceId}`;
    const issued = await call('ws.ticket.post', { body: { scope }, here: true });
    return ['svc-ws-ticket', issued.ticket];
  }

  #follow(socket: WebSocket): void {
    this.#socket = socket;
    // Once: a frozen node does not answer the closing handshake, and a browser waits for that longer than a pilot may.
    const lost = (silentSince = performance.now()): void => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      socket.close();
      this.#onOpen(false);
      this.#again(silentSince);
    };
    const watch = (): void => {
      clearTimeout(this.#timer);
      const since = performance.now();
      if (this.#silenceMs !== null) this.#timer = setTimeout(() => lost(since), this.#silenceMs);
    };
    watch();
    socket.addEventListener('open', () => {
      if (this.#socket !== socket) return;
      this.#unopened = 0;
      socketsRefused.value = false;
      this.#pause = FIRST_PAUSE_MS;
      this.#onOpen(true);
    });
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket !== socket) return;
      watch();
      heard();
      if (typeof data === 'string') this.#onText(data);
    });
    socket.addEventListener('close', () => {
      if (this.#socket === socket && ++this.#unopened >= UNOPENED) socketsRefused.value = true;
      lost();
    });
  }

  #again(silentSince: number): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    missed(silentSince);
    this.#timer = setTimeout(() => void this.#open(), this.#pause);
    this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 2);
  }
}
