import type { Socket } from 'node:net';
import { messageOf } from '../errors.ts';
import { encodeFrame, FrameReader, type IpcMessage } from './frames.ts';

/** How many bytes wait for an extension that does not read; beyond that events are lost, and it loses nobody else's. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Answers that it has asked for and does not read: beyond that it is broken. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_CALLS = 64;

/** An extension answered with an error. */
export class ExtensionError extends Error {}

export interface ConnectionOptions {
  readonly socket: Socket;
  /** A request of the extension; the result, or the message of what it throws, is the response. */
  readonly onRequest: (method: string, args: unknown) => unknown;
  /** It sent something that is no message; the connection ends. */
  readonly onBroken: (problem: string) => void;
}

/** One connection of an extension: its requests, our events, our requests to it. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  #next = 1;
  /** Requests of the extension that are being served. */
  #served = 0;
  /** Events that it did not read in time. */
  #lost = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket } = options;
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const message of reader.push(chunk)) this.#take(message);
      } catch (error) {
        options.onBroken(messageOf(error));
        socket.destroy();
      }
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new ExtensionError('it hung up'));
      this.#waiting.clear();
    });
  }

  get lost(): number {
    return this.#lost;
  }

  /** An event; dropped and counted where the extension does not read. */
  tell(name: string, args: unknown): void {
    const { socket } = this.#options;
    if (socket.destroyed || socket.writableLength > MAX_WAITING_BYTES) this.#lost++;
    else socket.write(encodeFrame({ v: 1, t: 'event', m: name, a: args }));
  }

  /**
   * Asks the extension.
   * @throws ExtensionError: its own error, `it hung up`, or `tool_timeout` after `ms`
   */
  async ask(method: string, args: unknown, ms: number): Promise<unknown> {
    const { socket } = this.#options;
    if (socket.destroyed) throw new ExtensionError('it hung up');
    if (this.#waiting.size >= MAX_CALLS) throw new ExtensionError('too many calls at once');
    const id = this.#next++;
    let timer: NodeJS.Timeout | null = null;
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        timer = setTimeout(() => reject(new ExtensionError('tool_timeout')), ms);
        socket.write(encodeFrame({ v: 1, t: 'request', m: method, a: args, id }));
      });
    } finally {
      this.#waiting.delete(id);
      if (timer !== null) clearTimeout(timer);
    }
  }

  end(): void {
    this.#options.socket.destroy();
  }

  #take({ t, m, a, id, err }: IpcMessage): void {
    switch (t) {
      case 'request':
        void this.#serve(m ?? '', a, id ?? 0);
        return;
      case 'response': {
        const call = typeof id === 'number' ? this.#waiting.get(id) : undefined;
        if (typeof err === 'string') call?.reject(new ExtensionError(err));
        else call?.resolve(a ?? null);
        return;
      }
      case 'event':
        return; // it publishes by requests, so that it learns whether it may
    }
  }

  async #serve(method: string, args: unknown, id: number | string): Promise<void> {
    const answer = (message: Pick<IpcMessage, 'a' | 'err'>): void => {
      const { socket } = this.#options;
      if (socket.destroyed) return;
      if (socket.writableLength > MAX_UNREAD_BYTES) {
        this.#options.onBroken('it does not read its answers');
        socket.destroy();
        return;
      }
      try {
        socket.write(encodeFrame({ v: 1, t: 'response', id, ...message }));
      } catch (error) {
        socket.write(encodeFrame({ v: 1, t: 'response', id, err: messageOf(error) }));
      }
    };
    if (this.#served >= MAX_CALLS) {
      answer({ err: 'too many requests at once' });
      return;
    }
    this.#served++;
    try {
      answer({ a: (await this.#options.onRequest(method, args)) ?? null });
    } catch (error) {
      answer({ err: messageOf(error).slice(0, 4096) });
    } finally {
      this.#served--;
    }
  }
}
