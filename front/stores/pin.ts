import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { readPrivate } from '../../shared/files/private-file.ts';
import type { Logger } from '../../shared/logger.ts';

const PIN = /^[0-9]{4,12}$/;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
const PARAMS: ScryptParams = { N: 2 ** 15, r: 8, p: 1 };
/** From so many failures in a row on, every further failure locks for so long. The highest step that fits holds. */
const LADDER = [
  { failures: 15, lockS: 1800 },
  { failures: 10, lockS: 300 },
  { failures: 5, lockS: 30 },
] as const;
const FREE_FAILURES = 4;
const LONGEST_LOCK_S = LADDER[0].lockS;
/** Beyond the one that runs. Trusted callers get more, so that a flood of guesses does not keep the owner out. */
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
  readonly failures: number;
  /** Wall clock, seconds since 1970; 0 for no lock. For whoever opens the file next; a running store goes by `#lockEnd`. */
  readonly lockedUntil: number;
  readonly lockS: number;
}

/** What is on disk. An unreadable file keeps the PIN set and lets nobody in by it. */
type Stored =
  | { readonly kind: 'unset' }
  | { readonly kind: 'set'; readonly record: PinRecord }
  | { readonly kind: 'broken'; readonly problem: string };

export interface PinStatus {
  readonly set: boolean;
  readonly locked: boolean;
  /** Whole seconds until the next attempt counts, null while it would now. */
  readonly retry_after_s: number | null;
}

export interface PinOptions {
  readonly file: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
  /** The PIN was changed or cleared; awaited before the answer goes out and before the next attempt is looked at. */
  readonly onChange?: () => Promise<void> | void;
  /** For tests: a hash begins (+1) or ended (-1). */
  readonly onHash?: (step: 1 | -1) => void;
}

export interface SetOptions {
  /** The PIN that holds now; what an untrusted caller proves himself with. Counts on the ladder. */
  readonly current?: string | undefined;
  /** On-box, pairing key or valid session: needs no proof. */
  readonly trusted: boolean;
  /** May set the first PIN without proof (trust on first use). */
  readonly gate?: boolean;
}

/**
 * The dashboard PIN in `dashboard-pin.json` (0600): `{pin_hash, salt, params: {N, r, p}, set_at, failed_attempts,
 * locked_until, lock_seconds}`, hash and salt in hex, times in seconds since 1970; `{"pin_hash": null}` once cleared.
 *
 * Everything that looks at or changes the PIN happens one at a time, in a bounded line: one hash takes 32 MiB and a
 * tenth of a second of a core, and guesses that race each other would share one place on the ladder.
 */
export class PinStore {
  readonly #options: PinOptions;
  #stored: Stored = { kind: 'broken', problem: 'not loaded yet' };
  /** Monotonic ms; a running store does not go by the wall clock, which anybody's NTP server moves. */
  #lockEnd = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #inLine = 0;

  constructor(options: PinOptions) {
    this.#options = options;
  }

