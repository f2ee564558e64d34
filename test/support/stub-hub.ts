import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { hubPage } from '../../bin/hub/api/page.ts';
import { clustersOf, mercatorOf } from '../../bin/hub/fleet/node-clusters.ts';
import { countsOf, type Findable, pageOf, sortTextOf, tagsAmong } from '../../bin/hub/fleet/node-query.ts';
import type { NodeEntry } from '../../shared/fleet/hub-api.ts';
import { labelsOf } from '../../shared/fleet/node-labels.ts';
import { factsOf } from '../../shared/fleet/node-state.ts';
import { sendValue } from '../../shared/http/answer.ts';
import { hubRows } from '../../shared/hub-api/rows.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';

const PAGE = join(import.meta.dirname, '../../residual/web/dist');

export const OPERATOR = 'svc_op_test';

/** A node as a hub tells of it: online, disarmed, 47 degrees north, heard of now. */
export function entryOf(number: number, changed: Partial<NodeEntry> = {}): NodeEntry {
  const now = Date.now();
  const id = `node-${String(number).padStart(5, '0')}`;
  return {
    id,
    name: `Kite ${number}`,
    profile: 'drone',
    version: '1.0.0',
    enrolled_at: now - 86_400_000,
    signing_key: { kty: 'OKP', crv: 'Ed25519', x: 'B'.repeat(42).concat('A') },
    online: true,
    seen_at: now,
    status: {
      at: now,
      armed: false,
      fc_connected: true,
      mode: 'GUIDED',
      battery_percent: number % 101,
      position: {
        lat: 47 + (number % 100) / 1000,
        lon: 8 + Math.floor(number / 100) / 1000,
        alt_m: 500,
        relative_alt_m: 40,
        heading: 90,
      },
      nonce: 'aaaaaaaa.1',
      events_behind: 0,
    },
    status_at: now,
    alarm: null,
    ...changed,
  };
}

