import { createHash, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import {
  CompactSign,
  calculateJwkThumbprint,
  compactVerify,
  decodeProtectedHeader,
  errors,
  importJWK,
} from 'jose';
import { isWeakJwk } from '../auth/weak-key.ts';
import { entriesOf, parseJson } from '../member.ts';
import { faultOf } from '../schemas/fault.ts';
import {
  type PublicJwk,
  STATEMENTS,
  type Statement,
  type StatementType,
} from '../schemas/fleet-statements.ts';
import { type Validator, validatorOf } from '../schemas/validator.ts';

const ALG = 'Ed25519';
const VALIDATORS = new Map<StatementType, Validator>(
  entriesOf(STATEMENTS).map(([type, schema]) => [type, validatorOf(schema)]),
);

/** Why a statement is not believed; for logs and refusals, never with a secret in it. */
export class NotBelieved extends Error {}

/** What comes with a statement in the header, beside alg, typ and kid. */
interface Carried {
  readonly token?: string;
  readonly confirm?: string;
}

interface Believed<T extends StatementType> extends Carried {
  readonly payload: Statement<T>;
  /** RFC 7638 thumbprint of the key that signed. */
  readonly kid: string;
}

export function newSigningKey(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey;
}

/** The public half. @throws Error for a key that is not Ed25519 */
export function publicJwk(key: KeyObject): PublicJwk {
  const { kty, crv, x }: JsonWebKey = key.export({ format: 'jwk' });
  if (kty !== 'OKP' || crv !== 'Ed25519' || x === undefined) throw new Error('the key is not Ed25519');
  if (isWeakJwk(x)) throw new Error('the key is of a small order: anybody could sign for it');
  return { kty, crv, x };
}

export async function thumbprint(key: PublicJwk): Promise<string> {
  return calculateJwkThumbprint(key);
}

/** Signs a statement. @param kid the thumbprint of the key's public half */
export async function signStatement<T extends StatementType>(
  type: T,
  payload: Statement<T>,
  key: KeyObject,
  kid: string,
  carried: Carried = {},
): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  return new CompactSign(bytes).setProtectedHeader({ alg: ALG, typ: type, kid, ...carried }).sign(key);
}

/**
 * The statement, if it is of this type, has no member that the type does not have, and was signed by one of these keys.
 * @param keyFor the key with a thumbprint; null if there is none that may sign this. It may look at what the header carries
 * @throws NotBelieved
 */
export async function verifyStatement<T extends StatementType>(
  type: T,
  jws: string,
  keyFor: (kid: string, carried: Carried) => PublicJwk | null | Promise<PublicJwk | null>,
): Promise<Believed<T>> {
  const { kid, token, confirm } = headerOf(type, jws);
  const carried: Carried = {
    ...(token === undefined ? {} : { token }),
    ...(confirm === undefined ? {} : { confirm }),
  };
  const key = await keyFor(kid, carried);
  if (key === null || (await thumbprint(key)) !== kid)
    throw new NotBelieved(`${type}: signed by an unknown key`);
  const payload = await payloadOf(type, jws, key);
  return { payload, kid, ...carried };
}

/** The hash that a confirm names: of the JSON of the body as it is in the call; of nothing where there is none. */
export function bodySha256(body: unknown): string {
  return createHash('sha256')
    .update(body === undefined ? '' : JSON.stringify(body))
    .digest('hex');
}

function headerOf(type: StatementType, jws: string): Carried & { readonly kid: string } {
  try {
    const { alg, typ, kid, token, confirm, crit } = decodeProtectedHeader(jws);
    const known = alg === ALG && typ === type && crit === undefined;
    if (known && typeof kid === 'string' && isTextOrNone(token) && isTextOrNone(confirm))
      return {
        kid,
        ...(token === undefined ? {} : { token }),
        ...(confirm === undefined ? {} : { confirm }),
      };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // no JWS at all
  }
  throw new NotBelieved(`not a statement of type ${type}`);
}

function isTextOrNone(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

async function payloadOf<T extends StatementType>(
  type: T,
  jws: string,
  key: PublicJwk,
): Promise<Statement<T>> {
  let bytes: Uint8Array;
  try {
    ({ payload: bytes } = await compactVerify(jws, await importJWK({ ...key }, ALG), { algorithms: [ALG] }));
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw new NotBelieved(`${type}: the signature is wrong`);
    throw error;
  }
  const value: unknown = parse(bytes);
  const violations = VALIDATORS.get(type)?.(value);
  if (violations !== null)
    throw new NotBelieved(
      `${type}: ${faultOf(violations?.[0] ?? { path: '', message: 'is no object' }, 'it')}`,
    );
  return value as Statement<T>;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined; // signed, but no JSON: refused as no object
  }
}
