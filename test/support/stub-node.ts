import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a stub answers: a status and a body; `hang` keeps the caller waiting, `drop` ends the connection without an answer. */
export type StubAnswer = readonly [status: number, body: unknown] | 'hang' | 'drop';

/** A token with the claims of a good one and the signature of nobody. */
export function forgedToken(deviceId: string, scopes: readonly string[]): string {
  const claims = {
    tokenId: `mct_${randomBytes(12).toString('hex')}`,
    operatorId: 'o',
    iss: `agent:${deviceId}`,
    scopes,
    allowedNodes: [],
    expiresAt: Date.now() + 3_600_000,
    label: '',
  };
  return `${Buffer.from(JSON.stringify(claims)).toString('base64url')}.AAAA`;
}

/** A request whose body was read, to be read once more. */
function again(req: IncomingMessage, body: string): IncomingMessage {
  const copy = new IncomingMessage(req.socket);
  // Not complete, it would take its socket with it once it is read.
  Object.assign(copy, { method: req.method, url: req.url, headers: req.headers, complete: true });
  copy.push(body);
  copy.push(null);
  return copy;
}

/** As much of a node as a connector asks for, with the answers that a test wants. */
export class StubNode implements AsyncDisposable {
  readonly deviceId: string;
  /** By `METHOD /path`. */
  readonly answers = new Map<string, StubAnswer | ((req: IncomingMessage) => StubAnswer)>();
  /** The requests that came, `METHOD /path`. */
  readonly came: string[] = [];
  #server: Server | null = null;
  #port = 0;

  private constructor(deviceId: string) {
    this.deviceId = deviceId;
    this.answers.set('GET /api/pairing/info', [200, { paired: true, device_id: deviceId, name: deviceId }]);
    this.answers.set('GET /api/status', [200, { version: '1', fc_connected: true }]);
    this.answers.set('GET /api/config', [200, { mavlink: { endpoints: ['tcp:127.0.0.1:5790'] } }]);
    this.answers.set('PUT /api/config', [200, { persisted: true }]);
    this.answers.set('POST /api/command', [200, { ack: { observed: true, accepted: true } }]);
  }

  static async start(deviceId = 'stub'): Promise<StubNode> {
    const node = new StubNode(deviceId);
    await node.listen();
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** A token of this node with these scopes; the stub accepts any. */
  token(...scopes: readonly string[]): string {
    return forgedToken(this.deviceId, scopes);
  }

  /** Answers again, at the same port. */
  async listen(): Promise<void> {
    this.#server = createServer((req, res) => {
      this.#serve(req, res).catch(() => res.destroy());
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const key = `${req.method ?? ''} ${(req.url ?? '').split('?', 1)[0] ?? ''}`;
    const body = key === 'POST /api/command' ? await text(req) : null;
    // What is only checked goes nowhere.
    if (body?.includes('"dry_run":true') === true) {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ status: 'checked', ack: { observed: false, accepted: false } }));
      return;
    }
    this.came.push(key);
    const found = this.answers.get(key) ?? ([404, { detail: 'nothing', code: 'E_NOT_FOUND' }] as const);
    const answer = typeof found === 'function' ? found(body === null ? req : again(req, body)) : found;
    req.resume();
    if (answer === 'drop') res.destroy();
    if (typeof answer === 'string') return;
    res.writeHead(answer[0], { 'content-type': 'application/json' });
    res.end(JSON.stringify(answer[1]));
  }

  /** Nobody answers at its port any more. */
  async leave(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }
}
