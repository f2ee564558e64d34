import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { NotBelieved, thumbprint, verifyStatement } from '../../../shared/fleet/signed.ts';
import { asRecord, listOf, memberOf, parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type Policy, type PublicJwk, publicJwk } from '../../../shared/schemas/fleet-statements.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';

const MAX_BYTES = 1_000_000;
/** What is further ahead of every other evidence than that is a clock that was wrong, until it is said again and again. */
const MAX_AHEAD_S = 24 * 3600;

interface PolicyStoreOptions {
  readonly file: string;
  /** The fleet that this node is enrolled with; null: none. */
  readonly fleet: () => string | null;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
}

/** Seconds since 1970 that the hub has signed, and when we heard of it, ms of the monotonic clock. */
interface Proof {
  readonly seconds: number;
  readonly at: number;
}

const NO_PROOF: Proof = { seconds: 0, at: 0 };

interface VerifiedPolicy {
  readonly policy: Policy;
  /** By thumbprint. */
  readonly keys: ReadonlyMap<string, PublicJwk>;
  readonly revoked: ReadonlySet<string>;
}

/**
 * What the hub says of itself: its keys and the credentials that it has ended. The newest one is kept on the disk; a new one
 * counts only if a key of the one before signed it. The times in what the hub signs also prove how late it is at least; each policy
 * with a higher number says it anew, down as well as up, so that a hub whose clock was wrong locks nobody out.
 */
export class PolicyStore {
  readonly #options: PolicyStoreOptions;
  readonly #changes = new Serial();
  #kept: VerifiedPolicy | null = null;
  /** By policies. */
  #proved = NO_PROOF;
  /** By tokens, beyond that; the next policy takes its place. */
  #hinted = NO_PROOF;
  #isNoted = false;

  constructor(options: PolicyStoreOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { file, fleet, log } = this.#options;
    if (fleet() === null) return;
    try {
      const text = await readPrivate(file, MAX_BYTES);
      if (text === null) return;
      const { jws, proved } = asRecord(parseJson(text));
      if (typeof jws !== 'string') throw new Error(`${file} has no policy`);
      await this.#keep(jws, null);
      // What it proved when it came may be less than what it says.
      if (typeof proved === 'number' && Number.isSafeInteger(proved) && proved < this.#proved.seconds)
        this.#prove(proved);
    } catch (error) {
      // Without it no key is believed, so no call is carried out until the node enrols again.
      log.error(`fleet: the policy in ${file} cannot be read: ${messageOf(error)}`);
    }
  }

  async stop(): Promise<void> {
    await this.#changes.idle();
  }

  get seq(): number | null {
    return this.#kept?.policy.seq ?? null;
  }

  /** A key that signs for the hub. */
  key(kid: string): PublicJwk | null {
    return this.#kept?.keys.get(kid) ?? null;
  }

  isRevoked(sub: string): boolean {
    return this.#kept?.revoked.has(sub) ?? true;
  }

  /** Now, in seconds since 1970: the later of our clock and of what the hub has proved, so that a late clock revives nothing. */
  get seconds(): number {
    return Math.max(this.#evidence, this.#since(this.#hinted));
  }

  /** A token of the hub was made at this time. */
  proves(seconds: number): void {
    const believed = this.#bounded(seconds, 'a token');
    if (believed > this.#since(this.#hinted))
      this.#hinted = { seconds: believed, at: this.#options.monotonic() };
  }

  /** Our clock, and what policies have proved; not what a single token says. */
  get #evidence(): number {
    return Math.max(Math.floor(this.#options.now() / 1000), this.#since(this.#proved));
  }

  #since({ seconds, at }: Proof): number {
    return seconds + Math.floor((this.#options.monotonic() - at) / 1000);
  }

  #prove(seconds: number): void {
    this.#proved = { seconds, at: this.#options.monotonic() };
    this.#hinted = NO_PROOF;
  }

  #bounded(seconds: number, what: string): number {
    const most = this.#evidence + MAX_AHEAD_S;
    if (seconds <= most) return seconds;
    if (!this.#isNoted)
      this.#options.log.warn(
        `fleet: ${what} of the hub is of ${iso(seconds)}, more than a day after every other evidence: is a clock wrong, there or here?`,
      );
    this.#isNoted = true;
    return most;
  }

  /** The first one, as the hub gave it at the enrolment, over a connection that it proved. @throws NotBelieved, ApiError E_STORE */
  async trust(jws: string): Promise<void> {
    await this.#changes.run(async () => {
      this.#kept = null;
      await this.#keep(jws, null);
      await this.#write(jws);
    });
  }

  /** @returns its number. @throws NotBelieved for one that is not of our hub, or older than the one we have; ApiError E_STORE */
  async accept(jws: string): Promise<number> {
    return this.#changes.run(async () => {
      const before = this.#kept;
      if (before === null) throw new NotBelieved('svc-policy: this node knows no key of its hub');
      const seq = await this.#keep(jws, before);
      if (this.#kept !== before) await this.#write(jws);
      return seq;
    });
  }

  /** @param before whose keys must have signed it; null: it is trusted for where it comes from, and must be signed by its own key */
  async #keep(jws: string, before: VerifiedPolicy | null): Promise<number> {
    const known = before?.keys ?? (await keysIn(unverified(jws)));
    const { payload } = await verifyStatement('svc-policy', jws, (kid) => known.get(kid) ?? null);
    if (before !== null && payload.fleet !== this.#options.fleet())
      throw new NotBelieved('svc-policy: of another fleet');
    if (before !== null && payload.seq < before.policy.seq)
      throw new NotBelieved(`svc-policy: number ${payload.seq} is older than ${before.policy.seq}`);
    this.#learn(payload, before);
    if (before === null || payload.seq > before.policy.seq || payload.iat > before.policy.iat)
      this.#kept = {
        policy: payload,
        keys: await keysIn(payload.keys),
        revoked: new Set(payload.revoked),
      };
    return payload.seq;
  }

  /** What a policy says of the time. The first one has nothing to be held against. */
  #learn({ seq, iat }: Policy, before: VerifiedPolicy | null): void {
    if (before === null) return this.#prove(iat);
    if (seq === before.policy.seq && iat <= before.policy.iat) return; // the same again
    if (iat < before.policy.iat) return this.#prove(iat); // the hub itself says that its clock was ahead
    // One that was held back on its way takes nothing back.
    const believed = this.#bounded(iat, 'the policy');
    if (believed === iat) this.#isNoted = false;
    this.#prove(Math.max(believed, this.#since(this.#proved)));
  }

  async #write(jws: string): Promise<void> {
    await writeAtomic(
      this.#options.file,
      `${JSON.stringify({ version: 1, jws, proved: this.#proved.seconds })}\n`,
      0o600,
    ).catch((error: unknown) => {
      throw new ApiError('E_STORE', `The fleet's policy could not be written: ${messageOf(error)}.`);
    });
  }
}

async function keysIn(keys: readonly PublicJwk[]): Promise<ReadonlyMap<string, PublicJwk>> {
  return new Map(await Promise.all(keys.map(async (key) => [await thumbprint(key), key] as const)));
}

function iso(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `second ${seconds}` : date.toISOString();
}

const isJwk = validatorOf(publicJwk);

/** The keys that an unproved policy names; one of them must have signed it. */
function unverified(jws: string): readonly PublicJwk[] {
  try {
    const text = Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString('utf8');
    return listOf(memberOf(parseJson(text), 'keys')).filter(isJwk.fits);
  } catch {
    return []; // nobody's: verifyStatement refuses it
  }
}
