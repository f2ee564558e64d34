import { setImmediate } from 'node:timers/promises';
import { type Deferred, deferred } from '../../../shared/async/deferred.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { NotBelieved, verifyStatement } from '../../../shared/fleet/signed.ts';
import { MAX_REPLY_BYTES } from '../../../shared/fleet/told.ts';
import { replierOf, topics } from '../../../shared/fleet/topics.ts';
import { type Caller, hasPlace } from '../../../shared/hub-api/caller.ts';
import type { Asker } from '../../../shared/hub-api/row.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { PublicJwk } from '../../../shared/schemas/fleet-statements.ts';
import type { FleetLink } from './fleet-link.ts';

/** Calls under way. */
const UNDER_WAY = { all: 512, each: 16, kept: 64 } as const;

interface PersonCallsOptions {
  readonly link: Pick<FleetLink, 'connected' | 'send'>;
  readonly fleetId: string;
  /** The key of a node; null for an unknown one. */
  readonly keyOf: (node: string) => PublicJwk | null;
  /** Monotonic, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
}

interface Pending {
  readonly caller: Caller;
  readonly reply: Deferred<string>;
}

/** What a call says that it is; whether it may is the node's to say. */
interface Claimed {
  readonly method: string;
  readonly path: string;
  readonly jti: string;
}

/**
 * Carries the calls of people at the hub's page to the nodes, and the replies back. The hub cannot make such a call: it is signed in
 * the browser, and verified by the node (docs/contract/fleet.md).
 */
export class PersonCalls {
  readonly #options: PersonCallsOptions;
  /** By node and jti: what a reply names. */
  readonly #pending = new Map<string, Pending>();

  constructor(options: PersonCallsOptions) {
    this.#options = options;
  }

  /**
   * @param asker gives up at `until`, monotonic ms: nothing is sent then, nor for one that is gone
   * @returns the node's reply, signed by it
   * @throws ApiError E_INVALID_VALUE; E_RATE_LIMITED, E_BUSY, E_UPSTREAM_DOWN: nothing was sent (`sent: false`); E_TIMEOUT: what
   * became of it is not known, unless `sent` is false
   */
  async carry(
    who: Caller,
    node: string,
    jws: string,
    { until, isGone }: Pick<Asker, 'isGone'> & { readonly until: number },
  ): Promise<string> {
    const { link, fleetId, monotonic } = this.#options;
    if (!link.connected)
      throw new ApiError('E_UPSTREAM_DOWN', 'The broker is away. Nothing was sent.', { sent: false });
    const { jti } = claimOf(jws);
    const { id: caller } = who;
    if (!hasPlace(this.#pending.values(), who, UNDER_WAY))
      throw new ApiError('E_RATE_LIMITED', 'Too many calls are under way. Nothing was sent.', {
        sent: false,
      });
    const name = `${node} ${jti}`;
    if (this.#pending.has(name))
      throw new ApiError('E_BUSY', 'This call is under way already. Nothing was sent.', { sent: false });
    const pending: Pending = { caller: who, reply: deferred<string>() };
    pending.reply.promise.catch(() => undefined); // its time-out may come while the broker is waited for, which says so itself
    this.#pending.set(name, pending);
    let isSent = false;
    const late = setTimeout(() => {
      pending.reply.reject(
        isSent
          ? new ApiError('E_TIMEOUT', `${node} has not answered; whether it got the call is not known.`, {
              sent: true,
            })
          : tooLate(),
      );
    }, until - monotonic());
    try {
      // Where this process stood still, what the kernel has for it comes with the next turn: perhaps that the asker has hung up.
      await setImmediate();
      await setImmediate();
      const left = until - monotonic();
      if (left <= 0 || isGone()) throw tooLate();
      isSent = true;
      // Whichever comes first: a fast node answers before the broker has acknowledged.
      const sent = link.send(topics.call(fleetId, node, caller), jws, left).then(
        async (taken) => {
          if (taken) return pending.reply.promise;
          throw new ApiError('E_UPSTREAM_DOWN', `${node} is not connected. Nothing was done.`, {
            sent: false,
          });
        },
        async (error: unknown) => {
          throw new ApiError('E_TIMEOUT', `The broker: ${messageOf(error)}.`, { sent: true });
        },
      );
      return await Promise.race([pending.reply.promise, sent]);
    } finally {
      clearTimeout(late);
      this.#pending.delete(name);
    }
  }

  /** The connection to the broker has ended: the replies of what is under way go to nobody. */
  lost(): void {
    for (const { reply } of this.#pending.values())
      reply.reject(
        new ApiError(
          'E_TIMEOUT',
          'The connection to the broker was lost; whether the node got the call is not known.',
          {
            sent: true,
          },
        ),
      );
  }

  /** A message on a topic of replies: nobody gets what the node itself has not signed. */
  replied(topic: string, payload: Buffer): void {
    const node = replierOf(topic);
    // Of several replicas only one has called.
    if (node === null || payload.length > MAX_REPLY_BYTES || this.#pending.size === 0) return;
    void this.#settle(node, payload.toString('utf8'));
  }

  async #settle(node: string, jws: string): Promise<void> {
    const { keyOf, log } = this.#options;
    try {
      const { payload } = await verifyStatement('svc-reply', jws, () => keyOf(node));
      if (payload.node !== node) throw new NotBelieved('svc-reply: by another node');
      this.#pending.get(`${node} ${payload.jti}`)?.reply.resolve(jws);
    } catch (error) {
      if (!(error instanceof NotBelieved)) throw error;
      log.warn(`${node}: ${error.message}`);
    }
  }
}

function tooLate(): ApiError {
  return new ApiError('E_TIMEOUT', 'Nobody waits for this call any more. Nothing was sent.', { sent: false });
}

/** What a call claims, for the record and to know its reply; nothing of it is believed. @throws ApiError E_INVALID_VALUE */
export function claimOf(jws: string): Claimed {
  const [, payload = '', , ...rest] = jws.split('.');
  let value: unknown = null;
  try {
    value = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const [method, path, jti] = ['method', 'path', 'jti'].map((name) => memberOf(value, name));
  const isText = typeof method === 'string' && typeof path === 'string' && typeof jti === 'string';
  if (rest.length > 0 || !isText || !/^[A-Za-z0-9_-]{16,64}$/.test(jti))
    throw new ApiError('E_INVALID_VALUE', '`call` is no signed call: a compact JWS of type svc-call.');
  return { method, path, jti };
}
