/**
 * Calls and events between our own processes over a Unix socket, one JSON object a line:
 *   request  {id, method, params, until?}  answer {id, result} | {id, error: {code, detail, extras}}
 *   event    {event, data}             from the server to every client, dropped for a client that does not read
 * `until`, ms of the machine's monotonic clock: after it nobody waits for the answer, and the call is not begun.
 * Every call has a time-out, every line and every outgoing queue a bound.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Retry } from '../async/retry.ts';
import { tell } from '../async/tell.ts';
import { ApiError, isErrorCode, messageOf } from '../errors.ts';
import { LineSplitter } from './lines.ts';
import { listenUnix } from './socket-file.ts';

const MAX_LINE_CHARS = 4 * 1024 * 1024;
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
const MAX_PENDING = 256;

export type RpcMethod = (params: unknown, signal: AbortSignal) => unknown;

interface Wire {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly until?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly detail?: unknown; readonly extras?: unknown };
  readonly event?: unknown;
  readonly data?: unknown;
}

/** CLOCK_MONOTONIC, which all processes of a machine have in common (that of `performance` begins with each process). */
function machineMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

function parse(line: string): Wire | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export interface RpcServerOptions {
  readonly path: string;
  /** Mode of the socket file, which decides who may open it; default 0660. */
  readonly mode?: number;
  /** A listening socket from systemd, instead of one at `path`. */
  readonly fd?: number | null;
  /** The longest request, characters. */
  readonly maxLineChars?: number;
  readonly methods: Readonly<Record<string, RpcMethod>>;
  /** Events that a new client gets at once, so that it never waits for the next change. */
  readonly greeting?: () => ReadonlyArray<readonly [event: string, data: unknown]>;
  /** A client has connected. */
  readonly onConnection?: () => void;
  readonly onError: (error: unknown) => void;
}

export class RpcServer {
  readonly #options: RpcServerOptions;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  /** Events not sent because a client did not read. */
  dropped = 0;

  constructor(options: RpcServerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async start(): Promise<void> {
    const { path, fd, mode } = this.#options;
    if (typeof fd !== 'number') return listenUnix(this.#server, path, mode);
    this.#server.listen({ fd });
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  broadcast(event: string, data: unknown): void {
    if (this.#clients.size === 0) return;
    const line = `${JSON.stringify({ event, data })}\n`;
    for (const client of this.#clients) {
      if (client.writableLength > MAX_QUEUED_BYTES) this.dropped++;
      else client.write(line);
    }
  }

  #accept(socket: Socket): void {
    this.#clients.add(socket);
    this.#options.onConnection?.();
    const gone = new AbortController();
    const splitter = new LineSplitter(this.#options.maxLineChars ?? MAX_LINE_CHARS);
    // EPIPE, ECONNRESET: the peer hung up, which it may do at any time.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') this.#options.onError(error);
    });
    socket.on('close', () => {
      this.#clients.delete(socket);
      gone.abort();
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk, (line) => {
          this.#serve(socket, line, gone.signal).catch((error: unknown) => this.#options.onError(error));
        });
      } catch (error) {
        this.#options.onError(error);
        socket.destroy();
      }
    });
    for (const [event, data] of this.#options.greeting?.() ?? []) {
      socket.write(`${JSON.stringify({ event, data })}\n`);
    }
  }

  async #serve(socket: Socket, line: string, signal: AbortSignal): Promise<void> {
    // After an invalid line nothing is served: the body of an HTTP request could be a call.
    if (socket.destroyed) return;
    const wire = parse(line);
    if (wire === null || typeof wire.method !== 'string') {
      socket.destroy();
      return;
    }
    const reply =
      typeof wire.until === 'number' && machineMs() > wire.until
        ? { error: { code: 'E_TIMEOUT', detail: 'It came too late: nothing was done.', extras: {} } } // one of us stood still
        : await this.#answer(wire.method, wire.params, signal);
    // A client that sends requests and reads no answers would fill our memory.
    if (socket.writableLength > MAX_QUEUED_BYTES) socket.destroy();
    if (!socket.destroyed) socket.write(`${JSON.stringify({ id: wire.id, ...reply })}\n`);
  }

  async #answer(method: string, params: unknown, signal: AbortSignal): Promise<Record<string, unknown>> {
    const run = Object.hasOwn(this.#options.methods, method) ? this.#options.methods[method] : undefined;
    try {
      if (run === undefined) {
        this.#options.onError(new Error(`unknown method: ${method.slice(0, 64)}`));
        throw new ApiError('E_NOT_IMPLEMENTED', `no method ${method.slice(0, 64)}`);
      }
      return { result: (await run(params, signal)) ?? null };
    } catch (error) {
      if (error instanceof ApiError)
        return { error: { code: error.code, detail: error.message, extras: error.extras } };
      this.#options.onError(error);
      return { error: { code: 'E_INTERNAL', detail: messageOf(error), extras: {} } };
    }
  }
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