/** As much of a hub as its page asks for: nodes that a test changes, and what was asked of it. */
export class StubHub {
  readonly nodes = new Map<string, NodeEntry>();
  /** By `METHOD /path`. */
  readonly answers = new Map<string, unknown>();
  /** `METHOD /path body` of every request that changes something. */
  readonly changes: string[] = [];
  readonly #page = hubPage(PAGE);
  /** Open ones, and of whom each tells; null: of all. */
  readonly #streams = new Map<ServerResponse, ReadonlySet<string> | null>();
  /** As the hub looks for them: made when a node is first asked for as it is now. */
  readonly #findable = new WeakMap<NodeEntry, Findable>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((req, res) => {
      this.#serve(req, res).catch(() => res.destroy());
    });
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const file = this.#page(req);
    if (file === null) await this.#answer(req, res);
    else sendValue(res, await file);
  }

  static async start(nodes: readonly NodeEntry[]): Promise<StubHub> {
    const hub = new StubHub();
    for (const node of nodes) hub.nodes.set(node.id, node);
    hub.answers.set('GET /v1/me', {
      kind: 'operator',
      id: 'op_1',
      name: 'first',
      scopes: ['read', 'safe_write', 'destructive', 'admin'],
      nodes: null,
      tags: [],
      expires_at: null,
      fleet: 'f-test',
      fleet_name: 'The yard',
    });
    hub.answers.set('GET /v1/sign-in', { provider: null });
    hub.#server.listen(0, '127.0.0.1');
    await once(hub.#server, 'listening');
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** To every page that listens. */
  tell(...nodes: readonly NodeEntry[]): void {
    for (const node of nodes) this.nodes.set(node.id, node);
    for (const node of nodes) this.#send(node.id, eventOf('node', node));
  }

  remove(id: string): void {
    this.nodes.delete(id);
    this.#send(id, eventOf('removed', { id }));
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #send(id: string, text: string): void {
    for (const [stream, only] of this.#streams) if (only?.has(id) !== false) stream.write(text);
  }

  *#all(): Generator<Findable> {
    for (const node of this.nodes.values()) {
      let found = this.#findable.get(node);
      if (found === undefined) {
        const facts = factsOf(node.status);
        const words = `${node.id}\n${node.name}`.toLowerCase();
        found = {
          ...node,
          labels: labelsOf(node),
          words,
          facts,
          at: mercatorOf(facts.place),
          sortText: sortTextOf(node),
        };
        this.#findable.set(node, found);
      }
      yield found;
    }
  }

  /** What the hub answers of its nodes; undefined: it is asked for something else. */
  #asked(what: string, url: URL): unknown {
    const asked = Object.fromEntries(url.searchParams);
    for (const { query } of hubRows.filter(({ method, path }) => `${method} ${path}` === what))
      if (query !== null && validatorOf(query, { useDefaults: true, coerce: true })(asked) !== null)
        throw new Error(`${url.search} is refused`);
    switch (what) {
      case 'GET /v1/fleet':
        return countsOf(this.#all(), Date.now());
      case 'GET /v1/maps':
        return { sources: [] };
      case 'GET /v1/tags':
        return { tags: tagsAmong(this.#all()) };
      case 'GET /v1/nodes': {
        const page = pageOf(this.#all(), asked as never, Date.now());
        return { ...page, nodes: page.nodes.map(({ id }) => this.nodes.get(id)) };
      }
      case 'GET /v1/nodes/clusters':
        return clustersOf(this.#all(), asked as never, Date.now());
      default:
        return undefined;
    }
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '', 'http://hub');
    const { pathname } = url;
    const what = `${req.method} ${pathname}`;
    const isPublic = hubRows.some(
      ({ access, method, path }) => access === 'public' && `${method} ${path}` === what,
    );
    if (!isPublic && req.headers.authorization !== `Bearer ${OPERATOR}`) {
      sendJson(res, 401, { code: 'E_UNAUTHENTICATED', detail: 'The hub does not know this credential.' });
      return;
    }
    if (req.method !== 'GET') {
      const body = (await req.toArray()).join('');
      this.changes.push(`${what}${url.search} ${body}`.trim());
    }
    const asked = this.#asked(what, url);
    if (what === 'GET /v1/nodes/stream') this.#stream(url.searchParams.get('nodes'), res);
    else if (asked !== undefined) sendJson(res, 200, asked);
    else if (what === 'GET /v1/live') this.#live(req, res);
    else if (this.answers.has(what)) sendJson(res, 200, this.answers.get(what));
    else {
      const node = this.nodes.get(decodeURIComponent(pathname.slice('/v1/nodes/'.length)));
      if (node !== undefined) sendJson(res, 200, node);
      else sendJson(res, 404, { code: 'E_NOT_FOUND', detail: 'Nothing at this path.' });
    }
  }

  /** What the entries of these nodes have now, again and again. */
  #live(req: IncomingMessage, res: ServerResponse): void {
    const ids = new URL(req.url ?? '', 'http://hub').searchParams.get('nodes')?.split(',') ?? [];
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const say = (): void => {
      for (const id of ids) {
        const { telemetry = null, telemetry_at } = this.nodes.get(id) ?? {};
        if (telemetry !== null) res.write(eventOf('telemetry', { id, telemetry, telemetry_at }));
      }
    };
    const timer = setInterval(say, 200);
    res.once('close', () => clearInterval(timer));
    say();
  }

  #stream(ids: string | null, res: ServerResponse): void {
    const only = ids === null ? null : new Set(ids.split(','));
    const told = [...(only ?? this.nodes.keys())].flatMap((id) => this.nodes.get(id) ?? []);
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    res.write(told.map((node) => eventOf('node', node)).join(''));
    res.write(eventOf('ready', { total: told.length }));
    this.#streams.set(res, only);
    res.once('close', () => this.#streams.delete(res));
  }
}

function eventOf(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function sendJson(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}
