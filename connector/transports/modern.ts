import {
  createMcpHandler,
  InMemoryServerEventBus,
  type McpHttpHandler,
  type Server,
} from '@modelcontextprotocol/server';
import type { Principal } from '../principal.ts';
import type { Listener } from '../resources.ts';

const MAX_CALLERS = 128;

interface Own extends Listener {
  readonly handler: McpHttpHandler;
  readonly bus: InMemoryServerEventBus;
}

interface ModernOptions {
  readonly build: (principal: Principal) => Server;
  readonly maxBodyBytes: number;
  readonly onError: (error: Error) => void;
}

/**
 * The 2026 protocol: requests are independent, and only the SDK knows who listens to what. Each caller has a handler of its own,
 * so that what it is told comes from what it may read.
 */
export class ModernCallers {
  readonly #options: ModernOptions;
  /** By token or kind; the order is that of use. */
  readonly #callers = new Map<string, Own>();

  constructor(options: ModernOptions) {
    this.#options = options;
  }

  handlerOf(principal: Principal): McpHttpHandler {
    const key = principal.token ?? principal.id;
    const known = this.#callers.get(key);
    this.#callers.delete(key);
    const own = known ?? this.#make(principal);
    this.#callers.set(key, own);
    if (this.#callers.size > MAX_CALLERS) this.#forgetOne();
    return own.handler;
  }

  /** Of somebody who is gone. */
  async forget(id: string): Promise<void> {
    const own = this.#callers.get(id);
    this.#callers.delete(id);
    await own?.handler.close();
  }

  /** The callers that listen for changes now. */
  get listeners(): readonly Listener[] {
    return [...this.#callers.values()].filter(({ bus }) => bus.listenerCount > 0);
  }

  /** @param id of one principal; null: all */
  tellAll(tell: (notify: McpHttpHandler['notify']) => void, id: string | null): void {
    for (const { principal, handler } of this.#callers.values())
      if (id === null || principal.id === id) tell(handler.notify);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#callers.values()].map(async ({ handler }) => handler.close()));
  }

  #make(principal: Principal): Own {
    const { build, maxBodyBytes, onError } = this.#options;
    const bus = new InMemoryServerEventBus();
    const handler = createMcpHandler(() => build(principal), {
      legacy: 'reject',
      bus,
      maxRequestBodySize: maxBodyBytes,
      onerror: onError,
    });
    return { principal, handler, bus, notify: (uri) => handler.notify.resourceUpdated(uri) };
  }

  /** The one that was unused for the longest time, rather one that does not listen. */
  #forgetOne(): void {
    const all = [...this.#callers];
    const [key, own] = all.find(([, { bus }]) => bus.listenerCount === 0) ?? all[0] ?? [];
    if (key === undefined || own === undefined) return;
    this.#callers.delete(key);
    if (own.bus.listenerCount > 0) own.handler.close().catch(this.#options.onError);
  }
}
