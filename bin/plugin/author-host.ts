import { createServer, type Server, type Socket } from 'node:net';
import { within } from '../../shared/async/within.ts';
import { messageOf } from '../../shared/errors.ts';
import { memberOf } from '../../shared/member.ts';
import { mayPublish, maySubscribe } from '../../shared/plugins/capabilities.ts';
import { Connection, ExtensionError } from '../../shared/plugins/connection.ts';
import { batchOf, publishedBatch } from '../../shared/plugins/detections.ts';
import type { Manifest } from '../../shared/plugins/manifest.ts';
import { METHOD_CAPABILITIES } from '../../shared/plugins/methods.ts';
import { listenUnix } from '../../shared/rpc/socket-file.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
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
  readonly #batchProblems = validatorOf(publishedBatch);
  #connection: Connection | null = null;
  #telemetryTimer: NodeJS.Timeout | null = null;

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

  /** Runs a tool. @throws ExtensionError: its own words, `plugin_disconnected`, or `tool_timeout` after `ms` */
  async invoke(tool: string, args: unknown, ms: number): Promise<unknown> {
    if (this.#connection === null) throw new ExtensionError('plugin_disconnected');
    return this.#connection.ask('tool.invoke', { tool, arguments: args }, ms);
  }

  #accept(socket: Socket): void {
    if (this.#connection !== null) {
      socket.destroy();
      return;
    }
    const { onEvent } = this.#options;
    this.#connection = new Connection({
      socket,
      onRequest: (method, args) => {
        try {
          return this.#answer(method, args);
        } catch (error) {
          onEvent(`${method} was refused: ${messageOf(error)}`);
          throw error;
        }
      },
      onBroken: (problem) => onEvent(`its connection was ended: ${problem}`),
    });
    socket.once('close', () => this.#end());
  }

  #end(): void {
    if (this.#telemetryTimer !== null) clearInterval(this.#telemetryTimer);
    this.#telemetryTimer = null;
    this.#connection?.end();
    this.#connection = null;
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
    if (this.#topics.has(topic)) this.#connection?.tell('event', { topic, payload });
  }

  #telemetry(rate: unknown, fields: unknown): void {
    const hz = typeof rate === 'number' && rate > 0 ? Math.min(rate, MAX_RATE_HZ) : 1;
    if (this.#telemetryTimer !== null) clearInterval(this.#telemetryTimer);
    this.#telemetryTimer = setInterval(() => {
      this.#options.telemetry().then(
        (snapshot) => this.#connection?.tell('telemetry', onlyFields(snapshot, fields)),
        (error: unknown) => this.#options.onEvent(`no telemetry: ${messageOf(error)}`),
      );
    }, 1000 / hz);
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
