import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { isRecord, recordOf } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Lived } from './lived-time.ts';
import { PinLadder, parseLadder, type StoredLadder } from './pin-ladder.ts';

const PIN = /^[0-9]{4,12}$/;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
const PARAMS: ScryptParams = { N: 2 ** 15, r: 8, p: 1 };
/** Waiting calls, besides the running one. More for trusted callers, so that a flood of guesses does not keep out the owner. */
const MAX_WAITING = 8;
const MAX_WAITING_TRUSTED = 16;

interface ScryptParams {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

interface PinRecord {
  readonly hash: Buffer;
  readonly salt: Buffer;
  readonly params: ScryptParams;
  /** Seconds since 1970. */
  readonly setAt: number;
}

/** The state on disk. With an unreadable file the PIN counts as set, and no PIN is right. */
type Stored =
  | { readonly kind: 'unset' }
  | { readonly kind: 'set'; readonly record: PinRecord; readonly ladder: StoredLadder }
  | { readonly kind: 'broken'; readonly problem: string };

export interface PinStatus {
  readonly set: boolean;
  readonly locked: boolean;
  /** Whole seconds until the next attempt is checked, null if it would be checked now. */
  readonly retry_after_s: number | null;
}

interface PinOptions {
  readonly file: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly lived: Lived;
  readonly log: Logger;
  /** The PIN was changed or cleared; awaited before the answer goes out and before the next attempt is checked. */
  readonly onChange?: () => Promise<void> | void;
  /** For tests: a hash begins (+1) or ended (-1). */
  readonly onHash?: (step: 1 | -1) => void;
}

interface SetOptions {
  /** The present PIN; an untrusted caller must give it. Failures count on the ladder. */
  readonly current?: string | undefined;
  /** On-box, pairing key or valid session: needs no proof. */
  readonly trusted: boolean;
  /** May set the first PIN without proof (trust on first use). */
  readonly gate?: boolean;
  /** Whose failures on `current` are counted. */
  readonly peer?: string;
}

/**
 * The dashboard PIN in `dashboard-pin.json` (0600): `{pin_hash, salt, params: {N, r, p}, set_at, failed_attempts, locked_until,
 * lock_seconds, ends_ms, clock, peers: {<peer>: {failed_attempts, locked_until, lock_seconds, ends_ms, known}}}`, hash and salt in hex,
 * times in seconds since 1970, `ends_ms` by the lived time `clock`; `{"pin_hash": null}` once cleared.
 *
 * All checks and changes of the PIN run one at a time, from a bounded queue: one hash takes 32 MiB and a tenth of a second of a
 * core, and parallel guesses would count as one on the ladder.
 */
export class PinStore {
  readonly #options: PinOptions;
  #stored: Stored = { kind: 'broken', problem: 'not loaded yet' };
  readonly #ladder: PinLadder;
  readonly #turns = new Serial();

  constructor(options: PinOptions) {
    this.#options = options;
    this.#ladder = new PinLadder(options.now, options.lived);
  }

