import type { IncomingMessage } from 'node:http';
import { deferred } from '../../shared/async/deferred.ts';
import { Retry } from '../../shared/async/retry.ts';
import { messageOf } from '../../shared/errors.ts';
import { type NodeEntry, nodeEntry } from '../../shared/fleet/hub-api.ts';
import { isNodeId } from '../../shared/fleet/topics.ts';
import { readEvents } from '../../shared/http/event-reader.ts';
import { openAnswer } from '../../shared/http/node-request.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { asRecord } from '../rows.ts';
import { HubError, type HubPlace, hubHeaders, hubPlace } from './hub.ts';

const isEntry = validatorOf(nodeEntry);

const RETRY = { firstMs: 1000, capMs: 30_000 } as const;
const MAX_NODES = 100_000;
/** A stream without a sign of life for so long is dead. */
const SILENT_MS = 45_000;

interface FleetNodesOptions {
  readonly hub: HubPlace;
  /** The nodes of the credential; null: all. */
  readonly allowed: () => ReadonlySet<string> | null;
  /** Told of each entry that comes. */
  readonly onEntry: (entry: NodeEntry) => void;
  /** Nodes came, went, or have another name. */
  readonly onChange: () => void;
  /** The hub does not take the credential. */
  readonly onRefused: () => void;
  readonly log: Logger;
}

/** The nodes of the fleet with their presence and newest status, as the hub's stream tells them. While
 * the hub is away, what it said last counts. */
export class FleetNodes {
  readonly #options: FleetNodesOptions;
  readonly #entries = new Map<string, NodeEntry>();
  readonly #retry = new Retry(() => void this.#follow(), RETRY);
  #stream: AbortController | null = null;
  readonly #ready = deferred();

  constructor(options: FleetNodesOptions) {
    this.#options = options;
  }

  /** Those that the credential may reach, by id. */
  get all(): readonly NodeEntry[] {
    const allowed = this.#options.allowed();
    const all = [...this.#entries.values()];
    return allowed === null ? all : all.filter(({ id }) => allowed.has(id));
  }

  get(id: string): NodeEntry | undefined {
    const entry = this.#entries.get(id);
    const allowed = this.#options.allowed();
    return entry !== undefined && (allowed === null || allowed.has(id)) ? entry : undefined;
  }

  /** Resolves once the whole list is there. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  start(): void {
    this.#retry.start();
  }

  stop(): void {
    this.#retry.stop();
    this.#stream?.abort();
  }

  /** The stream until it ends: `node` for each node, `ready` when it has told them all, then `node` and `removed`. */
  async #follow(): Promise<void> {
    const stream = new AbortController();
    this.#stream = stream;
    try {
      const told = new Set<string>();
      let complete = false;
      let changed = false;
      for await (const { event, data } of readEvents(await this.#open(stream))) {
        if (event === 'node' && this.#isNode(data)) {
          const before = this.#entries.get(data.id);
          if (before === undefined && this.#entries.size >= MAX_NODES) continue;
          this.#entries.set(data.id, data);
          changed ||= before?.name !== data.name;
          this.#options.onEntry(data);
          if (!complete) told.add(data.id);
        } else if (event === 'removed') changed = this.#entries.delete(String(asRecord(data)['id']));
        else if (event === 'ready') {
          for (const id of this.#entries.keys()) if (!told.has(id)) changed = this.#entries.delete(id);
          complete = true;
          told.clear();
          this.#retry.worked();
          this.#ready.resolve();
        }
        if (!complete || !changed) continue;
        changed = false;
        this.#options.onChange();
      }
    } catch (error) {
      if (error instanceof HubError && error.status === 401) this.#options.onRefused();
      if (!stream.signal.aborted) this.#options.log.warn(`The hub's list of nodes: ${messageOf(error)}`);
    }
    stream.abort();
    this.#retry.again();
  }

  async #open(stream: AbortController): Promise<IncomingMessage> {
    const { hub } = this.#options;
    const base = new URL(hub.url);
    const late = setTimeout(() => stream.abort(), SILENT_MS);
    const answer = await openAnswer(hubPlace(hub), {
      method: 'GET',
      path: `${base.pathname.replace(/\/$/, '')}/v1/nodes/stream`,
      headers: { ...hubHeaders(hub), accept: 'text/event-stream' },
      timeoutMs: 0,
      signal: stream.signal,
    }).finally(() => clearTimeout(late));
    if (answer.statusCode !== 200) {
      answer.resume();
      throw new HubError(answer.statusCode ?? null, `status ${answer.statusCode ?? 0}`);
    }
    answer.socket.setTimeout(SILENT_MS, () => stream.abort());
    return answer;
  }

  #isNode(value: unknown): value is NodeEntry {
    return isEntry.fits(value) && isNodeId(value.id);
  }
}
