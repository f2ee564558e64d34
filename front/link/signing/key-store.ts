import { mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { recordOf } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';

/** More vehicles than one node ever meets; it also limits the signatures that are computed to find a key. */
const MAX_KEYS = 64;
const MAX_FILE_BYTES = 4096;
const VERSION = 1;

export interface StoredKey {
  /** The vehicle's uid, or its system id if it has none. */
  readonly vehicle: string;
  readonly keyId: string;
  /** 32 bytes; must not be modified. */
  readonly key: Buffer;
  readonly linkId: number;
}

/**
 * The signing keys of the vehicles that were enrolled here, so that svc-link can still control them after a restart: one 0600
 * file a key, `<vehicle>-<key id>.json`, in a 0700 directory. A file that others can read or own is logged and not used.
 */
export class KeyStore {
  readonly #directory: string;
  readonly #log: Logger;
  #keys: readonly StoredKey[] = [];

  constructor(directory: string, log: Logger) {
    this.#directory = directory;
    this.#log = log;
  }

  get keys(): readonly StoredKey[] {
    return this.#keys;
  }

  async load(): Promise<void> {
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') this.#log.error(`signing keys: ${messageOf(error)}`);
      return [];
    });
    const keys: StoredKey[] = [];
    for (const name of names.filter((entry) => /^[\w-]+\.json$/.test(entry)).slice(0, MAX_KEYS)) {
      try {
        const text = await readPrivate(join(this.#directory, name), MAX_FILE_BYTES);
        if (text !== null) keys.push(parse(text));
      } catch (error) {
        this.#log.error(`signing key ${name}: ${messageOf(error)}`);
      }
    }
    this.#keys = keys;
  }

  /** @throws the file system's error; then nothing was kept */
  async add(key: StoredKey): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const { vehicle, keyId, linkId } = key;
    const text = JSON.stringify({
      version: VERSION,
      vehicle,
      key_id: keyId,
      link_id: linkId,
      key_hex: key.key.toString('hex'),
    });
    await writeAtomic(this.#pathOf(key), text, 0o600);
    this.#keys = [...this.#keys.filter((other) => !isSame(other, key)), key].slice(-MAX_KEYS);
  }

  /** Removes the keys that `goes` selects. A file that cannot be removed is logged: its key is no longer in use. */
  async remove(goes: (key: StoredKey) => boolean): Promise<void> {
    const leaving = this.#keys.filter(goes);
    this.#keys = this.#keys.filter((key) => !leaving.includes(key));
    for (const key of leaving) {
      await unlink(this.#pathOf(key)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') this.#log.error(`signing key ${key.keyId}: ${messageOf(error)}`);
      });
    }
  }

  #pathOf({ vehicle, keyId }: StoredKey): string {
    return join(this.#directory, `${vehicle.replaceAll(/[^\w]/g, '')}-${keyId}.json`);
  }
}

function isSame(one: StoredKey, other: StoredKey): boolean {
  return one.vehicle === other.vehicle && one.keyId === other.keyId;
}

function parse(text: string): StoredKey {
  const value: unknown = JSON.parse(text);
  const { version, vehicle, key_id: keyId, link_id: linkId, key_hex: hex } = recordOf(value);
  if (version !== VERSION || typeof vehicle !== 'string' || typeof keyId !== 'string')
    throw new Error('it is no key of this version');
  if (typeof linkId !== 'number' || typeof hex !== 'string' || !/^[0-9a-f]{64}$/.test(hex))
    throw new Error('it holds no key');
  return { vehicle, keyId, linkId, key: Buffer.from(hex, 'hex') };
}