  /** Reads the file. Never fails: an error is in `problem`. */
  async start(): Promise<void> {
    const { file, log } = this.#options;
    this.#stored = await readStored(file);
    if (this.#stored.kind === 'broken') log.error(`dashboard PIN: ${this.#stored.problem}`);
    if (this.#stored.kind === 'set') this.#ladder.restore(this.#stored.ladder);
  }

  async stop(): Promise<void> {
    await this.#turns.idle();
  }

  /** Why the file is not used, null while it is. */
  get problem(): string | null {
    return this.#stored.kind === 'broken' ? this.#stored.problem : null;
  }

  /** A text that changes with every change of the PIN, so that sessions can be bound to it. Not secret. */
  get fingerprint(): string {
    return this.#stored.kind === 'set' ? this.#stored.record.salt.toString('hex') : this.#stored.kind;
  }

  /** @param peer whose lock is reported */
  status(peer = ''): PinStatus {
    const left = this.#ladder.left(peer);
    return { set: this.#stored.kind !== 'unset', locked: left !== null, retry_after_s: left };
  }

  /**
   * Checks a PIN. `granted` runs before anything else can change the PIN, so that the next change revokes the session
   * that it opens.
   * @throws ApiError E_INVALID_VALUE (no PIN at all), E_UNAUTHENTICATED with `remaining_attempts` (wrong; or none is set),
   *   E_LOCKED, E_RATE_LIMITED (too many wait), E_STORE (the file is broken, or a failure could not be stored)
   */
  async verify(pin: string, peer?: string): Promise<void>;
  async verify<T>(pin: string, peer: string, granted: () => Promise<T> | T): Promise<T>;
  async verify<T>(pin: string, peer = '', granted?: () => Promise<T> | T): Promise<T | undefined> {
    checkPin(pin);
    this.#refuseWhileLocked(peer);
    return this.#inTurn(MAX_WAITING, async () => {
      await this.#prove(pin, peer);
      return granted?.();
    });
  }

  /**
   * Sets or changes the PIN; ends a lock, and calls `onChange`.
   * @throws ApiError as `verify`; E_UNAUTHENTICATED for a caller who may not; E_STORE: nothing was changed
   */
  async set(pin: string, options: SetOptions): Promise<void>;
  async set<T>(pin: string, options: SetOptions, granted: () => Promise<T> | T): Promise<T>;
  async set<T>(pin: string, options: SetOptions, granted?: () => Promise<T> | T): Promise<T | undefined> {
    const { current, trusted, gate, peer = '' } = options;
    checkPin(pin);
    return this.#inTurn(trusted ? MAX_WAITING_TRUSTED : MAX_WAITING, async () => {
      const mayFirst = this.#stored.kind === 'unset' && gate === true;
      if (!trusted && !mayFirst) {
        if (this.#stored.kind === 'unset' || current === undefined)
          throw new ApiError(
            'E_UNAUTHENTICATED',
            'Setting the PIN needs the pairing key, a dashboard session or the current PIN.',
          );
        checkPin(current);
        await this.#prove(current, peer);
      }
      const salt = randomBytes(SALT_BYTES);
      const hash = await this.#hash(pin, salt, PARAMS);
      await this.#write(
        { hash, salt, params: PARAMS, setAt: this.#options.now() / 1000 },
        new PinLadder(this.#options.now, this.#options.lived),
      );
      this.#ladder.reset();
      await this.#options.onChange?.();
      return granted?.();
    });
  }

  /** Clears the PIN, even if its file is broken; calls `onChange`. @throws ApiError E_STORE, E_RATE_LIMITED */
  async clear(): Promise<void> {
    await this.#inTurn(MAX_WAITING_TRUSTED, async () => {
      await this.#write(null);
      this.#ladder.reset();
      await this.#options.onChange?.();
    });
  }

  /** Runs in turn. Returns if `pin` is right, else throws. */
  async #prove(pin: string, peer: string): Promise<void> {
    if (this.#stored.kind === 'broken')
      throw new ApiError('E_STORE', 'The PIN file cannot be used. Set a new PIN with the pairing key.');
    if (this.#stored.kind === 'unset')
      throw new ApiError('E_UNAUTHENTICATED', 'No dashboard PIN is set on this node.', {
        remaining_attempts: 0,
      });
    this.#refuseWhileLocked(peer); // again: earlier calls in the queue may have locked it
    const { record } = this.#stored;
    if (timingSafeEqual(await this.#hash(pin, record.salt, record.params), record.hash)) {
      await this.#forgetFailures(record, peer);
      return;
    }
    await this.#countFailure(record, peer);
  }

  async #forgetFailures(record: PinRecord, peer: string): Promise<void> {
    if (!this.#ladder.forgive(peer)) return;
    try {
      await this.#write(record);
    } catch (error) {
      // The right PIN is accepted even if the disk is full; after a restart the old failures still count, which is the safe
      // side.
      this.#options.log.warn(`dashboard PIN: old failures could not be cleared on disk: ${messageOf(error)}`);
    }
  }

  /** Always throws: the answer to a wrong PIN. */
  async #countFailure(record: PinRecord, peer: string): Promise<never> {
    // Counted before it is written: a disk error must not make guesses free.
    const { free, lockS } = this.#ladder.fail(peer);
    await this.#write(record);
    if (lockS > 0) this.#options.log.warn(`dashboard PIN: ${peer} is locked for ${lockS} s`);
    this.#refuseWhileLocked(peer);
    throw new ApiError('E_UNAUTHENTICATED', 'The PIN is wrong.', { remaining_attempts: free });
  }

  #refuseWhileLocked(peer: string): void {
    const left = this.#ladder.left(peer);
    if (left === null) return;
    throw new ApiError(
      'E_LOCKED',
      undefined,
      { remaining_attempts: 0, retry_after_s: left },
      { 'retry-after': String(left) },
    );
  }

