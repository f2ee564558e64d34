import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline, Readable } from 'node:stream';
import { ApiError, codeOf } from '../../../../shared/errors.ts';
import { type Call, Reply } from '../../../../shared/routes/handler.ts';
import type { Row } from '../../../../shared/routes/row.ts';
import { ExtensionAgent } from './extension-agent.ts';
import { answerHeaders, protocolAnswered, protocolsFor, requestHeaders } from './headers.ts';

/** How long an extension may take for the first byte of its answer, after the body; as svc-control waits. */
const ANSWER_MS = { read: 30_000, write: 120_000 } as const;
const UPGRADE_MS = 10_000;
const SMALL_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;

/** What passes through: of a call, its target, headers and body. */
export interface PassedCall extends Pick<Call<Row>, 'query' | 'headers'> {
  readonly params: { readonly id: string; readonly path: string };
  readonly body?: unknown;
}

interface PassThroughOptions {
  /** The socket on which this extension serves HTTP; null: it does not, for whatever reason. */
  readonly socketOf: (id: string) => string | null;
}

/** The answer for an extension that does not serve (specification 7): this body and no other. */
export function notServing(id: string): Reply {
  return new Reply(503, { detail: `plugin ${id} is not serving HTTP` });
}

/** Requests and WebSockets for extensions' own HTTP servers, on their Unix sockets; bodies stream both ways. */
export class PassThrough {
  readonly #options: PassThroughOptions;
  readonly #agents = new Map<string, Agent>();

  constructor(options: PassThroughOptions) {
    this.#options = options;
  }

  /** Forgets the connections to an extension that has ended. */
  close(id: string): void {
    this.#agents.get(id)?.destroy();
    this.#agents.delete(id);
  }

  stop(): void {
    for (const id of this.#agents.keys()) this.close(id);
  }

  /** @throws ApiError E_UPSTREAM for an answer that is no valid HTTP */
  async send(method: string, call: PassedCall): Promise<Reply> {
    const id = call.params.id;
    const socketPath = this.#options.socketOf(id);
    if (socketPath === null) return notServing(id);
    const { body } = call;
    const req = request({
      method,
      path: targetOf(call),
      agent: this.#agentOf(id, socketPath),
      headers: requestHeaders(call.headers),
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    try {
      const res = await answerOf(req, body instanceof Readable ? body : null, id);
      const { 'content-type': mediaType, ...headers } = answerHeaders(
        res.headers,
        baseOf(id),
        targetOf(call),
      );
      const size = Number(res.headers['content-length'] ?? Number.NaN);
      // One buffer costs half of what a stream costs.
      const content = size <= SMALL_BYTES && method !== 'HEAD' ? await smallBody(res) : res;
      if (content === null) throw malformed(id);
      return new Reply(res.statusCode ?? 502, content, mediaType ?? 'application/octet-stream', headers);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      const code = codeOf(error) ?? '';
      if (code.startsWith('HPE_')) throw malformed(id);
      return notServing(id);
    }
  }

  /** Connects a WebSocket with the extension. It answers the handshake, or 503; from then on bytes pass untouched. */
  upgrade(call: PassedCall, client: IncomingMessage, socket: Duplex, head: Buffer): void {
    const id = call.params.id;
    const socketPath = this.#options.socketOf(id);
    if (socketPath === null) {
      refuse(socket, id);
      return;
    }
    const protocols = protocolsFor(client.headers);
    const req = request({
      path: targetOf(call),
      agent: this.#agentOf(id, socketPath),
      timeout: UPGRADE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: {
        ...requestHeaders(client.headers),
        connection: 'Upgrade',
        upgrade: 'websocket',
        ...(protocols === null ? {} : { 'sec-websocket-protocol': protocols }),
      },
    });
    const gone = (): void => void req.destroy();
    socket.once('close', gone);
    req.once('timeout', gone);
    req.once('error', () => refuse(socket, id));
    req.once('response', (res) => {
      res.destroy(); // it refuses: an answer of its own would not reach a browser anyway
      refuse(socket, id);
    });
    req.once('upgrade', (res, theirs, first) => {
      socket.off('close', gone);
      theirs.setTimeout(0);
      socket.write(handshake(res, protocolAnswered(client.headers, res.headers)));
      if (head.length > 0) theirs.write(head);
      if (first.length > 0) socket.write(first);
      // Either side's end is the other's: nothing is left open when an extension vanishes.
      pipeline(theirs, socket, () => socket.destroy());
      pipeline(socket, theirs, () => theirs.destroy());
    });
    req.end();
  }

  #agentOf(id: string, path: string): Agent {
    let agent = this.#agents.get(id);
    if (agent === undefined) {
      agent = new ExtensionAgent(path);
      this.#agents.set(id, agent);
    }
    return agent;
  }
}

async function answerOf(req: ClientRequest, body: Readable | null, id: string): Promise<IncomingMessage> {
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    req.once('response', resolve);
    req.once('error', reject);
    // Node ends the connection of a 101 that nobody asked for, and says nothing more.
    req.once('upgrade', (_res, socket) => {
      socket.destroy();
      reject(malformed(id));
    });
    req.once('close', () => reject(new Error('the connection was closed before the answer')));
  });
  // The extension may accept, and then sleep.
  let late: NodeJS.Timeout | null = null;
  const wait = (ms: number): void => {
    late = setTimeout(() => req.destroy(new Error('no answer')), ms);
  };
  if (body === null) {
    req.end();
    wait(ANSWER_MS.read);
  } else {
    pipeline(body, req, (error) => {
      if (error === undefined || error === null) wait(ANSWER_MS.write);
      else req.destroy(error);
    });
  }
  const res = await answer.finally(() => {
    if (late !== null) clearTimeout(late);
  });
  req.on('error', () => undefined); // from now on an error ends the answer, which the caller of this sees
  return res;
}

/** All of a body whose announced length is small; null if it breaks off or does not come. */
async function smallBody(res: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  const late = setTimeout(() => res.destroy(), ANSWER_MS.read);
  return new Promise((resolve) => {
    res.on('data', (chunk: Buffer) => chunks.push(chunk));
    res.once('end', () => resolve(Buffer.concat(chunks)));
    res.once('error', () => resolve(null));
    res.once('close', () => {
      clearTimeout(late);
      resolve(null);
    });
  });
}

/** The path after `/x`, with the query: the same characters that came in, since nothing in them is encoded. */
function targetOf({ params, query }: PassedCall): string {
  return `/${params.path}${query === '' ? '' : `?${query}`}`;
}

function baseOf(id: string): string {
  return `/api/plugins/${id}/x`;
}

function malformed(id: string): ApiError {
  return new ApiError('E_UPSTREAM', `The extension ${id} answered something that is not HTTP.`);
}

function handshake({ headers }: IncomingMessage, protocol: string | undefined): string {
  const accept = headers['sec-websocket-accept'] ?? '';
  const extensions = headers['sec-websocket-extensions'];
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${accept}`,
    ...(extensions === undefined ? [] : [`sec-websocket-extensions: ${extensions}`]),
    ...(protocol === undefined ? [] : [`sec-websocket-protocol: ${protocol}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function refuse(socket: Duplex, id: string): void {
  if (socket.destroyed || !socket.writable) return;
  const body = JSON.stringify(notServing(id).body);
  socket.end(
    `HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `cache-control: no-store\r\nx-content-type-options: nosniff\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
