import { randomBytes } from 'node:crypto';
import { type Deferred, deferred } from '../../shared/async/deferred.ts';
import { Retry } from '../../shared/async/retry.ts';
import { Slots } from '../../shared/async/slots.ts';
import { messageOf } from '../../shared/errors.ts';
import { BrokerConnection, BrokerRefused } from '../../shared/fleet/broker-connection.ts';
import { BrokerWays } from '../../shared/fleet/broker-ways.ts';
import { NotBelieved, signStatement, verifyStatement } from '../../shared/fleet/signed.ts';
import { MAX_CALL_BYTES, MAX_REPLY_BYTES } from '../../shared/fleet/told.ts';
import { replierOf, topics } from '../../shared/fleet/topics.ts';
import { memberOf } from '../../shared/member.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { CallStatement, PublicJwk, Reply } from '../../shared/schemas/fleet-statements.ts';
import { NONCE_MS } from '../../shared/schemas/nonce.ts';
import type { HubSession } from './hub-session.ts';

/** Why there is no answer of the node. */
type NoAnswerCause = 'offline' | 'silent' | 'broker' | 'too_large' | 'too_many' | 'cancelled';

export class NoAnswer extends Error {
  readonly why: NoAnswerCause;
  /** Whether the node may have got the call. */
  readonly sent: boolean;

  constructor(why: NoAnswerCause, sent: boolean) {
    super(why);
    this.why = why;
    this.sent = sent;
  }
}

interface FleetCall {
  readonly node: string;
  readonly method: CallStatement['method'];
  readonly path: string;
  /** Undefined: none. */
  readonly body: unknown;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Has a person confirm exactly this call; null where none is needed. @throws what the signer says */
  readonly confirm: ((nonce: string, jti: string) => Promise<string>) | null;
}

/** Carries a signed call, and brings the reply. @throws NoAnswer */
export type Carry = (
  node: string,
  jws: string,
  ms: number,
  signal: AbortSignal | undefined,
) => Promise<string>;

interface FleetCallerOptions {
  readonly session: HubSession;
  /** `mqtts://…` instead of what the hub says. */
  readonly brokerUrl: string | null;
  /** Instead of a connection of our own to the broker. */
  readonly carry?: Carry;
  /** The key of a node, as the hub lists it. */
  readonly keyOf: (node: string) => PublicJwk | null;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** A nonce of a node, and when it was learned, which is after it was made. */
interface KnownNonce {
  readonly nonce: string;
  readonly at: number;
}

interface Pending {
  readonly node: string;
  readonly jti: string;
  readonly jws: string;
  /** The broker has answered for it. */
  acknowledged: boolean;
  readonly settle: Deferred<Reply>;
}

const RETRY = { firstMs: 500, capMs: 30_000 } as const;
const LIMITS = { connectMs: 10_000, keepaliveMs: 20_000 } as const;
/** A call waits so long for a connection that comes back. */
const WAIT_MS = 3000;
/** Replies that wait for us at the broker: Mosquitto keeps 200 besides the 20 on their way, and drops the rest. */
const AT_A_TIME = 180;
/** The hub carries 16 of one person. */
const CARRIED_AT_A_TIME = 12;
const MAX_WAITING = 512;
/** A nonce is good for 30 s; a call that a person confirms must not be refused for an old one. */
const FRESH_MS = 5000;
/** Of no boot: the node refuses it, and says its own. */
const NO_NONCE = '00000000.0';
const PROBE = { method: 'GET', path: '/healthz', body: undefined, confirm: null } as const;

/** Calls to nodes of a fleet over the broker (docs/contract/fleet.md). Each call and each reply is signed; the broker only carries. */
export class FleetCaller {
  readonly #options: FleetCallerOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #nonces = new Map<string, KnownNonce>();
  readonly #slots: Slots;
  readonly #retry = new Retry(() => this.#connect(), RETRY);
  #known = new BrokerWays([], null);
  #connection: BrokerConnection | null = null;
  /** Subscribed, so that a reply finds its way. */
  #ready = deferred();
  #connected = false;
  #stopped = false;

