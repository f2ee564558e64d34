import { randomUUID } from 'node:crypto';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import {
  type NodeIncomingMessageLike,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import { isLegacyRequest, type Server } from '@modelcontextprotocol/server';
import { chunksOf } from '../../shared/async/chunks.ts';
import { every } from '../../shared/async/every.ts';
import { messageOf } from '../../shared/errors.ts';
import { type JsonObject, memberOf, parseJson } from '../../shared/member.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Denial } from '../denial.ts';
import type { Principal } from '../principal.ts';
import type { Listener } from '../resources.ts';
import { buildServer, type ServerDeps } from '../server.ts';
import { SessionEvents } from './event-store.ts';
import { ModernCallers } from './modern.ts';

/**
 * Streamable HTTP at `POST /mcp`: requests of the 2026 protocol are independent; those of the 2025 protocol have sessions,
 * because only in a session can the server ask the client. The same code serves the Unix socket, where access to the socket is
 * the credential.
 */

export interface HttpOptions {
  /** What serves a principal. */
  readonly depsOf: (principal: Principal) => ServerDeps;
  /** What clients are told about signing in here (RFC 9728); absent: nothing. */
  readonly metadata?: ResourceMetadata;
  /** http or unix, for the audit. */
  readonly transport: string;
  /** The principal of a request. @throws Denial if there is none */
  readonly authenticate: (req: IncomingMessage) => Promise<Principal>;
  /** Allowed host names; null on a Unix socket, which browsers cannot reach. */
  readonly hosts: ReadonlySet<string> | null;
  readonly health: () => Promise<JsonObject & { readonly ok: boolean }>;
  readonly onRefused: (req: IncomingMessage, denial: Denial) => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** RFC 9728, 2. */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  readonly resource_name: string;
}

const METADATA = '/.well-known/oauth-protected-resource';
/** All that it serves, besides metadata. */
const PLACES: ReadonlyMap<string, 'mcp' | 'health'> = new Map([
  ['/mcp', 'mcp'],
  ['/healthz', 'health'],
]);
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_SESSIONS = 128;
/** Of one principal: its own oldest ends first. */
const MAX_OWN_SESSIONS = 16;
const IDLE_MS = 600_000;
const REAP_MS = 60_000;
/** What an answer may be; the SDK wants both by name. */
const ANSWERS = ['application/json', 'text/event-stream'] as const;
/** Whoever cancels a call waits for no answer: one that asks again for its stream is told so. */
const CANCELLED = { code: -32_800, message: 'The call was cancelled.' } as const;

interface Session {
  readonly id: string;
  /** Whose it is. */
  readonly owner: string;
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly server: Server;
  /** Requests without an end yet: a stream of events, a long call. */
  open: number;
  usedAt: number;
}

export class HttpFace {
  readonly #options: HttpOptions;
  readonly #server: HttpServer;
  readonly #modern: ModernCallers;
  readonly #sessions = new Map<string, Session>();
  #reaper: NodeJS.Timeout | null = null;

  constructor(options: HttpOptions) {
    this.#options = options;
    const { depsOf, transport, log } = options;
    this.#modern = new ModernCallers({
      build: (principal) => buildServer(depsOf(principal), transport, principal),
      maxBodyBytes: MAX_BODY_BYTES,
      onError: (error) => log.debug(messageOf(error)),
    });
    this.#server = createServer((req, res) => {
      this.#serve(req, res).catch((error: unknown) => this.#fail(res, error));
    });
    this.#server.requestTimeout = 30_000;
  }

  /** The callers of the 2026 protocol that listen for changes. */
  get listeners(): readonly Listener[] {
    return this.#modern.listeners;
  }

  /** For clients of the 2026 protocol; the servers of the others notify them. */
  notify(what: 'tools' | 'resources' | 'prompts', id: string | null = null): void {
    this.#modern.tellAll((to) => {
      if (what === 'tools') to.toolsChanged();
      else if (what === 'prompts') to.promptsChanged();
      else to.resourcesChanged();
    }, id);
  }

  /** Ends what a principal has open here. */
  async forget(principal: Principal): Promise<void> {
    const owner = ownerOf(principal);
    for (const session of this.#sessions.values()) if (session.owner === owner) this.#end(session);
    await this.#modern.forget(principal.id);
  }

  /** Whether a principal has a request open. */
  isBusy(principal: Principal): boolean {
    const owner = ownerOf(principal);
    return [...this.#sessions.values()].some((session) => session.owner === owner && session.open > 0);
  }

  get server(): HttpServer {
    return this.#server;
  }

  start(): void {
    this.#reaper = every(REAP_MS, 'sessions', () => this.#reap());
  }

  async stop(): Promise<void> {
    if (this.#reaper !== null) clearInterval(this.#reaper);
    await Promise.all([...this.#sessions.values()].map(async ({ server }) => server.close()));
    await this.#modern.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!this.#isOurs(req)) {
      answer(res, 403, { error: 'forbidden', message: 'This Host or Origin is not allowed here.' });
      return;
    }
    const { metadata } = this.#options;
    const path = (req.url ?? '').split('?', 1)[0] ?? '';
    if (metadata !== undefined && req.method === 'GET' && metadataPaths(metadata).includes(path)) {
      answer(res, 200, metadata);
      return;
    }
    const place = PLACES.get(path);
    if (place === 'health' && req.method === 'GET') {
      const health = await this.#options.health();
      answer(res, health.ok ? 200 : 503, health);
      return;
    }
    if (place !== 'mcp') {
      answer(res, 404, { error: 'not found' });
      return;
    }
    let principal: Principal;
    try {
      principal = await this.#options.authenticate(req);
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      this.#options.onRefused(req, error);
      const status = error.reason === 'rest_down' ? 503 : error.reason === 'rate_limited' ? 429 : 401;
      if (status === 401) {
        const told = `error="invalid_token", error_description="${error.reason}"`;
        res.setHeader('www-authenticate', `Bearer realm="svc-mcp", ${told}${whereToSignIn(metadata)}`);
      }
      answer(res, status, { error: error.reason, message: error.message });
      return;
    }
    await this.#mcp(req, res, principal);
  }

  async #mcp(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void> {
    nameAnswers(req);
    const given = req.headers['mcp-session-id'];
    if (typeof given === 'string') {
      const session = this.#sessions.get(given);
      // Another caller's session is answered like an unknown one.
      if (session === undefined || session.owner !== ownerOf(principal)) {
        answer(res, 404, { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null });
        return;
      }
      session.open++;
      session.usedAt = this.#options.now();
      res.once('close', () => {
        session.open--;
        session.usedAt = this.#options.now();
      });
      await session.transport.handleRequest(req, res);
      return;
    }
    const body = req.method === 'POST' ? await readJson(req, res) : undefined;
    if (body === FAILED) return;
    const like = req as NodeIncomingMessageLike; // of a request, method and url are always there
    const request = await toWebRequest(like, body, { maxRequestBodySize: MAX_BODY_BYTES });
    if (req.method === 'POST' && !(await isLegacyRequest(request.clone(), body))) {
      await toNodeHandler(this.#modern.handlerOf(principal))(like, res, body);
      return;
    }
    if (isInitialize(body)) {
      await this.#open(req, res, body, principal);
      return;
    }
    if (req.method === 'POST')
      await toNodeHandler(this.#modern.handlerOf(principal))(like, res, body); // refuses it in the format of its protocol
    else
      answer(res, 405, { jsonrpc: '2.0', error: { code: -32000, message: 'Method not allowed' }, id: null });
  }

  async #open(req: IncomingMessage, res: ServerResponse, body: unknown, principal: Principal): Promise<void> {
    const { depsOf, transport: name, now } = this.#options;
    this.#reap();
    const owner = ownerOf(principal);
    const server = buildServer(depsOf(principal), name, principal);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: new SessionEvents(),
      onsessioninitialized: (id) => {
        this.#makeRoom(owner); // only now: others may have opened theirs meanwhile
        this.#sessions.set(id, { id, owner, transport, server, open: 0, usedAt: now() });
      },
      onsessionclosed: (id) => {
        this.#sessions.delete(id);
      },
    });
    // The SDK sends a cancelled call no answer, and would leave its stream open.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it has no listeners
    transport.onmessage = (message) => {
      const call = cancelledBy(message);
      if (call === null) return;
      transport.closeSSEStream(call);
      transport
        .send({ jsonrpc: '2.0', id: call, error: CANCELLED })
        .catch((error: unknown) => this.#options.log.debug(messageOf(error))); // answered already
    };
    await server.connect(transport);
    await transport.handleRequest(req, res, body);
  }

  /** A caller that has too many ends its own; where there is no room for another caller, it is one of who has the most. */
  #makeRoom(owner: string): void {
    const byOwner = Map.groupBy(this.#sessions.values(), (session) => session.owner);
    const own = byOwner.get(owner) ?? [];
    const isFull = this.#sessions.size >= MAX_SESSIONS;
    if (!isFull && own.length < MAX_OWN_SESSIONS) return;
    const most = [...byOwner.values()].reduce(
      (larger, each) => (each.length > larger.length ? each : larger),
      own,
    );
    const from = own.length >= MAX_OWN_SESSIONS ? own : most;
    const [oldest] = from.toSorted((a, b) => a.usedAt - b.usedAt);
    if (oldest !== undefined) this.#end(oldest);
  }

  #reap(): void {
    const now = this.#options.now();
    for (const session of this.#sessions.values())
      if (session.open === 0 && now - session.usedAt > IDLE_MS) this.#end(session);
  }

  #end(session: Session): void {
    this.#sessions.delete(session.id);
    session.server.close().catch((error: unknown) => this.#options.log.debug(messageOf(error)));
  }

  /** Refuses pages of another origin, and pages that reach us by DNS rebinding. */
  #isOurs({ headers }: IncomingMessage): boolean {
    const { hosts } = this.#options;
    if (hosts === null) return true;
    const host = hostOf(headers.host);
    if (host === null || !hosts.has(host)) return false;
    if (headers.origin === undefined) return true;
    try {
      return hosts.has(new URL(headers.origin).hostname.replace(/^\[|\]$/g, ''));
    } catch {
      return false; // `null`, or no origin at all
    }
  }

  #fail(res: ServerResponse, error: unknown): void {
    this.#options.log.error(`request failed: ${messageOf(error)}`);
    if (res.headersSent) res.destroy();
    else answer(res, 500, { jsonrpc: '2.0', error: { code: -32603, message: 'Internal error' }, id: null });
  }
}

