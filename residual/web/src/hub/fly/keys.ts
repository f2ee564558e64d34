import { calculateJwkThumbprint } from 'jose';
import { listOf } from '../../../../../shared/member.ts';
import type { PublicJwk } from '../../../../../shared/schemas/fleet-statements.ts';

/**
 * The keys of this browser, Ed25519 by WebCrypto and not extractable: they sign here, and nobody reads them, this page included.
 * `calls` signs that somebody calls; `operator` signs each flight that a button is held for, and counts only on nodes that list it.
 */
type KeyName = 'calls' | 'operator';

export interface BrowserKey {
  readonly key: CryptoKey;
  readonly jwk: PublicJwk;
  /** RFC 7638 thumbprint. */
  readonly kid: string;
}

const DATABASE = 'svc-hub-keys';
const STORE = 'keys';
const ALG = 'Ed25519';

/** Why this browser can have none; null: it can. */
export function lacksKeys(): 'insecure' | 'storage' | null {
  // WebCrypto is only there by HTTPS, or from this machine.
  if (!isSecureContext || typeof crypto.subtle === 'undefined') return 'insecure';
  return typeof indexedDB === 'undefined' ? 'storage' : null;
}

/** The key, made now if there is none yet. @throws DOMException where this browser does not know Ed25519 */
export async function ensureKey(name: KeyName): Promise<BrowserKey> {
  const found = await findKey(name);
  if (found !== null) return found;
  const made = await crypto.subtle.generateKey(ALG, false, ['sign', 'verify']);
  // Another tab may have made one meanwhile: that one stays.
  const kept = await inStore<CryptoKeyPair>('readwrite', (store, done) => {
    const asked = store.get(name);
    asked.addEventListener('success', () => {
      if (!isPair(asked.result)) store.put(made, name);
      done(isPair(asked.result) ? asked.result : made);
    });
  });
  // Else a browser that is short of space forgets it, and the node lists a key that nobody has.
  if (name === 'operator') await navigator.storage.persist?.();
  return browserKey(kept);
}

export async function findKey(name: KeyName): Promise<BrowserKey | null> {
  const found = await inStore<unknown>('readonly', (store, done) => {
    const asked = store.get(name);
    asked.addEventListener('success', () => done(asked.result));
  });
  return isPair(found) ? browserKey(found) : null;
}

export async function forgetKey(name: KeyName): Promise<void> {
  await inStore<null>('readwrite', (store, done) => {
    store.delete(name).addEventListener('success', () => done(null));
  });
}

async function browserKey({ privateKey, publicKey }: CryptoKeyPair): Promise<BrowserKey> {
  const { x = '' } = await crypto.subtle.exportKey('jwk', publicKey);
  const jwk: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x };
  return { key: privateKey, jwk, kid: await calculateJwkThumbprint(jwk) };
}

function isPair(value: unknown): value is CryptoKeyPair {
  return (
    typeof value === 'object' &&
    value !== null &&
    'privateKey' in value &&
    value.privateKey instanceof CryptoKey &&
    !value.privateKey.extractable &&
    listOf(value.privateKey.usages).includes('sign')
  );
}

async function inStore<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore, done: (value: T) => void) => void,
): Promise<T> {
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const asked = indexedDB.open(DATABASE, 1);
    asked.addEventListener('upgradeneeded', () => asked.result.createObjectStore(STORE));
    asked.addEventListener('success', () => resolve(asked.result));
    asked.addEventListener('error', () => reject(asked.error ?? new Error('this browser keeps no keys')));
    asked.addEventListener('blocked', () => reject(new Error('another tab keeps the keys from being read')));
  });
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = db.transaction(STORE, mode);
      let result: { readonly value: T } | null = null;
      transaction.addEventListener('complete', () =>
        result === null ? reject(new Error('this browser keeps no keys')) : resolve(result.value),
      );
      transaction.addEventListener('abort', () =>
        reject(transaction.error ?? new Error('this browser keeps no keys')),
      );
      work(transaction.objectStore(STORE), (value) => {
        result = { value };
      });
    });
  } finally {
    db.close();
  }
}
