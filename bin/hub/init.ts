import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { newAuthority } from '../../shared/certificates/authority.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { takePidLock } from '../../shared/files/pid-lock.ts';
import { EVERY_NODE } from '../../shared/hub-api/caller.ts';
import { type FirstConfig, firstConfig } from './config.ts';
import { makeDatabase } from './database/open.ts';
import { checkEmpty, migrate } from './database/schema.ts';
import { OwnCertificates } from './keys/certificates.ts';
import { claim, forgetAttempt, identityOf } from './keys/identity.ts';
import { addSigningKey, Signer } from './keys/signer.ts';
import type { HubPlaces } from './places.ts';
import { Operators } from './stores/operators.ts';

export type InitOptions = Omit<FirstConfig, 'fleet'>;

/** Whether there is a whole hub in this folder: the config is written last. */
export function isHub({ config }: HubPlaces): boolean {
  return existsSync(config);
}

/**
 * Makes the files of a new hub. What is left of an attempt that was cut off is made anew.
 * @returns the credential of the first operator, who may do everything; it is stored nowhere
 * @throws Error where there is a hub already, in the folder or in the database
 */
export async function initHub(places: HubPlaces, options: InitOptions, now: () => number): Promise<string> {
  await mkdir(places.folder, { recursive: true, mode: 0o700 });
  const release = takePidLock(hubLock(places));
  if (release === null) throw new Error(`a hub runs or is made in ${places.folder} already`);
  try {
    return await makeHub(places, options, now);
  } finally {
    release();
  }
}

/** Held by whoever runs the hub of a folder, or makes it. */
export function hubLock({ folder }: HubPlaces): string {
  return join(folder, 'hub.lock');
}

async function makeHub(places: HubPlaces, options: InitOptions, now: () => number): Promise<string> {
  if (isHub(places)) throw new Error(`there is a hub in ${places.folder} already`);
  const fleet = `f-${randomBytes(6).toString('hex')}`;
  const authority = await newAuthority(`svc fleet ${fleet}`, now());
  await writeAtomic(places.caKey, authority.key);
  await writeAtomic(places.ca, authority.certificate, 0o644);
  await new OwnCertificates(places, options.names, authority, now).renew();
  if (!existsSync(places.signingKeys)) await addSigningKey(places.signingKeys);
  const identity = identityOf(fleet, authority, await Signer.open(places.signingKeys));
  const database = makeDatabase(places, options);
  try {
    await checkEmpty(database);
    await migrate(database);
    const { text } = await database.queries.transaction().execute(async (on) => {
      // Its folder is this one: nobody else has claimed it.
      if (database.engine === 'sqlite') await forgetAttempt(on);
      await claim(on, identity, database.name);
      return new Operators(on, now).add('first operator', { scopes: SCOPES, ...EVERY_NODE });
    });
    await writeAtomic(places.config, firstConfig({ ...options, fleet }));
    return text;
  } finally {
    await database.close();
  }
}
