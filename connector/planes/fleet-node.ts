import type { NodeEntry } from '../../shared/fleet/hub-api.ts';
import { requestClass } from '../../shared/fleet/request-class.ts';
import { isKeyOf } from '../../shared/member.ts';
import type { OperatorFiles } from '../../shared/operator/operator-files.ts';
import type { CallStatement, Reply } from '../../shared/schemas/fleet-statements.ts';
import { Denial } from '../denial.ts';
import type { Principal } from '../principal.ts';
import { asRecord } from '../rows.ts';
import { type FleetCaller, NoAnswer } from './fleet-caller.ts';
import type { HubSession } from './hub-session.ts';
import {
  denialOf,
  MAYBE,
  type NodeBytes,
  type NodeClient,
  type NodeRequest,
  type NodeTarget,
  type Presence,
  TIMEOUT_MS,
} from './node-client.ts';
import { askOperator } from './operator-signer.ts';

/** The way over hub and broker takes longer than a LAN. */
const WAY_MS = 2000;

export interface FleetNodeOptions {
  readonly id: string;
  /** What the hub says of it; undefined once it has left the fleet. */
  readonly entry: (id: string) => NodeEntry | undefined;
  readonly session: HubSession;
  readonly caller: FleetCaller;
  readonly operator: OperatorFiles;
  /** Wall clock, ms. */
  readonly wall: () => number;
}

/** A node of a fleet, reached by signed calls over the broker. */
export class FleetNode implements NodeClient {
  readonly #options: FleetNodeOptions;

  constructor(options: FleetNodeOptions) {
    this.#options = options;
  }

  get target(): NodeTarget {
    const { id, entry } = this.#options;
    return { id, name: entry(id)?.name ?? null, baseUrl: null, key: null };
  }

  get presence(): Presence {
    const { id, entry } = this.#options;
    const found = entry(id);
    return {
      online: found?.online ?? false,
      seenAt: found?.seen_at ?? null,
      status: found?.status ?? null,
      alarm: found?.alarm ?? null,
    };
  }

  async json(request: NodeRequest, principal: Principal, signal?: AbortSignal): Promise<unknown> {
    const { session } = this.#options;
    session.check();
    if (this.#options.entry(this.#options.id) === undefined)
      throw new Denial('node_not_allowed', `${this.#options.id} is no longer in the fleet.`);
    const { method, path, timeoutMs = TIMEOUT_MS } = request;
    const writes = method !== 'GET';
    const { status, body } = await this.#call(request, timeoutMs + WAY_MS, signal).catch((error: unknown) => {
      throw error instanceof NoAnswer ? this.#unanswered(error, request, timeoutMs + WAY_MS) : error;
    });
    if (status >= 200 && status <= 299) return body;
    const said = asRecord(body);
    if (said['code'] === 'E_OUTCOME_UNKNOWN')
      throw new Denial(
        'rest_down',
        `${this.#options.id} has restarted. ${writes ? MAYBE : 'Try again.'}`,
        { path, status },
        writes,
      );
    // With `answered` it ran, and only its answer was too large; without, the request was.
    if (status === 413 && typeof said['answered'] === 'number')
      throw new Denial(
        'not_supported',
        `The answer is larger than the fleet carries (256 KiB).${writes ? ` ${MAYBE}` : ''}`,
        { path, status },
        writes,
      );
    const cause = status === 429 || status === 503 ? 'busy' : undefined;
    throw denialOf({ status, body: said, retryAfterMs: 1000 }, { path, principal, writes, cause });
  }

  /** What is no JSON comes as base64 in it, as far as it is not too large for the fleet. */
  async bytes(request: NodeRequest, principal: Principal, signal?: AbortSignal): Promise<NodeBytes> {
    const {
      media_type: mediaType,
      base64,
      captured_at: capturedAt,
    } = asRecord(await this.json(request, principal, signal));
    if (typeof mediaType !== 'string' || typeof base64 !== 'string')
      throw new Denial('rest_down', 'The node answered something else than a file.', { path: request.path });
    const headers = typeof capturedAt === 'string' ? { 'x-captured-at': capturedAt } : {};
    return { bytes: Buffer.from(base64, 'base64'), mediaType, headers };
  }

  async #call(request: NodeRequest, timeoutMs: number, signal: AbortSignal | undefined): Promise<Reply> {
    const { id, caller, operator } = this.#options;
    const { path, body, code = null } = request;
    const method = request.method as CallStatement['method'];
    const scope = requestClass({ method, path, body });
    const asked = { node: id, method, path, ...(body === undefined ? {} : { body }) };
    if (scope === 'destructive' && code === null)
      throw new Denial(
        'confirm_required',
        'A person must sign this request, and this tool has no way to ask for it.',
      );
    const confirm =
      scope === 'flight' || scope === 'destructive'
        ? async (nonce: string, jti: string): Promise<string> =>
            askOperator(operator, { ...asked, nonce, jti, code }, signal)
        : null;
    return caller.call({ ...asked, body, timeoutMs, signal, confirm });
  }

  /** Why nothing came, as far as broker and hub know. */
  #unanswered({ why, sent }: NoAnswer, { method, path }: NodeRequest, ms: number): Denial {
    const { id, caller } = this.#options;
    const maybeDone = sent && method !== 'GET';
    const sentence = {
      offline: `${id} is offline: it is not connected to the broker${this.#seen()}.`,
      silent: `${id} is silent: its connection took the call, but no answer came within ${ms} ms${this.#seen()}.`,
      broker: `The broker ${caller.broker} is not reachable.`,
      too_large: 'The call is larger than the fleet carries (256 KiB). Nothing was sent.',
      too_many: 'Too many calls wait for their answers. Nothing was sent.',
      cancelled: `The call was cancelled${sent ? '' : '; nothing was sent'}.`,
    }[why];
    const reason = {
      too_large: 'invalid_arguments',
      too_many: 'rate_limited',
      cancelled: 'cancelled',
    } as const;
    return new Denial(
      isKeyOf(reason, why) ? reason[why] : 'rest_down',
      maybeDone ? `${sentence} ${MAYBE}` : sentence,
      { path, cause: why },
      maybeDone,
    );
  }

  #seen(): string {
    const { seenAt } = this.presence;
    if (seenAt === null) return '; the hub never heard of it';
    const seconds = Math.max(0, Math.round((this.#options.wall() - seenAt) / 1000));
    return `; the hub last heard of it ${seconds} s ago`;
  }
}