/** At its own path and, for clients that look there alone, without one (RFC 9728, 3.1). */
function metadataPaths({ resource }: ResourceMetadata): readonly string[] {
  const { pathname } = new URL(resource);
  return [METADATA, `${METADATA}${pathname.replace(/\/$/, '')}`];
}

/** RFC 9728, 5.1. */
function whereToSignIn(metadata: ResourceMetadata | undefined): string {
  if (metadata === undefined) return '';
  const url = `${new URL(metadata.resource).origin}${metadataPaths(metadata)[1] ?? METADATA}`;
  return `, resource_metadata="${url}", scope="${metadata.scopes_supported.join(' ')}"`;
}

/** A token's id is unique at the node that has minted it, and only there. */
function ownerOf({ deviceId, id }: Principal): string {
  return `${deviceId ?? ''} ${id}`;
}

/** Names the types that a range, or no header at all, stands for (RFC 9110, 12.5.1). */
function nameAnswers(req: IncomingMessage): void {
  const { accept = '*/*' } = req.headers;
  const ranges = new Set(accept.split(',').map((range) => (range.split(';', 1)[0] ?? '').trim()));
  const meant = ANSWERS.filter((type) => ranges.has('*/*') || ranges.has(`${type.split('/', 1)[0] ?? ''}/*`));
  if (meant.length === 0) return;
  const named = [accept, ...meant].join(', ');
  const at = req.rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'accept');
  // Both: parts of the SDK read one, parts the other.
  req.headers.accept = named;
  if (at < 0) req.rawHeaders.push('accept', named);
  else req.rawHeaders[at + 1] = named;
}

/** The id of the call that a message cancels; null for another message. */
function cancelledBy(message: unknown): string | number | null {
  if (memberOf(message, 'method') !== 'notifications/cancelled') return null;
  const id = memberOf(memberOf(message, 'params'), 'requestId');
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function hostOf(header: string | undefined): string | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+))(?::\d{1,5})?$/.exec(header ?? '');
  return match?.[1] ?? match?.[2]?.toLowerCase() ?? null;
}

function answer(res: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
  });
  res.end(text);
}

const FAILED = Symbol('failed');

/** The body; FAILED if the answer has already been sent. */
async function readJson(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(req)) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      answer(res, 413, {
        jsonrpc: '2.0',
        error: { code: -32600, message: 'The body is too large' },
        id: null,
      });
      return FAILED;
    }
    chunks.push(chunk);
  }
  try {
    return parseJson(Buffer.concat(chunks).toString('utf8'));
  } catch {
    answer(res, 400, { jsonrpc: '2.0', error: { code: -32700, message: 'The body is not JSON' }, id: null });
    return FAILED;
  }
}

function isInitialize(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
}
