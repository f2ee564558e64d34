import { createServer, type Server, type Socket } from 'node:net';
import { within } from '../../shared/async/within.ts';
import { messageOf } from '../../shared/errors.ts';
import { memberOf } from '../../shared/member.ts';
import { mayPublish, maySubscribe } from '../../shared/plugins/capabilities.ts';
import { batchOf, publishedBatch } from '../../shared/plugins/detections.ts';
import { encodeFrame, FrameReader, type IpcMessage } from '../../shared/plugins/frames.ts';
import type { Manifest } from '../../shared/plugins/manifest.ts';
import { METHOD_CAPABILITIES } from '../../shared/plugins/methods.ts';
import { listenUnix } from '../../shared/rpc/socket-file.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import type { Batch } from '../../shared/schemas/vision.ts';

export interface AuthorHostOptions {
  readonly manifest: Manifest;
  readonly socket: string;
  /** The extension's configuration; it is changed by config.set. */
  readonly config: Map<string, unknown>;
  /** The telemetry of this moment, as GET /api/telemetry answers it. */
  readonly telemetry: () => Promise<unknown>;
  /** What the extension did, a sentence each. */
  readonly onEvent: (sentence: string) => void;
}

const MAX_RATE_HZ = 10;
const HELLO_MS = 10_000;

/**
 * The node's side of an extension's socket on its author's machine, without a node: every grant of the manifest, telemetry from
 * a function, and no vehicle that could be commanded. It checks the grants as a node does.
 */
export class AuthorHost {
  readonly #options: AuthorHostOptions;
  readonly #grants: ReadonlySet<string>;
  readonly #server: Server;
  readonly #hello = Promise.withResolvers<void>();
  readonly #topics = new Set<string>();
  readonly #batchProblems = compileValidator(createAjv(), publishedBatch);
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #socket: Socket | null = null;
  #telemetryTimer: NodeJS.Timeout | null = null;
  #nextId = 1;