  async #hash(pin: string, salt: Buffer, { N, r, p }: ScryptParams): Promise<Buffer> {
    const { onHash } = this.#options;
    onHash?.(1);
    try {
      return await derive(pin, salt, { N, r, p, maxmem: 256 * N * r * p });
    } finally {
      onHash?.(-1);
    }
  }

  async #inTurn<T>(maxWaiting: number, work: () => Promise<T>): Promise<T> {
    if (this.#turns.size > maxWaiting)
      throw new ApiError('E_RATE_LIMITED', undefined, {}, { 'retry-after': '1' });
    return this.#turns.run(work);
  }

  /** @param record null for no PIN */
  async #write(record: PinRecord | null, ladder = this.#ladder): Promise<void> {
    const { file, log } = this.#options;
    const content =
      record === null
        ? { pin_hash: null }
        : {
            pin_hash: record.hash.toString('hex'),
            salt: record.salt.toString('hex'),
            params: record.params,
            set_at: record.setAt,
            ...ladder.stored(),
          };
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o755 });
      await writeAtomic(file, `${JSON.stringify(content, null, 2)}\n`, 0o600);
    } catch (error) {
      const why = `The file of the PIN could not be written: ${messageOf(error)}.`;
      log.error(why);
      throw new ApiError('E_STORE', why);
    }
    this.#stored = record === null ? { kind: 'unset' } : { kind: 'set', record, ladder: ladder.stored() };
  }
}

function checkPin(pin: string): void {
  if (!PIN.test(pin)) throw new ApiError('E_INVALID_VALUE', 'A PIN is 4 to 12 digits.');
}

async function derive(pin: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(pin, salt, HASH_BYTES, options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

async function readStored(file: string): Promise<Stored> {
  try {
    const text = await readPrivate(file);
    return text === null ? { kind: 'unset' } : parseStored(file, text);
  } catch (error) {
    return { kind: 'broken', problem: `${file} cannot be used: ${messageOf(error)}` };
  }
}

/** @throws SyntaxError for what is not JSON */
function parseStored(file: string, text: string): Stored {
  const broken: Stored = { kind: 'broken', problem: `${file} does not hold a PIN` };
  const record: unknown = JSON.parse(text);
  if (!isRecord(record)) return broken;
  if (record['pin_hash'] === null) return { kind: 'unset' };
  const hash = hexBytes(record['pin_hash'], HASH_BYTES);
  const salt = hexBytes(record['salt'], SALT_BYTES);
  const params = scryptParams(record['params']);
  const ladder = parseLadder(record);
  if (hash === null || salt === null || params === null || ladder === null) return broken;
  const setAt = typeof record['set_at'] === 'number' ? record['set_at'] : 0;
  return { kind: 'set', record: { hash, salt, params, setAt }, ladder };
}

function hexBytes(value: unknown, bytes: number): Buffer | null {
  return typeof value === 'string' && value.length === 2 * bytes && /^[0-9a-f]+$/.test(value)
    ? Buffer.from(value, 'hex')
    : null;
}

/** Within limits, so that the file cannot make one attempt take a gigabyte, or no work at all. */
function scryptParams(value: unknown): ScryptParams | null {
  const { N, r, p } = recordOf(value);
  if (typeof N !== 'number' || typeof r !== 'number' || typeof p !== 'number') return null;
  const sane = Number.isInteger(Math.log2(N)) && N >= 2 ** 14 && N <= 2 ** 17 && r === 8 && p === 1;
  return sane ? { N, r, p } : null;
}