interface RpcClientOptions {
  readonly path: string;
  /** The peer's name in error messages, for example `svc-link`. */
  readonly peer: string;
  readonly onEvent?: (event: string, data: unknown) => void;
  readonly onConnection?: (connected: boolean) => void;
}

/** A client that stays connected, and connects again with back-off (50 ms doubling to 250 ms) while the peer is away. */
export class RpcClient {
  readonly #options: RpcClientOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #retry = new Retry(() => void this.#open(), { firstMs: 50, capMs: 250 });
  #socket: Socket | null = null;
  #connected = false;
  #lastId = 0;

  constructor(options: RpcClientOptions) {
    this.#options = options;
  }

  get connected(): boolean {
    return this.#connected;
  }

  start(): void {
    this.#retry.start();
  }

  /** Connects once, without reconnecting. @throws Error the system's own, for example ENOENT */
  async connectOnce(): Promise<void> {
    await once(this.#open(), 'connect');
  }

  stop(): void {
    this.#retry.stop();
    if (this.#socket === null) return;
    this.#socket.destroy();
    this.#closed();
  }

  /**
   * @param timeoutMs an answer that takes longer is `E_TIMEOUT`
   * @throws ApiError the peer's own error, `E_UPSTREAM_DOWN` if it is away, `E_UPSTREAM` if it disconnected during the call
   */
  async call(method: string, params: unknown, timeoutMs: number): Promise<unknown> {
    const socket = this.#socket;
    const { peer } = this.#options;
    if (socket === null || !this.#connected || this.#pending.size >= MAX_PENDING) {
      throw new ApiError('E_UPSTREAM_DOWN', `${peer} is not answering at the moment. Try again shortly.`);
    }
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new ApiError('E_TIMEOUT', `${peer} did not answer within ${timeoutMs} ms.`));
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      socket.write(`${JSON.stringify({ id, method, params, until: machineMs() + timeoutMs })}\n`);
    });
  }

  #open(): Socket {
    const socket = connect(this.#options.path);
    this.#socket = socket;
    const splitter = new LineSplitter(MAX_LINE_CHARS);
    socket.on('connect', () => {
      this.#connected = true;
      this.#retry.worked();
      this.#said(true);
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk, (line) => this.#receive(line));
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined);
      }
    });
    // 'close' follows every 'error'; the peer being away is the normal case that the back-off handles.
    socket.on('error', () => undefined);
    // After stop() and start() the old socket closes when the new one is there already.
    socket.on('close', () => {
      if (this.#socket === socket) this.#closed();
    });
    return socket;
  }

  #closed(): void {
    const was = this.#connected;
    this.#connected = false;
    this.#socket = null;
    for (const [id, pending] of this.#pending) {
      clearTimeout(pending.timer);
      this.#pending.delete(id);
      pending.reject(new ApiError('E_UPSTREAM', `${this.#options.peer} disconnected before it answered.`));
    }
    if (was) this.#said(false);
    this.#retry.again();
  }

  #said(connected: boolean): void {
    const { peer, onConnection } = this.#options;
    tell(`the connection to ${peer}`, (value: boolean) => onConnection?.(value), connected);
  }

  #receive(line: string): void {
    const { peer, onEvent } = this.#options;
    const wire = parse(line);
    if (wire === null) {
      this.#socket?.destroy();
      return;
    }
    if (typeof wire.event === 'string') {
      const { event, data } = wire;
      tell(`${event} of ${peer}`, () => onEvent?.(event, data), null);
      return;
    }
    const pending = typeof wire.id === 'number' ? this.#pending.get(wire.id) : undefined;
    if (pending === undefined || typeof wire.id !== 'number') return; // an answer after its time-out
    this.#pending.delete(wire.id);
    clearTimeout(pending.timer);
    if (wire.error === undefined) {
      pending.resolve(wire.result);
      return;
    }
    const { code, detail, extras } = wire.error;
    pending.reject(
      new ApiError(
        isErrorCode(code) ? code : 'E_INTERNAL',
        typeof detail === 'string' ? detail : undefined,
        typeof extras === 'object' && extras !== null ? { ...extras } : {},
      ),
    );
  }
}
