import type { ServerResponse } from 'node:http';
import { every } from '../../../shared/async/every.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type Caller, hasPlace } from '../../../shared/hub-api/caller.ts';
import type { StreamQuery } from '../../../shared/hub-api/schemas.ts';
import type { Fleet } from './fleet.ts';

/** Changes of one node within this time are one event. */
const FLUSH_MS = 500;
const COMMENT_MS = 15_000;
const STREAMS = { all: 200, each: 20, kept: 40 } as const;

interface Listener {
  readonly caller: Caller;
  readonly res: ServerResponse;
  /** Ids of nodes that have changed since they were last sent. */
  readonly changed: Set<string>;
  /** Those that it wants; null: all. */
  readonly only: ReadonlySet<string> | null;
  /** What it was sent and not told to be gone, where rights may change with a node's tags; null: they do not. */
  readonly shown: Set<string> | null;
  /** Whether all nodes were sent once. */
  ready: boolean;
}

/**
 * GET /v1/nodes/stream: server-sent events `node` (an entry), first for all nodes (or those that are asked for) and then for each that changes, `ready` {total}
 * in between, `removed` {id}. A client that reads slowly gets fewer and newer entries, not more memory.
 */
export class NodeStreams {
  readonly #fleet: Fleet;
  readonly #isValid: (caller: Caller) => Promise<boolean>;
  readonly #listeners = new Set<Listener>();
  #timers: readonly NodeJS.Timeout[] = [];
  #unlisten: () => void = () => undefined;

  /** @param isValid whether a credential still counts */
  constructor(fleet: Fleet, isValid: (caller: Caller) => Promise<boolean>) {
    this.#fleet = fleet;
    this.#isValid = isValid;
  }

  start(): void {
    this.#unlisten = this.#fleet.onChange((id) => {
      for (const listener of this.#listeners) {
        if (listener.only?.has(id) === false) continue;
        const isSeen = this.#fleet.sees(listener.caller, id);
        if (!isSeen && listener.shown?.has(id) !== true) continue;
        listener.changed.add(id);
        // At once: who calls nodes must not wait for one that is gone.
        if (!isSeen || !this.#fleet.has(id)) this.#flush(listener);
      }
    });
    this.#timers = [
      every(FLUSH_MS, 'streams', () => {
        for (const listener of this.#listeners) this.#flush(listener);
      }),
      every(COMMENT_MS, 'streams', async () => this.#check()),
    ];
  }

  stop(): void {
    this.#unlisten();
    for (const timer of this.#timers) clearInterval(timer);
    for (const { res } of this.#listeners) res.end();
  }

  /** @throws ApiError E_RATE_LIMITED */
  open(
    caller: Caller,
    { nodes }: StreamQuery,
    res: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): void {
    if (!hasPlace(this.#listeners, caller, STREAMS))
      throw new ApiError('E_RATE_LIMITED', 'Too many streams are open.', {}, { 'retry-after': '5' });
    res.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    res.flushHeaders();
    const only = nodes === undefined ? null : new Set(nodes.split(','));
    const changed = new Set(this.#seen(caller, only));
    const shown = caller.tags.length === 0 ? null : new Set<string>();
    const listener: Listener = { caller, res, only, changed, shown, ready: false };
    this.#listeners.add(listener);
    res.once('close', () => this.#listeners.delete(listener));
    res.on('drain', () => this.#flush(listener));
    this.#flush(listener);
  }

  /** Ends those of a credential that counts no longer. */
  end(id: string): void {
    for (const { caller, res } of this.#listeners) if (caller.id === id) res.end();
  }

  #seen(caller: Caller, only: ReadonlySet<string> | null): readonly string[] {
    if (only !== null) return [...only].filter((id) => this.#fleet.has(id) && this.#fleet.sees(caller, id));
    return this.#fleet.seenBy(caller)?.filter((id) => this.#fleet.has(id)) ?? this.#fleet.ids();
  }

  async #check(): Promise<void> {
    for (const { caller, res } of this.#listeners) {
      if (!(await this.#isValid(caller))) res.end();
      else if (!res.writableNeedDrain) res.write(': still here\n\n');
    }
  }

  #flush(listener: Listener): void {
    const { res, changed } = listener;
    for (const id of changed) {
      if (res.writableEnded || res.writableNeedDrain) return;
      changed.delete(id);
      const entry = this.#fleet.sees(listener.caller, id) ? this.#fleet.entry(id) : null;
      if (entry !== null) listener.shown?.add(id);
      else if (listener.shown?.delete(id) === false) continue; // it never heard of it
      res.write(entry === null ? event('removed', { id }) : event('node', entry));
    }
    if (listener.ready || res.writableEnded) return;
    listener.ready = true;
    res.write(event('ready', { total: this.#seen(listener.caller, listener.only).length }));
  }
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
