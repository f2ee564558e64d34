import { ApiError } from '../../../shared/errors.ts';
import { type Caller, type Grant, isWithin } from '../../../shared/hub-api/caller.ts';
import type { BrokerRules } from '../broker/broker-rules.ts';
import type { Queries } from '../database/tables.ts';
import type { NewCredential } from '../keys/secret.ts';
import type { Codes } from '../stores/codes.ts';
import type { Credentials, ListedCredential } from '../stores/credentials.ts';
import type { Denied } from '../stores/denied.ts';
import type { ListedOperator, Operators } from '../stores/operators.ts';
import type { SignIns } from '../stores/sign-ins.ts';

interface PeopleOptions {
  readonly db: Queries;
  readonly operators: Operators;
  readonly signIns: SignIns;
  readonly credentials: Credentials;
  readonly codes: Codes;
  readonly denied: Denied;
  readonly rules: BrokerRules;
  /** Credentials have ended: the nodes have to hear of it, and open streams have to end. */
  readonly onEnded: (ids: readonly string[]) => Promise<void>;
}

/** Operators and machine credentials. Nobody gives more than they have, or sees or ends what is wider than themselves. */
export class People {
  readonly #options: PeopleOptions;

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  async credentials(caller: Caller): Promise<readonly ListedCredential[]> {
    return (await this.#options.credentials.list()).filter((each) => isWithin(each, caller));
  }

  async operators(caller: Caller): Promise<readonly ListedOperator[]> {
    const { operators, signIns } = this.#options;
    return [...(await operators.list()), ...(await signIns.list())].filter((each) => isWithin(each, caller));
  }

  /** @throws ApiError E_SCOPE */
  async addCredential(caller: Caller, label: string, grant: Grant): Promise<NewCredential> {
    checkLasting(caller);
    checkWithin(grant, caller);
    const made = await this.#options.credentials.add(label, grant, caller.id);
    await this.#options.rules.apply();
    return made;
  }

  /** @throws ApiError E_SCOPE */
  async addOperator(caller: Caller, name: string, grant: Grant): Promise<NewCredential> {
    checkLasting(caller);
    checkWithin(grant, caller);
    return this.#options.operators.add(name, grant);
  }

  /** @throws ApiError E_NOT_FOUND, also for one that is wider than the caller */
  async endCredential(caller: Caller, id: string): Promise<void> {
    const found = await this.#options.credentials.find(id);
    if (found === null || !isWithin(found, caller)) throw new ApiError('E_NOT_FOUND');
    await this.#end([id], async () => undefined);
  }

  /** @throws ApiError E_NOT_FOUND; E_INVALID_VALUE for the last one who may do everything */
  async removeOperator(caller: Caller, id: string): Promise<void> {
    const { operators, signIns, credentials, codes } = this.#options;
    const signedIn = await signIns.find(id);
    if (signedIn !== null && isWithin(signedIn, caller)) return this.endSignIns([id]);
    const found = await operators.find(id);
    if (found === null || !isWithin(found, caller)) throw new ApiError('E_NOT_FOUND');
    await this.#end(
      await credentials.madeBy(id),
      async (on) => {
        // Of two that remove each other at the same moment, at two replicas, the second sees what the first has done.
        const others = (await operators.list(on)).filter((each) => each.id !== id);
        if (!others.some((each) => isWithin(found, each)))
          throw new ApiError(
            'E_INVALID_VALUE',
            'Nobody else may do what this operator may. Add another one first.',
          );
        await codes.removeBy(id, on);
        await operators.remove(id, on);
      },
      [id],
    );
  }

  /** @throws ApiError E_INVALID_VALUE for an operator of the hub's own: their credential is shown once, and would be lost */
  async signOut({ id, expires_at }: Caller): Promise<void> {
    if (expires_at === null)
      throw new ApiError('E_INVALID_VALUE', 'This is for those who have signed in at the provider.');
    await this.endSignIns([id]);
  }

  async endSignIns(ids: readonly string[]): Promise<void> {
    const { signIns, codes } = this.#options;
    if (ids.length === 0) return;
    await this.#end(
      [],
      async (on) => {
        for (const id of ids) {
          await signIns.end(id, on);
          await codes.removeBy(id, on);
        }
      },
      ids,
    );
  }

  /** Of sign-ins that ended so long ago that no token of theirs counts, nothing stays, also with the brokers and the nodes. */
  async forgetSignIns(): Promise<void> {
    const { db, signIns, denied } = this.#options;
    await db.transaction().execute(async (on) => {
      for (const id of await signIns.forget(on)) await denied.remove(id, on);
    });
  }

  async #end(
    ids: readonly string[],
    also: (on: Queries) => Promise<void>,
    others: readonly string[] = [],
  ): Promise<void> {
    const { db, credentials, denied, rules, onEnded } = this.#options;
    await db.transaction().execute(async (on) => {
      for (const id of ids) await credentials.remove(id, on);
      await denied.add([...ids, ...others], on); // a person calls nodes too; whoever ends somebody else now waits here
      await also(on);
    });
    // The nodes hear of it even if the broker's rules cannot be written.
    const [ruled, told] = await Promise.allSettled([rules.apply(), onEnded([...ids, ...others])]);
    for (const each of [ruled, told]) if (each.status === 'rejected') throw each.reason;
  }
}

/** Who is known by a provider is to lose everything with what they have there: they make nothing that stays. */
function checkLasting({ expires_at }: Caller): void {
  if (expires_at !== null)
    throw new ApiError(
      'E_SCOPE',
      "Credentials are made by an operator of the hub's own, not by those who sign in at a provider.",
    );
}

function checkWithin(grant: Grant, caller: Caller): void {
  if (!isWithin(grant, caller))
    throw new ApiError('E_SCOPE', 'Nobody gives more scopes, nodes or tags than they have themselves.', {
      granted: caller.scopes,
      nodes: caller.nodes,
      tags: caller.tags,
    });
}
