import { ApiError } from '../../../shared/errors.ts';
import { signStatement } from '../../../shared/fleet/signed.ts';
import { MAX_REPLY_BYTES } from '../../../shared/fleet/told.ts';
import type { CallStatement, Reply } from '../../../shared/schemas/fleet-statements.ts';
import type { FleetCredential } from '../edge/decision.ts';
import type { CallVerifier } from './call-credential.ts';
import type { Signing } from './enrolment.ts';

/** Longer than any caller waits, so that a repetition of a call that ran is never taken for one that did not. */
const KEPT_MS = 10 * 60_000;
/** A read may be repeated; as long as its nonce is good, it is answered with the same. */
const READ_KEPT_MS = 30_000;
const MAX_KEPT = 2000;
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** The answer of the edge to one call. */
export interface Answer {
  readonly status: number;
  /** The JSON of a JSON answer; `{media_type, base64}` of another; null for none. */
  readonly body: unknown;
}

interface FleetCallsOptions {
  readonly node: string;
  readonly verifier: Pick<CallVerifier, 'read'>;
  /** Null: this node is not enrolled. */
  readonly signing: () => Pick<Signing, 'key' | 'kid'> | null;
  /** Through the whole front, as any other request. @throws ApiError */
  readonly run: (caller: string, call: CallStatement, credential: FleetCredential) => Promise<Answer>;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

interface KeptReply {
  readonly reply: Promise<string>;
  bytes: number;
  /** When it may be forgotten; unknown while it runs. */
  until: number | null;
}

/** Carries out the fleet's calls: each once, however often it comes, and every answer under this node's signature. */
export class FleetCalls {
  readonly #options: FleetCallsOptions;
  /** By caller's key and jti; the oldest first. */
  readonly #kept = new Map<string, KeptReply>();
  #bytes = 0;

  constructor(options: FleetCallsOptions) {
    this.#options = options;
  }

  /** @returns the signed reply; null where nobody can be answered */
  async call(caller: string, jws: string): Promise<string | null> {
    const read = await this.#options.verifier.read(caller, jws);
    if (read === null) return null;
    const { statement, credential, id } = read;
    if (id === null) return this.#answer(caller, statement, credential);
    const known = this.#kept.get(id);
    if (known !== undefined) return known.reply;
    if (credential.kind === 'refused') return this.#answer(caller, statement, credential); // it did not run, so it is not noted
    if (!this.#hasRoom()) {
      const busy = new ApiError('E_RATE_LIMITED', 'Too many calls to remember. Try again in a minute.');
      return this.#sign(this.#signing(), statement.jti, busy.status, busy.body());
    }
    const kept: KeptReply = { reply: this.#answer(caller, statement, credential), bytes: 0, until: null };
    this.#kept.set(id, kept);
    try {
      return await kept.reply;
    } finally {
      kept.until = this.#options.now() + (statement.method === 'GET' ? READ_KEPT_MS : KEPT_MS);
      kept.bytes = await kept.reply.then(
        ({ length }) => length,
        () => 0,
      );
      this.#bytes += kept.bytes;
    }
  }

  #hasRoom(): boolean {
    const now = this.#options.now();
    for (const [id, { until, bytes }] of this.#kept) {
      if (until === null || until > now) continue;
      this.#kept.delete(id);
      this.#bytes -= bytes;
    }
    return this.#kept.size < MAX_KEPT && this.#bytes < MAX_KEPT_BYTES;
  }

  async #answer(caller: string, statement: CallStatement, credential: FleetCredential): Promise<string> {
    const signing = this.#signing(); // it answers the call by which it leaves, too
    try {
      const { status, body } = await this.#options.run(caller, statement, credential);
      return await this.#sign(signing, statement.jti, status, body);
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError('E_INTERNAL');
      return this.#sign(signing, statement.jti, known.status, known.body());
    }
  }

  #signing(): Pick<Signing, 'key' | 'kid'> {
    const signing = this.#options.signing();
    if (signing === null) throw new ApiError('E_NOT_FOUND', 'This node is not enrolled.');
    return signing;
  }

  async #sign(
    signing: Pick<Signing, 'key' | 'kid'>,
    jti: string,
    status: number,
    body: unknown,
  ): Promise<string> {
    const reply: Reply = { node: this.#options.node, jti, status, body: body ?? null };
    const jws = await signStatement('svc-reply', reply, signing.key, signing.kid);
    if (jws.length <= MAX_REPLY_BYTES) return jws;
    const large = new ApiError(
      'E_TOO_LARGE',
      `The answer is longer than ${MAX_REPLY_BYTES} bytes. Ask for less of it.`,
      {
        answered: status,
      },
    );
    return signStatement(
      'svc-reply',
      { ...reply, status: large.status, body: large.body() },
      signing.key,
      signing.kid,
    );
  }
}