  constructor(options: AuthorHostOptions) {
    this.#options = options;
    this.#grants = new Set(options.manifest.agent?.permissions.map(({ id }) => id));
    this.#hello.promise.catch(() => undefined); // whoever waits for it hears of it
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async start(): Promise<void> {
    await listenUnix(this.#server, this.#options.socket, 0o600);
  }

  async stop(): Promise<void> {
    this.#end();
    this.#hello.reject(new Error('The host was stopped before the extension said hello.'));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    await promise;
  }

  /** @throws after 10 s without a hello */
  async greeted(): Promise<void> {
    await within(
      this.#hello.promise,
      HELLO_MS,
      () => new Error(`The extension did not say hello within ${HELLO_MS / 1000} s.`),
    );
  }

  /** Runs a tool. @throws Error with the extension's words, or after `ms` */
  async invoke(tool: string, args: unknown, ms: number): Promise<unknown> {
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#send({ v: 1, t: 'request', id, m: 'tool.invoke', a: { tool, arguments: args } });
    try {
      return await within(waiting.promise, ms, () => new Error(`tool_timeout: ${tool}`));
    } finally {
      this.#waiting.delete(id);
    }
  }

  #accept(socket: Socket): void {
    if (this.#socket !== null) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    const reader = new FrameReader();
    socket.on('data', (chunk) => {
      try {
        for (const message of reader.push(chunk)) this.#message(message);
      } catch (error) {
        this.#options.onEvent(`sent something that is no message: ${messageOf(error)}`);
        socket.destroy();
      }
    });
    socket.on('error', (error) => this.#options.onEvent(`its connection failed: ${error.message}`));
    socket.on('close', () => this.#end());
  }

  #end(): void {
    if (this.#telemetryTimer !== null) clearInterval(this.#telemetryTimer);
    this.#telemetryTimer = null;
    this.#socket?.destroy();
    this.#socket = null;
    for (const { reject } of this.#waiting.values()) reject(new Error('plugin_disconnected'));
    this.#waiting.clear();
  }

  #message(message: IpcMessage): void {
    if (message.t === 'request') {
      const { id = 0, m = '' } = message;
      try {
        this.#send({ v: 1, t: 'response', id, a: this.#answer(m, message.a) });
      } catch (error) {
        this.#options.onEvent(`${m} was refused: ${messageOf(error)}`);
        this.#send({ v: 1, t: 'response', id, err: messageOf(error) });
      }
    } else if (message.t === 'response') {
      const waiting = this.#waiting.get(Number(message.id));
      if (typeof message.err === 'string') waiting?.reject(new Error(message.err));
      else waiting?.resolve(message.a);
    }
  }

  #answer(method: string, args: unknown): unknown {
    const capability = METHOD_CAPABILITIES[method];
    if (capability === undefined || !Object.hasOwn(METHOD_CAPABILITIES, method))
      throw new Error(`unknown method ${method}`);
    if (capability !== null && !this.#grants.has(capability))
      throw new Error(`capability_denied: ${capability}`);
    const { manifest, config, onEvent } = this.#options;
    const key = memberOf(args, 'key');
    const topic = memberOf(args, 'topic');
    switch (method) {
      case 'hello':
        this.#hello.resolve();
        return {
          plugin_id: manifest.id,
          version: manifest.version,
          profile: 'drone',
          grants: [...this.#grants],
          config: Object.fromEntries(config),
        };
      case 'config.get':
        if (typeof key !== 'string') return { values: Object.fromEntries(config) };
        return { value: config.get(key) ?? null };
      case 'config.set':
        if (typeof key !== 'string' || key === '') throw new Error('config.set: /key must be string');
        config.set(key, memberOf(args, 'value'));
        return { set: true };
      case 'event.publish':
      case 'state.publish':
        if (typeof topic !== 'string' || !mayPublish(manifest.id, topic, this.#grants))
          throw new Error('capability_denied: event.publish');
        onEvent(
          `${method === 'event.publish' ? 'event' : 'state'} ${topic} ${show(memberOf(args, 'payload'))}`,
        );
        if (method === 'event.publish') this.#publish(topic, memberOf(args, 'payload'));
        return { published: true };
      case 'event.subscribe':
        this.#subscribe(memberOf(args, 'topics'));
        return { topics: [...this.#topics] };
      case 'vision.publish_detection':
        onEvent(`detections ${show(this.#batch(args).detections)}`);
        return { published: true };
      case 'vision.subscribe_detections':
        return { subscribed: true }; // nothing is seen here
      case 'telemetry.subscribe':
        this.#telemetry(memberOf(args, 'rate_hz'), memberOf(args, 'fields'));
        return { subscribed: true };
      case 'ping':
        return { pong: true };
      default:
        throw new Error(`not_available: ${method} needs a node`);
    }
  }

  #batch(args: unknown): Batch {
    const wrong = this.#batchProblems(args);
    if (wrong !== null)
      throw new Error(
        `vision.publish_detection: ${wrong.map(({ path, message }) => `${path} ${message}`.trim()).join('; ')}`,
      );
    return batchOf(this.#options.manifest.id, args as object);
  }

  #subscribe(topics: unknown): void {
    if (!Array.isArray(topics)) throw new Error('event.subscribe: /topics must be array');
    this.#topics.clear();
    for (const topic of topics) {
      if (typeof topic !== 'string' || !maySubscribe(this.#options.manifest.id, topic, this.#grants))
        throw new Error(`capability_denied: event.subscribe ${String(topic)}`);
      this.#topics.add(topic);
    }
  }

  #publish(topic: string, payload: unknown): void {
    if (this.#topics.has(topic)) this.#send({ v: 1, t: 'event', m: 'event', a: { topic, payload } });
  }

  #telemetry(rate: unknown, fields: unknown): void {
    const hz = typeof rate === 'number' && rate > 0 ? Math.min(rate, MAX_RATE_HZ) : 1;
    if (this.#telemetryTimer !== null) clearInterval(this.#telemetryTimer);
    this.#telemetryTimer = setInterval(() => {
      this.#options.telemetry().then(
        (snapshot) => this.#send({ v: 1, t: 'event', m: 'telemetry', a: onlyFields(snapshot, fields) }),
        (error: unknown) => this.#options.onEvent(`no telemetry: ${messageOf(error)}`),
      );
    }, 1000 / hz);
  }

  #send(message: IpcMessage): void {
    this.#socket?.write(encodeFrame(message));
  }
}

function onlyFields(snapshot: unknown, fields: unknown): unknown {
  if (!Array.isArray(fields) || typeof snapshot !== 'object' || snapshot === null) return snapshot;
  return Object.fromEntries(Object.entries(snapshot).filter(([name]) => fields.includes(name)));
}

const MAX_SHOWN = 300;
function show(value: unknown): string {
  return JSON.stringify(value ?? null).slice(0, MAX_SHOWN);
}