  /** Reads the file. Never fails: what cannot be read shows in `problem`. */
  async start(): Promise<void> {
    const { file, log, now, monotonic } = this.#options;
    this.#stored = await readStored(file);
    if (this.#stored.kind === 'broken') log.error(`dashboard PIN: ${this.#stored.problem}`);
    if (this.#stored.kind !== 'set') return;
    const { lockedUntil, lockS } = this.#stored.record;
    // A clock that was set back since would make the lock longer than it is; one that reads 1970 starts it anew.
    const leftS = Math.min(lockedUntil - now() / 1000, lockS);
    this.#lockEnd = leftS > 0 ? monotonic() + leftS * 1000 : 0;
  }

  async stop(): Promise<void> {
    await this.#tail;
  }

  /** Why the file is not used, null while it is. */
  get problem(): string | null {
    return this.#stored.kind === 'broken' ? this.#stored.problem : null;
  }

  /** Another text after every change of the PIN; what hangs on the PIN can be bound to it. No secret. */
  get fingerprint(): string {
    return this.#stored.kind === 'set' ? this.#stored.record.salt.toString('hex') : this.#stored.kind;
  }

  status(): PinStatus {
    const left = this.#lockLeft();
    return { set: this.#stored.kind !== 'unset', locked: left !== null, retry_after_s: left };
  }

  /**
   * Checks a PIN. `granted` runs before anything else can change the PIN, so that what it hands out is revoked by the
   * next change.
   * @throws ApiError E_INVALID_VALUE (no PIN at all), E_UNAUTHENTICATED with `remaining_attempts` (wrong; or none is set),
   *   E_LOCKED, E_RATE_LIMITED (too many wait), E_STORE (the file is broken, or a failure could not be written down)
   */
  async verify(pin: string): Promise<void>;
  async verify<T>(pin: string, granted: () => Promise<T> | T): Promise<T>;
  async verify<T>(pin: string, granted?: () => Promise<T> | T): Promise<T | undefined> {
    checkPin(pin);
    this.#refuseWhileLocked();
    return this.#inTurn(MAX_WAITING, async () => {
      await this.#prove(pin);
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
    const { current, trusted, gate } = options;
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
        await this.#prove(current);
      }
      const salt = randomBytes(SALT_BYTES);
      await this.#write({
        hash: await this.#hash(pin, salt, PARAMS),
        salt,
        params: PARAMS,
        setAt: this.#options.now() / 1000,
        failures: 0,
        lockedUntil: 0,
        lockS: 0,
      });
      this.#lockEnd = 0;
      await this.#options.onChange?.();
      return granted?.();
    });
  }

  /** Forgets the PIN, also one whose file is broken; calls `onChange`. @throws ApiError E_STORE, E_RATE_LIMITED */
  async clear(): Promise<void> {
    await this.#inTurn(MAX_WAITING_TRUSTED, async () => {
      await this.#write(null);
      this.#lockEnd = 0;
      await this.#options.onChange?.();
    });
  }

  /** In turn. Returns when `pin` is the PIN. */
  async #prove(pin: string): Promise<void> {
    if (this.#stored.kind === 'broken')
      throw new ApiError('E_STORE', 'The PIN file cannot be used. Set a new PIN with the pairing key.');
    if (this.#stored.kind === 'unset')
      throw new ApiError('E_UNAUTHENTICATED', 'No dashboard PIN is set on this node.', {
        remaining_attempts: 0,
      });
    this.#refuseWhileLocked(); // again: those before us in line may have locked it
    const { record } = this.#stored;
    if (timingSafeEqual(await this.#hash(pin, record.salt, record.params), record.hash)) {
      await this.#forgetFailures(record);
      return;
    }
    await this.#countFailure(record);
  }

  async #forgetFailures(record: PinRecord): Promise<void> {
    if (record.failures === 0) return;
    const next = { ...record, failures: 0, lockedUntil: 0, lockS: 0 };
    try {
      await this.#write(next);
    } catch (error) {
      // The right PIN on a full disk still lets in; should the node restart, the old failures count on, which errs closed.
      this.#options.log.warn(`dashboard PIN: failures stay counted on disk: ${messageOf(error)}`);
      this.#stored = { kind: 'set', record: next };
    }
  }

  /** Always throws: the answer to a wrong PIN. */
  async #countFailure(record: PinRecord): Promise<never> {
    const { now, monotonic, log } = this.#options;
    const failures = record.failures + 1;
    const lockS = LADDER.find((step) => failures >= step.failures)?.lockS ?? 0;
    const lockedUntil = lockS === 0 ? 0 : now() / 1000 + lockS;
    const next = { ...record, failures, lockedUntil, lockS };
    // Counted here before it is written: a disk that cannot be written must not mean free guesses.
    this.#stored = { kind: 'set', record: next };
    this.#lockEnd = lockS === 0 ? 0 : monotonic() + lockS * 1000;
    await this.#write(next);
    if (lockS > 0) log.warn(`dashboard PIN: locked for ${lockS} s after ${failures} failures`);
    this.#refuseWhileLocked();
    throw new ApiError('E_UNAUTHENTICATED', 'The PIN is wrong.', {
      remaining_attempts: FREE_FAILURES + 1 - failures,
    });
  }

  #lockLeft(): number | null {
    const left = this.#lockEnd - this.#options.monotonic();
    return left > 0 ? Math.ceil(left / 1000) : null;
  }

  #refuseWhileLocked(): void {
    const left = this.#lockLeft();
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
    if (this.#inLine > maxWaiting)
      throw new ApiError('E_RATE_LIMITED', undefined, {}, { 'retry-after': '1' });
    this.#inLine++;
    const result = this.#tail.then(work).finally(() => {
      this.#inLine--;
    });
    this.#tail = result.catch(() => undefined); // whoever asked gets the error; the next in line must still run
    return result;
  }

  /** @param record null for no PIN */
  async #write(record: PinRecord | null): Promise<void> {
    const { file, log } = this.#options;
    const content =
      record === null
        ? { pin_hash: null }
        : {
            pin_hash: record.hash.toString('hex'),
            salt: record.salt.toString('hex'),
            params: record.params,
            set_at: record.setAt,
            failed_attempts: record.failures,
            locked_until: record.lockedUntil,
            lock_seconds: record.lockS,
          };
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o755 });
      await writeAtomic(file, `${JSON.stringify(content, null, 2)}\n`, 0o600);
    } catch (error) {
      log.error(`dashboard PIN: cannot write ${file}: ${messageOf(error)}`);
      throw new ApiError('E_STORE', 'The PIN file could not be written. The log holds the reason.');
    }
    this.#stored = record === null ? { kind: 'unset' } : { kind: 'set', record };
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
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return broken;
  const record = value as Readonly<Record<string, unknown>>;
  if (record['pin_hash'] === null) return { kind: 'unset' };
  const hash = hexBytes(record['pin_hash'], HASH_BYTES);
  const salt = hexBytes(record['salt'], SALT_BYTES);
  const params = scryptParams(record['params']);
  const { failed_attempts: failures, locked_until: lockedUntil, lock_seconds: lockS } = record;
  if (hash === null || salt === null || params === null) return broken;
  if (!isCount(failures) || !isCount(lockedUntil) || !isCount(lockS)) return broken;
  const setAt = isCount(record['set_at']) ? record['set_at'] : 0;
  return {
    kind: 'set',
    record: {
      hash,
      salt,
      params,
      setAt,
      failures: Math.floor(failures),
      lockedUntil,
      lockS: Math.min(lockS, LONGEST_LOCK_S),
    },
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function hexBytes(value: unknown, bytes: number): Buffer | null {
  return typeof value === 'string' && value.length === 2 * bytes && /^[0-9a-f]+$/.test(value)
    ? Buffer.from(value, 'hex')
    : null;
}

/** Within bounds, so that the file cannot make one attempt take a gigabyte or no work at all. */
function scryptParams(value: unknown): ScryptParams | null {
  if (typeof value !== 'object' || value === null) return null;
  const { N, r, p } = value as Readonly<Record<string, unknown>>;
  if (typeof N !== 'number' || typeof r !== 'number' || typeof p !== 'number') return null;
  const sane = Number.isInteger(Math.log2(N)) && N >= 2 ** 14 && N <= 2 ** 17 && r === 8 && p === 1;
  return sane ? { N, r, p } : null;
}
