import { Denial } from '../denial.ts';
import type { Principal } from '../principal.ts';

/** The HTTP API of one node. */

export interface NodeTarget {
  /** The name for callers: the device id, or `local` until the node has reported it. */
  readonly id: string;
  readonly name: string | null;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Null where only tokens are used, or the node is unpaired. */
  readonly key: string | null;
}

export interface NodeRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

export interface NodeBytes {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly headers: Headers;
}

const TIMEOUT_MS = 8000;
const MAX_BYTES = 16 * 1024 * 1024;

/** @param host `host`, `host:port`, `[v6]:port` or an http(s) URL. @throws Error for anything else */
export function baseUrlOf(host: string): string {
  const text = /^https?:\/\//.test(host)
    ? host
    : `http://${/(?:^[^:]+|\])$/.test(host) ? `${host}:8080` : host}`;
  const url = new URL(text);
  if (url.username !== '' || url.pathname !== '/' || url.search !== '')
    throw new Error(`${host} is no host, host:port or http URL`);
  return url.origin;
}

export class NodeClient {
  readonly target: NodeTarget;

  constructor(target: NodeTarget) {
    this.target = target;
  }

  /**
   * The JSON of an answer.
   * @param principal a token principal's calls carry its token and nothing else
   * @throws Denial with the meaning of the node's status kept
   */
  async json(request: NodeRequest, principal: Principal, signal?: AbortSignal): Promise<unknown> {
    const { bytes } = await this.bytes(request, principal, signal);
    if (bytes.length === 0) return null;
    try {
      return JSON.parse(bytes.toString('utf8')) as unknown;
    } catch {
      throw new Denial('rest_down', 'The node did not answer in JSON.', { path: request.path });
    }
  }

  /** @throws Denial */
  async bytes(request: NodeRequest, principal: Principal, signal?: AbortSignal): Promise<NodeBytes> {
    const { method, path, body, timeoutMs = TIMEOUT_MS } = request;
    const late = AbortSignal.timeout(timeoutMs);
    let response: Response;
    let bytes: Buffer;
    try {
      response = await fetch(`${this.target.baseUrl}${path}`, {
        method,
        headers: {
          accept: 'application/json, image/jpeg',
          ...this.#credential(principal),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error', // a credential follows nobody
        signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      });
      bytes = await readAll(response);
    } catch (error) {
      if (error instanceof Denial) throw error;
      if (signal?.aborted === true) throw new Denial('cancelled');
      const cause = late.aborted ? `no answer within ${timeoutMs} ms` : causeOf(error);
      throw new Denial('rest_down', `The node ${this.target.id} does not answer: ${cause}.`, { path, cause });
    }
    if (!response.ok) throw denialOf(response, bytes, path, principal);
    return { bytes, mediaType: response.headers.get('content-type') ?? '', headers: response.headers };
  }

  #credential(principal: Principal): Readonly<Record<string, string>> {
    if (principal.token !== null) return { 'x-svc-mcp-token': principal.token };
    return this.target.key === null ? {} : { 'x-svc-key': this.target.key };
  }
}

async function readAll(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Denial('rest_down', `The node answered more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function denialOf(response: Response, bytes: Buffer, path: string, principal: Principal): Denial {
  const { status } = response;
  const body = errorBody(bytes);
  const said = typeof body['detail'] === 'string' ? body['detail'] : undefined;
  const code = typeof body['code'] === 'string' ? body['code'] : null;
  const detail = { path, status, code };
  switch (status) {
    case 401:
      return principal.kind === 'token'
        ? new Denial('token_revoked', undefined, detail)
        : new Denial('unauthorized', said, detail);
    case 403:
      return code === 'E_SCOPE'
        ? new Denial('scope_missing', said, {
            ...detail,
            required: body['required'],
            granted: body['granted'],
          })
        : new Denial('unauthorized', said, detail);
    case 404:
      return new Denial('not_found', said, detail);
    case 400:
    case 413:
    case 415:
    case 422:
      return new Denial('invalid_arguments', said, { ...detail, errors: body['errors'] });
    case 409:
      return code === 'E_ARMED'
        ? new Denial('armed_guard', said, { ...detail, armed: body['armed'] })
        : new Denial('precondition_failed', said, detail);
    case 429:
      return new Denial('rate_limited', said, {
        ...detail,
        retryAfterMs: Number(response.headers.get('retry-after') ?? 1) * 1000,
      });
    case 501:
      return new Denial('not_supported', said, detail);
    case 503:
      return new Denial(code === 'E_NO_FC' ? 'fc_unreachable' : 'rest_down', said, detail);
    default:
      return new Denial('rest_down', said ?? `The node answered ${status}.`, detail);
  }
}

function errorBody(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {}; // not an error body of the node; the status is enough
  }
}

/** fetch puts the reason into `cause`. */
function causeOf(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown; readonly message?: unknown } };
  if (typeof cause?.code === 'string') return cause.code;
  return typeof cause?.message === 'string' ? cause.message : String(error);
}
