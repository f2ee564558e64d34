import { X509Certificate } from 'node:crypto';
import type { Authority } from '../../../shared/certificates/authority.ts';
import { codeOf } from '../../../shared/errors.ts';
import { caHashOf } from '../../../shared/fleet/code.ts';
import type { Queries } from '../database/tables.ts';
import type { Signer } from './signer.ts';

/** What every hub of one database has to have in common: `fleet`, `authority` and `signing` (hashes of keys, no secrets). */
export interface Identity {
  readonly fleet: string;
  /** Of the CA's certificate. */
  readonly authority: string;
  /** RFC 7638 thumbprint of the key that signs. */
  readonly signing: string;
}

/** SQLSTATE. */
const UNIQUE_VIOLATION = '23505';

const WORDS = [
  ['fleet', 'another fleet'],
  ['authority', 'another authority (ca.pem)'],
  ['signing', 'another signing key (signing.key)'],
] as const;

/** @param fleet its id */
export function identityOf(fleet: string, { certificate }: Authority, { kid }: Signer): Identity {
  return { fleet, authority: caHashOf(new X509Certificate(certificate)), signing: kid };
}

async function identityIn(db: Queries): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('identity').selectAll().execute();
  return new Map(rows.map(({ key, value }) => [key, value]));
}

/**
 * A new hub claims its database. @param on a transaction
 * @throws Error if another hub has claimed it; the database's, if one does at this moment
 */
export async function claim(on: Queries, identity: Identity, name: string): Promise<void> {
  const taken = `${name} has a hub already. For another replica of it, copy its folder; for another fleet, make an empty database.`;
  if ((await identityIn(on)).size > 0) throw new Error(taken);
  await record(on, identity).catch((error: unknown) => {
    throw codeOf(error) === UNIQUE_VIOLATION ? new Error(taken) : error; // another one was faster
  });
}

/** @throws Error for files of another hub than the database's; a database that says nothing yet is of this one */
export async function checkIdentity(db: Queries, identity: Identity, name: string): Promise<void> {
  await db.transaction().execute(async (on) => {
    const found = await identityIn(on);
    if (found.size === 0) return record(on, identity); // made by version 1.0, which had no other hub beside it
    for (const [key, words] of WORDS)
      if (found.get(key) !== identity[key])
        throw new Error(
          `${name} is of ${words} than this folder. Every hub of one database needs the same hub.yaml, ca.pem, ca.key and signing.key.`,
        );
  });
}

/** After the signing key was changed. */
export async function noteSigningKey(db: Queries, signing: string): Promise<void> {
  await db.updateTable('identity').set({ value: signing }).where('key', '=', 'signing').execute();
}

async function record(on: Queries, identity: Identity): Promise<void> {
  await on
    .insertInto('identity')
    .values(Object.entries(identity).map(([key, value]) => ({ key, value })))
    .execute();
}

/** Of a hub that never was: `init` was cut off after this. @param on a transaction */
export async function forgetAttempt(on: Queries): Promise<void> {
  await on.deleteFrom('identity').execute();
  await on.deleteFrom('operators').execute();
}
