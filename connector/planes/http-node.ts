import { homedir } from 'node:os';
import { fingerprintIn, shownFingerprint } from '../../shared/certificates/fingerprint.ts';
import { ApiError, codeOf, messageOf } from '../../shared/errors.ts';
import { CLIENT_ID_HEADER } from '../../shared/flight/pilot.ts';
import { KnownNodes, knownNodesFile } from '../../shared/http/known-nodes.ts';
import { requestNode } from '../../shared/http/node-request.ts';
import {
  type Agree,
  type NamedNode,
  namedNode,
  pinnedNode,
  placeOfNode,
  type ReachedNode,
  reachNode,
  tlsProblem,
  Untrusted,
} from '../../shared/http/reach-node.ts';
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
  /** As it was written, with a scheme only where there was one; null: as `baseUrl` says. */
  readonly host?: string | null;
  /** The fingerprint that a node which is not known yet must have. */
  readonly fingerprint?: string | null;
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
  readonly #known: KnownNodes;
  readonly #named: NamedNode;
  /** How it was spoken to when it last answered. */
  #reached: ReachedNode | null = null;

  /** @param known the nodes that the person knows. @throws Error for a target that is no host */
  constructor(target: HttpTarget, known = new KnownNodes(knownNodesFile(homedir()))) {
    const named = namedNode(target.host ?? target.baseUrl);
    if (named === null) throw new Error(`${target.host ?? target.baseUrl} is no host`);
    this.#target = target;
    this.#named = named;
    this.#known = known;
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
    const { expectedId: wanted = null, id: called } = this.#target;
    const reached = await this.#reach();
    if (wanted === null || this.#proved) return;
    const answer = await requestNode(placeOfNode(reached), {
      method: 'GET',
      path: WHO,
      timeoutMs: WHO_MS,
      signal,
    }).catch((error: unknown) => {
      throw this.#failed(error, reached, called, WHO_MS);
    });
    const { device_id: id } = bodyOf(answer.bytes);
    if (id !== wanted)
      throw new Denial(
        'node_not_allowed',
        `The node at ${this.#target.baseUrl} is ${typeof id === 'string' ? id : 'of unknown id'}, not ${wanted} (--node-id, SVC_NODE_ID). Nothing was sent.`,
      );
    this.#proved = true;
  }

  /** How it is spoken to; a node that becomes known is not spoken to in the clear from then on. @throws Denial */
  async #reach(): Promise<ReachedNode> {
    try {
      const before = this.#reached;
      const now = before?.tls === undefined ? (pinnedNode(this.#named, this.#known) ?? before) : before;
      this.#reached = now ?? (await reachNode(this.#named, this.#known, this.#agree));
    } catch (error) {
      throw this.#failed(error, this.#named, this.#target.id, WHO_MS);
    }
    const { baseUrl } = placeOfNode(this.#reached);
    if (baseUrl !== this.#target.baseUrl) this.#target = { ...this.#target, baseUrl };
    return this.#reached;
  }

  /** Nobody can be asked here: what was written vouches for the node, or it is not spoken to. */
  readonly #agree: Agree = async ({ at, deviceId, sha256 }) => {
    const told = this.#target.fingerprint ?? null;
    const digits = told === null ? null : fingerprintIn(told);
    if (digits !== null && sha256.startsWith(digits)) return Promise.resolve();
    const shown = shownFingerprint(sha256);
    throw new Untrusted(
      told === null
        ? `The node at ${at} (${deviceId}) is not known on this machine yet; its fingerprint is ${shown}. In a terminal: svc known-nodes add ${at.includes('//') ? at : `https://${at}`} (or svc pair), which asks whether that is the right one; or give svc-mcp --fingerprint.`
        : `The node at ${at} is not the one that was named, by --fingerprint or by what it announced: it shows ${shown}.`,
    );
  };

  /** Why there was no answer. */
  #failed(error: unknown, node: ReachedNode, called: string, timeoutMs: number): Denial {
    const distrust = error instanceof Untrusted ? error : tlsProblem(error, node, this.#known);
    if (distrust !== null) return new Denial('node_not_allowed', distrust.message);
    const cause = causeOf(error, timeoutMs);
    const how = node.tls === undefined ? '' : ' by HTTPS, and is not asked without';
    return new Denial('rest_down', `The node ${called} does not answer${how}: ${cause}.`, {
      path: WHO,
      cause,
    });
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
    const reached = await this.#reach();
    const answer = await requestNode(placeOfNode(reached), {
      method,
      path,
      headers,
      body,
      timeoutMs,
      signal,
      onSending,
    }).catch((error: unknown) => {
      const after = maybeDone ? ` ${MAYBE}` : '';
      if (signal?.aborted === true)
        throw new Denial('cancelled', `The call was cancelled.${after}`, {}, maybeDone);
      this.#proved = false; // what answers there next may be another one
      this.#reached = null;
      if (tlsProblem(error, reached) !== null) throw this.#failed(error, reached, this.target.id, timeoutMs);
      const cause = causeOf(error, timeoutMs);
      const sentence = `The node ${this.target.id} does not answer${howAsked(reached)}: ${cause}.${after}`;
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

/** A known node is not asked in the clear, whatever happens. */
function howAsked({ host, tls }: ReachedNode): string {
  return tls?.ca === undefined
    ? ''
    : ` by HTTPS, and is known, so that it is not asked without (if it serves none any more: svc known-nodes forget ${host})`;
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