  constructor(options: FleetCallerOptions) {
    this.#options = options;
    this.#slots = new Slots(options.carry === undefined ? AT_A_TIME : CARRIED_AT_A_TIME);
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** The address that is used, or tried next. */
  get broker(): string {
    return this.#options.brokerUrl ?? this.#ways.url;
  }

  /** As the hub says them now. */
  get #ways(): BrokerWays {
    const { broker, broker_ws: ws } = this.#options.session.granted.way ?? {};
    const urls = [broker, ws].filter((url) => url !== undefined);
    if (this.#known.urls.join() !== urls.join()) this.#known = new BrokerWays(urls, null);
    return this.#known;
  }

  start(): void {
    if (this.#options.carry === undefined) {
      this.#retry.start();
      return;
    }
    this.#connected = true;
    this.#ready.resolve();
  }

  stop(): void {
    this.#stopped = true;
    this.#retry.stop();
    this.#connection?.fail('stopped');
  }

  /** The node has told a nonce: in its status, or in a refusal. */
  learn(node: string, nonce: string): void {
    const [boot, number] = nonce.split('.');
    const [before, newest] = this.#nonces.get(node)?.nonce.split('.') ?? [];
    // The hub repeats an old status; what is known of this boot is newer.
    if (boot !== before || Number(number) > Number(newest))
      this.#nonces.set(node, { nonce, at: this.#options.now() });
  }

  forget(node: string): void {
    this.#nonces.delete(node);
  }

  /** Resolves once there is a connection. @throws NoAnswer broker */
  async whenConnected(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#connected) return;
    const late = AbortSignal.timeout(ms);
    const end = signal === undefined ? late : AbortSignal.any([late, signal]);
    const ended = deferred<never>();
    const stop = (): void =>
      ended.reject(new NoAnswer(signal?.aborted === true ? 'cancelled' : 'broker', false));
    end.addEventListener('abort', stop, { once: true });
    try {
      if (end.aborted) stop();
      await Promise.race([this.#ready.promise, ended.promise]);
    } finally {
      end.removeEventListener('abort', stop);
    }
  }

  /**
   * The node's answer. A refusal for an old nonce means that nothing ran, so the call is made once more; where the node cannot
   * say whether it ran, only a read is.
   * @throws NoAnswer
   */
  async call(call: FleetCall): Promise<Reply> {
    const { node, method, confirm } = call;
    const known = this.#nonces.get(node);
    const age = known === undefined ? Infinity : this.#options.now() - known.at;
    // A read costs nothing; a write with a nonce of another boot could not be told from one that ran before it.
    if (method !== 'GET' && (known === undefined || (confirm !== null && age > FRESH_MS)))
      await this.#once({ ...call, ...PROBE });
    const first = await this.#once(call);
    const code = codeOf(first);
    const again = code === 'E_STALE' || (code === 'E_OUTCOME_UNKNOWN' && method === 'GET');
    return again ? this.#once(call) : first;
  }

  async #once({ node, method, path, body, timeoutMs, signal, confirm }: FleetCall): Promise<Reply> {
    const { session } = this.#options;
    await this.whenConnected(Math.min(timeoutMs, WAIT_MS), signal);
    const { nonce, at } = this.#nonces.get(node) ?? { nonce: NO_NONCE, at: this.#options.now() };
    const jti = randomBytes(18).toString('base64url');
    const confirmed = confirm === null ? {} : { confirm: await confirm(nonce, jti) };
    const until = this.#options.now() + timeoutMs;
    const statement: CallStatement = {
      method,
      path,
      node,
      nonce,
      // As the node counts, so that it begins nothing after we have given up.
      within_ms: Math.min(NONCE_MS, Math.floor(until - at)),
      jti,
      ...(body === undefined ? {} : { body }),
    };
    const { signing, kid } = session.keys;
    const carried = { token: session.granted.token, ...confirmed };
    const jws = await signStatement('svc-call', statement, signing, kid, carried);
    if (jws.length > MAX_CALL_BYTES) throw new NoAnswer('too_large', false);
    const pending: Pending = { node, jti, jws, acknowledged: false, settle: deferred() };
    const reply = await this.#inTurn(pending, until, signal);
    const said = nonceOf(reply);
    if (said !== null) this.learn(node, said);
    return reply;
  }

  async #inTurn(pending: Pending, until: number, signal: AbortSignal | undefined): Promise<Reply> {
    if (this.#slots.waiting >= MAX_WAITING) throw new NoAnswer('too_many', false);
    const late = AbortSignal.timeout(this.#left(until));
    const waits = signal === undefined ? late : AbortSignal.any([late, signal]);
    return this.#slots
      .run(async () => this.#send(pending, until, signal), waits)
      .catch((error: unknown) => {
        if (error instanceof NoAnswer || !waits.aborted) throw error;
        throw new NoAnswer(signal?.aborted === true ? 'cancelled' : 'too_many', false);
      });
  }

  /** ms */
  #left(until: number): number {
    return Math.max(0, Math.floor(until - this.#options.now()));
  }

  async #send(pending: Pending, until: number, signal: AbortSignal | undefined): Promise<Reply> {
    const { node, jti, jws, settle } = pending;
    const { carry, session } = this.#options;
    const { granted } = session;
    const connection = this.#connection;
    if (signal?.aborted === true) throw new NoAnswer('cancelled', false);
    const ms = this.#left(until);
    if (ms === 0) throw new NoAnswer('too_many', false);
    if (carry !== undefined) {
      const reply = await this.#believed(node, await carry(node, jws, ms, signal));
      if (reply === null || reply.jti !== jti) throw new NoAnswer('silent', true);
      return reply;
    }
    if (connection === null || !this.#connected) throw new NoAnswer('broker', false);
    const late = setTimeout(
      () => settle.reject(new NoAnswer(pending.acknowledged ? 'silent' : 'broker', true)),
      ms,
    );
    const cancel = (): void => settle.reject(new NoAnswer('cancelled', true));
    signal?.addEventListener('abort', cancel, { once: true });
    this.#pending.set(jti, pending);
    try {
      void this.#publish(connection, topics.call(granted.fleet, node, granted.id), pending, ms);
      return await settle.promise;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', cancel);
      this.#pending.delete(jti);
    }
  }

  async #publish(connection: BrokerConnection, topic: string, pending: Pending, ms: number): Promise<void> {
    const { jws, settle } = pending;
    try {
      const isHeard = await connection.send(topic, jws, ms);
      pending.acknowledged = true;
      if (!isHeard) settle.reject(new NoAnswer('offline', false));
    } catch (error) {
      // With any other error the node may have it: its answer, the end of the connection or the call's own time comes first.
      if (error instanceof BrokerRefused) settle.reject(new NoAnswer('broker', false));
    }
  }

  /** A new client each time: a call of an earlier connection is never sent again, and the newest certificate counts. */
  #connect(): void {
    const { session } = this.#options;
    const { id, fleet, way } = session.granted;
    if (way === null) throw new Error('a person has no way to the broker');
    const { ca, certificate } = way;
    try {
      const connection: BrokerConnection = new BrokerConnection(
        {
          url: this.broker,
          clientId: id,
          ca,
          certificate,
          key: session.keys.certificate,
          limits: LIMITS,
          receiveMaximum: AT_A_TIME,
          lateEnds: false,
        },
        {
          connected: () => void this.#welcome(connection, topics.replies(fleet, id)),
          message: (topic, payload) => void this.#heard(topic, payload),
          ended: (why) => this.#ended(why),
        },
      );
      this.#connection = connection;
    } catch (error) {
      this.#ended(messageOf(error));
    }
  }

  async #welcome(connection: BrokerConnection, replies: string): Promise<void> {
    try {
      await connection.subscribe([replies]);
    } catch (error) {
      connection.fail(messageOf(error));
      return;
    }
    if (!connection.connected) return;
    this.#connected = true;
    this.#ways.worked();
    this.#retry.worked();
    this.#ready.resolve();
    this.#options.log.info(`connected to the broker ${this.broker}`);
  }

  #ended(why: string): void {
    const lost = this.#connected;
    this.#connection = null;
    this.#connected = false;
    if (lost) this.#ready = deferred();
    for (const { settle } of this.#pending.values()) settle.reject(new NoAnswer('broker', true));
    if (this.#stopped) return;
    this.#options.log.warn(`broker ${this.broker}: ${why}`);
    this.#options.session.doubt(); // the broker cuts off whose credential has ended
    if (!lost && this.#ways.failed()) this.#retry.start();
    else this.#retry.again();
  }

  /** Everything but the node's own signed answer to one of our calls is no answer. */
  async #heard(topic: string, payload: Buffer): Promise<void> {
    const node = replierOf(topic);
    if (node === null || payload.length > MAX_REPLY_BYTES) return;
    const reply = await this.#believed(node, payload.toString('utf8'));
    const pending = reply === null ? undefined : this.#pending.get(reply.jti);
    if (reply !== null && pending?.node === node) pending.settle.resolve(reply);
    else if (reply !== null) this.#options.log.warn(`${node}: svc-reply: to no call of ours`);
  }

  /** Null for what this node has not signed. */
  async #believed(node: string, jws: string): Promise<Reply | null> {
    try {
      const key = this.#options.keyOf(node);
      const { payload } = await verifyStatement('svc-reply', jws, () => key);
      if (payload.node !== node) throw new NotBelieved('svc-reply: by another node');
      return payload;
    } catch (error) {
      if (!(error instanceof NotBelieved)) throw error;
      this.#options.log.warn(`${node}: ${error.message}`);
      return null;
    }
  }
}

function member(reply: Reply, name: string): string | null {
  const value = memberOf(reply.body, name);
  return typeof value === 'string' ? value : null;
}

/** Why a call was not run, where the node says so with a status of its own. */
function codeOf(reply: Reply): string | null {
  return reply.status === 401 || reply.status === 409 ? member(reply, 'code') : null;
}

/** The nonce that a refusal tells. */
function nonceOf(reply: Reply): string | null {
  const nonce = codeOf(reply) === null ? null : member(reply, 'nonce');
  return nonce !== null && /^[A-Za-z0-9_-]{8,32}\.[0-9]{1,10}$/.test(nonce) ? nonce : null;
}
