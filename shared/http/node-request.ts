import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest, type RequestOptions as SecureOptions } from 'node:https';
import { createRequire } from 'node:module';
import { pipeline, type Readable } from 'node:stream';
import { checkServerIdentity } from 'node:tls';
import { chunksOf } from '../async/chunks.ts';
import { ApiError } from '../errors.ts';

/** Not imported: for an import Node reads every member of it, and one of them loads undici, a fifth of a command's time. */
const { request: httpRequest }: typeof import('node:http') = createRequire(import.meta.url)('node:http');

/**
 * Where a node is asked: its `control.sock` on this machine, whose file mode is the credential, or an address. `tls`: how its
 * certificate is judged; on a connection of its own then, which no other request has made or will use, unless `keep` lets those
 * use it that judge in the same way.
 */
export type NodePlace =
  | { readonly socketPath: string }
  | {
      readonly baseUrl: string;
      readonly tls?: Pick<SecureOptions, 'ca' | 'rejectUnauthorized'>;
      readonly keep?: boolean;
    };

export interface Upload {
  readonly type: string;
  /** Bytes. */
  readonly length: number;
  readonly content: Readable;
}

export interface NodeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; absent for none. */
  readonly body?: unknown;
  /** Sent as text/plain instead of a JSON body. */
  readonly text?: string | undefined;
  /** Sent as it comes, instead of a JSON body. */
  readonly upload?: Upload | undefined;
  /** How long the answer may take, ms; 0 for one that is read while it comes. */
  readonly timeoutMs: number;
  /** The longest answer; 16 MiB unless told. */
  readonly maxBytes?: number;
  /** Aborts earlier; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection is there: from now on the request may reach the node. */
  readonly onSending?: (() => void) | undefined;
}

export interface NodeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * One request to a node's API; no redirect is followed, because a credential follows nobody.
 * @throws ApiError E_TIMEOUT, E_UPSTREAM for an answer that is too long; the system's own error where nobody answers
 */
export async function requestNode(place: NodePlace, request: NodeRequest): Promise<NodeAnswer> {
  const { timeoutMs, signal } = request;
  const late = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? late : AbortSignal.any([late, signal]);
  try {
    const answer = await openAnswer(place, { ...request, signal: either });
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      bytes: await readBounded(answer, request.maxBytes ?? MAX_BYTES),
    };
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (late.aborted) throw new ApiError('E_TIMEOUT', `The node did not answer within ${timeoutMs} ms.`);
    throw error;
  }
}

/** The answer as it comes, once its head is there. @throws the system's own error where nobody answers */
export async function openAnswer(place: NodePlace, request: NodeRequest): Promise<IncomingMessage> {
  const { method, path, headers, body, text, upload, signal, onSending } = request;
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = text === undefined ? 'application/json' : 'text/plain';
  const options: RequestOptions = {
    method,
    path,
    headers: {
      ...('socketPath' in place ? { host: 'localhost' } : {}),
      ...headers,
      ...(payload === undefined
        ? {}
        : { 'content-type': type, 'content-length': Buffer.byteLength(payload) }),
      ...(upload === undefined ? {} : { 'content-type': upload.type, 'content-length': upload.length }),
    },
    ...(signal === undefined ? {} : { signal }),
  };
  return new Promise((resolve, reject) => {
    const req = requestTo(place, options);
    req.on('error', reject);
    // By TLS nothing is sent before the certificate was judged.
    const connected = 'baseUrl' in place && place.baseUrl.startsWith('https:') ? 'secureConnect' : 'connect';
    if (onSending !== undefined)
      req.on('socket', (socket) => (socket.connecting ? socket.once(connected, onSending) : onSending()));
    req.on('response', resolve);
    if (upload === undefined) req.end(payload);
    else {
      pipeline(upload.content, req, (error) => {
        if (error !== undefined && error !== null) reject(error); // the answer may be there already, and counts
      });
    }
  });
}

function requestTo(place: NodePlace, options: RequestOptions): ReturnType<typeof httpRequest> {
  if ('socketPath' in place) return httpRequest({ ...options, socketPath: place.socketPath });
  const { baseUrl } = place;
  // The zone of an IPv6 address (`%eth0`) is this machine's alone: no URL, no header and no certificate has it (RFC 6874).
  const zone = /^https?:\/\/\[[^\]%]+(%[^\]]+)\]/.exec(baseUrl)?.[1] ?? '';
  const { protocol, hostname, host: authority, port } = new URL(baseUrl.replace(zone, ''));
  const name = hostname.replace(/^\[|\]$/g, '');
  const at = {
    ...options,
    headers: zone === '' ? options.headers : { host: authority, ...options.headers },
    host: name + zone,
    ...(port === '' ? {} : { port }),
  };
  if (protocol !== 'https:') return httpRequest(at);
  if (place.tls === undefined) return httpsRequest(at);
  const identity: Pick<SecureOptions, 'checkServerIdentity'> =
    zone === '' ? {} : { checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate) };
  return httpsRequest({ ...at, ...place.tls, ...identity, ...(place.keep === true ? {} : { agent: false }) });
}

async function readBounded(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(answer)) {
    size += chunk.length;
    if (size > maxBytes) throw new ApiError('E_UPSTREAM', `The answer is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
