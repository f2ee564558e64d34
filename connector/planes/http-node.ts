import { ApiError, codeOf, messageOf } from '../../shared/errors.ts';
import { CLIENT_ID_HEADER } from '../../shared/flight/pilot.ts';
import { requestNode } from '../../shared/http/node-request.ts';
import { type JsonObject, parseJson, recordOf } from '../../shared/member.ts';
import { Denial } from '../denial.ts';
import type { Principal } from '../principal.ts';
import {
  denialOf,
  MAYBE,
  type NodeBytes,
  type NodeClient,
  type NodeRequest,
  type NodeTarget,
  TIMEOUT_MS,
} from './node-client.ts';

export interface HttpTarget extends NodeTarget {
  readonly baseUrl: string;
  /** The device id that it must have, or nothing is asked of it. */
  readonly expectedId?: string | null;
}

const WHO = '/api/pairing/info';
const WHO_MS = 2000;

/** A node that is reached at its address. */
export class HttpNode implements NodeClient {
  readonly presence = null;
  #target: HttpTarget;
  /** Whether it was the expected one when it last answered. */
  #proved = false;

  constructor(target: HttpTarget) {
    this.#target = target;
  }

  get target(): HttpTarget {
    return this.#target;
  }

  /** The node has said who it is. */
  identify(id: string, name: string | null): void {
    this.#target = { ...this.#target, id, name };
  }

  /**
   * Asks who it is, where a certain one is expected; once, until it has been away.
   * @throws Denial node_not_allowed for another one, rest_down while it does not answer
   */
  async prove(signal?: AbortSignal): Promise<void> {
    const { expectedId: wanted = null, baseUrl } = this.#target;
    if (wanted === null || this.#proved) return;
    const answer = await requestNode(
      { baseUrl },
      { method: 'GET', path: WHO, timeoutMs: WHO_MS, signal },
    ).catch((error: unknown) => {
      const cause = causeOf(error, WHO_MS);
      throw new Denial('rest_down', `The node ${wanted} does not answer: ${cause}.`, { path: WHO, cause });
    });
    const { device_id: id } = bodyOf(answer.bytes);
    if (id !== wanted)
      throw new Denial(
        'node_not_allowed',
        `The node at ${baseUrl} is ${typeof id === 'string' ? id : 'of unknown id'}, not ${wanted} (--node-id, SVC_NODE_ID). Nothing was sent.`,
      );
    this.#proved = true;
  }

  /** @param principal a token principal's calls carry its token and nothing else */
  async json(request: NodeRequest, principal: Principal, signal?: AbortSignal): Promise<unknown> {
    const { bytes } = await this.bytes(request, principal, signal);
    if (bytes.length === 0) return null;
    try {
      return parseJson(bytes.toString('utf8'));
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
    await this.prove(signal);
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
      this.#proved = false; // what answers there next may be another one
      const cause = causeOf(error, timeoutMs);
      const sentence = `The node ${this.target.id} does not answer: ${cause}.${after}`;
      throw new Denial('rest_down', sentence, { path, cause }, maybeDone);
    });
    if (answer.status < 200 || answer.status > 299) {
      const retryAfterMs = Number(answer.headers['retry-after'] ?? 1) * 1000;
      const refused = { status: answer.status, body: bodyOf(answer.bytes), retryAfterMs };
      throw denialOf(refused, { path, principal, writes });
    }
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

function bodyOf(bytes: Buffer): JsonObject {
  try {
    return recordOf(parseJson(bytes.toString('utf8')));
  } catch {
    return {}; // not a body of the node; the status is enough
  }
}

function causeOf(error: unknown, timeoutMs: number): string {
  if (error instanceof ApiError && error.code === 'E_TIMEOUT') return `no answer within ${timeoutMs} ms`;
  const code = codeOf(error);
  return error instanceof ApiError || code === null ? messageOf(error) : code;
}
