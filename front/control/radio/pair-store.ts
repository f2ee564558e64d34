import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { asRecord, type JsonObject } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { MAX_SLOTS } from '../../../shared/schemas/radio-unit.ts';
import type { BoundRadio, BoundRadios } from '../relay/bound-radios.ts';

const MAX_BYTES = 256 * 1024;
/** A file of a newer one is used where it has what this one needs. */
const VERSION = 1;

interface PairStoreOptions {
  readonly file: string;
  /** The folder of wfb-ng's key files, made from the list. */
  readonly keys: string;
  readonly log: Logger;
}

/** A bound radio with its keys, hexadecimal. */
export interface StoredRadio extends BoundRadio {
  readonly own_secret: string;
  readonly peer_public: string;
  readonly relay_secret: string;
  /** What held before, until the new key has carried data; null if there was nothing, or it is no longer needed. */
  readonly previous: Omit<StoredRadio, 'previous'> | null;
}

const HEX_32 = /^[0-9a-f]{64}$/;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * The bound radios in `radio-pairs.json` (0600), which is replaced as a whole. A file that cannot be read or used binds nothing
 * and is not overwritten.
 */
export class PairStore implements BoundRadios {
  readonly #options: PairStoreOptions;
  readonly #writes = new Serial();
  readonly #listeners = new Set<() => void>();
  #radios: readonly StoredRadio[] = [];
  /** The members beside the radios: version, and what a newer version has written. */
  #rest: JsonObject = { version: VERSION };
  /** Why the file is not used, null if it is. */
  #problem: string | null = null;

  constructor(options: PairStoreOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { file, log } = this.#options;
    try {
      const text = await readPrivate(file, MAX_BYTES);
      if (text !== null) [this.#rest, this.#radios] = parse(JSON.parse(text));
      // A process that was killed between the two has changed the list only.
      await this.#writeKeys(this.#radios);
    } catch (error) {
      this.#problem = `${file} cannot be used: ${messageOf(error)}`;
      log.error(`radio: ${this.#problem}. No radio counts as bound.`);
    }
  }

  async stop(): Promise<void> {
    await this.#writes.idle();
  }

  /** Why the file is not used, null if it is. */
  get problem(): string | null {
    return this.#problem;
  }

  list(): readonly BoundRadio[] {
    return this.#radios.map(({ slot, device_id, name, fingerprint, paired_at, proved }) => ({
      slot,
      device_id,
      name,
      fingerprint,
      paired_at,
      proved,
    }));
  }

  /** With their secrets. */
  stored(): readonly StoredRadio[] {
    return this.#radios;
  }

  relaySecret(deviceId: string): Buffer | null {
    const found = this.#radios.find(({ device_id: id }) => id === deviceId);
    return found === undefined ? null : Buffer.from(found.relay_secret, 'hex');
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Replaces the list by what `next` makes of it; in force once it is on the disk. Changes wait for each other.
   * @throws ApiError E_STORE; then nothing has changed
   */
  async change(next: (radios: readonly StoredRadio[]) => readonly StoredRadio[]): Promise<void> {
    await this.#writes.run(async () => {
      if (this.#problem !== null) throw new ApiError('E_STORE', `${this.#problem}. Repair or remove it.`);
      const radios = next(this.#radios);
      const text = `${JSON.stringify({ ...this.#rest, pairs: radios }, null, 2)}\n`;
      await writeAtomic(this.#options.file, text, 0o600).catch((error: unknown) => {
        throw new ApiError('E_STORE', `The bound radios could not be written: ${messageOf(error)}.`);
      });
      this.#radios = radios;
      await this.#writeKeys(radios).catch((error: unknown) => {
        throw new ApiError('E_STORE', `The keys for wfb-ng could not be written: ${messageOf(error)}.`);
      });
      for (const listener of this.#listeners) listener();
    });
  }

  /** Makes wfb-ng's key files what the store says: own secret, then the peer's public key, 64 bytes. */
  async #writeKeys(radios: readonly StoredRadio[]): Promise<void> {
    const { keys } = this.#options;
    const wanted = new Map(
      radios.map(({ slot, own_secret: own, peer_public: peer }) => [
        `slot-${slot}.key`,
        Buffer.from(own + peer, 'hex'),
      ]),
    );
    if (wanted.size === 0) {
      await rm(keys, { recursive: true, force: true });
      return;
    }
    await mkdir(keys, { recursive: true, mode: 0o700 });
    for (const [name, content] of wanted) await writeAtomic(join(keys, name), content, 0o600);
    for (const name of await readdir(keys))
      if (!wanted.has(name)) await rm(join(keys, name), { force: true });
  }
}

/** What `previous` holds. */
export function withoutPrevious(radio: StoredRadio): Omit<StoredRadio, 'previous'> {
  return parseOne(radio);
}

/** @throws Error naming what is wrong */
function parse(value: unknown): readonly [JsonObject, readonly StoredRadio[]] {
  const { pairs, ...rest } = asRecord(value);
  const { version } = rest;
  if (!Number.isInteger(version) || Number(version) < VERSION || !Array.isArray(pairs))
    throw new Error(`it is not of version ${VERSION}`);
  const radios = pairs.map((item: unknown) => {
    const { previous = null } = asRecord(item);
    return { ...parseOne(item), previous: previous === null ? null : parseOne(previous) };
  });
  for (const member of ['slot', 'device_id'] as const)
    if (new Set(radios.map((radio) => radio[member])).size < radios.length)
      throw new Error(`two radios have the same ${member}`);
  return [rest, radios];
}

function parseOne(value: unknown): Omit<StoredRadio, 'previous'> {
  const { previous: _previous, ...record } = asRecord(value);
  const { slot, proved } = record;
  const text = (member: string, pattern: RegExp): string => {
    const found = record[member];
    if (typeof found !== 'string' || !pattern.test(found)) throw new Error(`${member} is not valid`);
    return found;
  };
  if (!Number.isInteger(slot) || Number(slot) < 0 || Number(slot) >= MAX_SLOTS)
    throw new Error('slot is not valid');
  if (typeof proved !== 'boolean') throw new Error('proved is not valid');
  return {
    ...record, // what a newer version has written besides
    slot: Number(slot),
    device_id: text('device_id', ID),
    name: text('name', /^[^\p{Cc}]{0,64}$/u),
    fingerprint: text('fingerprint', /^[0-9a-f]{4}(?: [0-9a-f]{4}){7}$/),
    paired_at: text('paired_at', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    proved,
    own_secret: text('own_secret', HEX_32),
    peer_public: text('peer_public', HEX_32),
    relay_secret: text('relay_secret', HEX_32),
  };
}
