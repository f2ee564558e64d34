import { sql } from 'kysely';
import { Serial } from '../../../shared/async/serial.ts';
import { NotBelieved, verifyStatement } from '../../../shared/fleet/signed.ts';
import type { Policy } from '../../../shared/schemas/fleet-statements.ts';
import type { Queries } from '../database/tables.ts';
import type { Signer } from '../keys/signer.ts';
import type { Denied } from '../stores/denied.ts';
import { readMeta } from '../stores/meta.ts';

const SEQ = 'policy_seq';
/** Between the clocks of two replicas of one database, ms. */
const CLOCKS_MS = 1000;

/** The hub's policy: its keys and the credentials that it has ended. Nodes keep the one with the highest number. */
export class PolicyMaker {
  readonly #db: Queries;
  readonly #fleet: string;
  readonly #signer: Signer;
  readonly #denied: Denied;
  readonly #now: () => number;
  readonly #turn = new Serial();
  /** The number in the database when this process began, and when that was, ms since 1970. */
  #begun: { readonly seq: number; readonly at: number } | null = null;
  /** The newest that is known here: its own, or that of another replica. */
  #newest: { readonly seq: number; readonly jws: string } | null = null;

  constructor(db: Queries, fleet: string, signer: Signer, denied: Denied, now: () => number) {
    this.#db = db;
    this.#fleet = fleet;
    this.#signer = signer;
    this.#denied = denied;
    this.#now = now;
  }

  /** 0 before the first. */
  async seq(): Promise<number> {
    return (await readMeta(this.#db, SEQ)) ?? 0;
  }

  /** @returns when this process began, ms since 1970 */
  async begin(): Promise<number> {
    const at = this.#now();
    this.#begun = { seq: await this.seq(), at };
    return at;
  }

  /** Whether the database has gone back behind what this process has made or heard: it was restored from a backup. */
  async isBehind(): Promise<boolean> {
    const { seq } = this.#newest ?? { seq: 0 };
    return (await this.seq()) < seq;
  }

  /** Whether this is a policy of this hub from before this process began that its database did not know then. */
  async isForgotten(jws: string): Promise<boolean> {
    const policy = await this.#own(jws);
    if (policy === null || this.#begun === null) return false;
    return policy.seq > this.#begun.seq && policy.iat * 1000 + CLOCKS_MS < this.#begun.at;
  }

  /** The newest. */
  async current(): Promise<string> {
    return this.#newest?.jws ?? this.renew();
  }

  /**
   * A new one, with what is true now. Its number is at least the second of this moment, so that a hub whose database was restored
   * from a backup does not begin with numbers that the nodes have seen.
   */
  async renew(): Promise<string> {
    return this.#turn.run(async () => {
      const iat = Math.floor(this.#now() / 1000);
      const seq = await this.#next(iat);
      const keys = [...this.#signer.publicKeys];
      const revoked = [...(await this.#denied.revoked())];
      const jws = await this.#signer.sign('svc-policy', { fleet: this.#fleet, seq, iat, keys, revoked });
      return this.#keep(seq, jws);
    });
  }

  /**
   * A policy that is published now. @returns the one that must be in its place, because it has a higher number: who denies somebody
   * takes a number after that is stored, so the highest has them all; null: it is the newest, or no policy of this hub
   */
  async heard(jws: string): Promise<string | null> {
    const policy = await this.#own(jws);
    if (policy === null) return null;
    const newest = this.#keep(policy.seq, jws);
    return newest === jws || policy.seq === this.#newest?.seq ? null : newest;
  }

  /** Null for one that is not of this hub. */
  async #own(jws: string): Promise<Policy | null> {
    try {
      const { payload } = await verifyStatement('svc-policy', jws, async (kid) =>
        this.#signer.publicKey(kid),
      );
      return payload.fleet === this.#fleet ? payload : null;
    } catch (error) {
      if (error instanceof NotBelieved) return null;
      throw error;
    }
  }

  /** @returns the newest */
  #keep(seq: number, jws: string): string {
    if (this.#newest === null || seq > this.#newest.seq) this.#newest = { seq, jws };
    return this.#newest.jws;
  }

  /** In one statement: no two hubs get the same. @param least it is at least that */
  async #next(least: number): Promise<number> {
    const { value } = await this.#db
      .insertInto('meta')
      .values({ key: SEQ, value: least })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet({
          value: sql<number>`CASE WHEN meta.value < ${sql.val(least)} THEN ${sql.val(least)} ELSE meta.value + 1 END`,
        }),
      )
      .returning('value')
      .executeTakeFirstOrThrow();
    return value;
  }
}
