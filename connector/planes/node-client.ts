import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { CLIENT_ID_HEADER } from '../../shared/flight/pilot.ts';
import { type NodeAnswer, requestNode } from '../../shared/http/node-request.ts';
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
  /** The pilot in command in whose name it is sent. */
  readonly clientId?: string | null;
}

export interface NodeBytes {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly headers: IncomingHttpHeaders;
}

const TIMEOUT_MS = 8000;
const MAYBE = 'It was sent: the node may have carried it out. Look before you repeat it.';
/** After these the node may have done it; after every other refusal it has not. */
const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set([500, 502, 504]);

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
  #target: NodeTarget;

  constructor(target: NodeTarget) {
    this.#target = target;
  }

  get target(): NodeTarget {
    return this.#target;
  }

  /** The node has said who it is. */
  identify(id: string, name: string | null): void {
    this.#target = { ...this.#target, id, name };
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
      const { method, path } = request;
      throw new Denial('rest_down', 'The node did not answer in JSON.', { path }, method !== 'GET');
    }
  }

  /** @throws Denial */
  async bytes(request: NodeRequest, principal: Principal, signal?: AbortSignal): Promise<NodeBytes> {
    const { method, path, body, timeoutMs = TIMEOUT_MS, clientId = null } = request;
    const writes = method !== 'GET';
    if (signal?.aborted === true) throw new Denial('cancelled', 'The call was cancelled; nothing was sent.');
    const headers = {
      accept: 'application/json, image/jpeg',
      ...(clientId === null ? {} : { [CLIENT_ID_HEADER]: clientId }),
      ...this.#credential(principal),
    };
    let maybeDone = false;
    const onSending = (): void => {
      maybeDone = writes;
    };
    const answer = await requestNode(
      { baseUrl: this.target.baseUrl },
      { method, path, headers, body, timeoutMs, signal, onSending },
    ).catch((error: unknown) => {
      const after = maybeDone ? ` ${MAYBE}` : '';
      if (signal?.aborted === true)
        throw new Denial('cancelled', `The call was cancelled.${after}`, {}, maybeDone);
      const cause = causeOf(error, timeoutMs);
      const sentence = `The node ${this.target.id} does not answer: ${cause}.${after}`;
      throw new Denial('rest_down', sentence, { path, cause }, maybeDone);
    });
    if (answer.status < 200 || answer.status > 299) throw denialOf(answer, { path, principal, writes });
    return {
      bytes: answer.bytes,
      mediaType: answer.headers['content-type'] ?? '',
      headers: answer.headers,
    };
  }

  #credential(principal: Principal): Readonly<Record<string, string>> {
    if (principal.token !== null) return { 'x-svc-mcp-token': principal.token };
    return this.target.key === null ? {} : { 'x-svc-key': this.target.key };
  }
}

interface Asked {
  readonly path: string;
  readonly principal: Principal;
  readonly writes: boolean;
}

function denialOf({ status, headers, bytes }: NodeAnswer, { path, principal, writes }: Asked): Denial {
  const body = errorBody(bytes);
  const said = typeof body['detail'] === 'string' ? body['detail'] : undefined;
  const code = typeof body['code'] === 'string' ? body['code'] : null;
  const detail = { path, status, code };
  switch (status) {
    case 401:
      // The node's own sentence is for an HTTP client: it names a header.
      return new Denial(principal.kind === 'token' ? 'token_revoked' : 'unauthorized', undefined, detail);
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
        ? new Denial('armed_guard', undefined, { ...detail, armed: body['armed'] })
        : new Denial('precondition_failed', said, detail);
    case 429:
      return new Denial('rate_limited', said, {
        ...detail,
        retryAfterMs: Number(headers['retry-after'] ?? 1) * 1000,
      });
    case 501:
      return new Denial('not_supported', said, detail);
    case 503:
      return new Denial(code === 'E_NO_FC' ? 'fc_unreachable' : 'rest_down', said, detail);
    default: {
      const maybeDone = writes && UNKNOWN_OUTCOME.has(status);
      const sentence = said ?? `The node answered ${status}.`;
      return new Denial('rest_down', maybeDone ? `${sentence} ${MAYBE}` : sentence, detail, maybeDone);
    }
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

function causeOf(error: unknown, timeoutMs: number): string {
  if (error instanceof ApiError && error.code === 'E_TIMEOUT') return `no answer within ${timeoutMs} ms`;
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof ApiError || code === undefined ? messageOf(error) : code;
}
