import { Serial } from '../../../shared/async/serial.ts';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { putAside } from '../../../shared/files/put-aside.ts';
import type { Lock } from '../../../shared/http/edge/rate.ts';
import { asRecord } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Lived } from './lived-time.ts';

/** Shortest time between two writes: many locks may come at once, and share one write. */
const WRITE_MS = 2000;
const MAX_BYTES = 1024 * 1024;

interface PeerLockOptions {
  readonly file: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly lived: Lived;
  readonly log: Logger;
}

/**
 * The locks of peers with failed credentials, in `peer-locks.json` (0600), so that they survive a restart of svc-control:
 * `{clock, locks: [{peer, locked_until, ends_ms, next_lock_ms}]}`, `locked_until` in seconds since 1970, `ends_ms` by the lived time `clock`.
 */
export class PeerLocks {
  readonly #options: PeerLockOptions;
  readonly #locks: () => readonly Lock[];
  #timer: NodeJS.Timeout | null = null;
  #isStale = false;
  readonly #writes = new Serial();
  #problem: string | null = null;

  /** @param locks those in force */
  constructor(options: PeerLockOptions, locks: () => readonly Lock[]) {
    this.#options = options;
    this.#locks = locks;
  }

  /** The locks of the former process. Never fails: an unusable file gives no locks. */
  async read(): Promise<readonly Lock[]> {
    const { file, now, lived, log } = this.#options;
    try {
      const text = await readPrivate(file, MAX_BYTES);
      return text === null ? [] : parse(JSON.parse(text), now(), lived);
    } catch (error) {
      this.#problem = `${await putAside(file, error)} Locks of addresses after wrong credentials begin anew.`;
      log.warn(`locks: ${this.#problem}`);
      return [];
    }
  }

  /** What was wrong with the file at the start; null for nothing. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Writes a new lock at once, and those that follow soon after together. */
  changed(): void {
    this.#isStale = true;
    if (this.#timer === null) this.#flush();
  }

  async stop(): Promise<void> {
    if (this.#isStale) this.#flush();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#writes.idle();
  }

  #flush(): void {
    const { file, log } = this.#options;
    this.#isStale = false;
    this.#writes
      .run(async () => this.#write())
      .catch((error: unknown) => log.error(`locks: cannot write ${file}: ${messageOf(error)}`));
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#isStale) this.#flush();
    }, WRITE_MS);
  }

  async #write(): Promise<void> {
    const { file, now, lived } = this.#options;
    const locks = this.#locks().map(({ peer, leftMs, nextLockMs }) => ({
      peer,
      locked_until: (now() + leftMs) / 1000,
      ends_ms: lived.now() + leftMs,
      next_lock_ms: nextLockMs,
    }));
    await writeAtomic(file, `${JSON.stringify({ clock: lived.id, locks })}\n`, 0o600);
  }
}

/** @throws Error if it does not have the format of `PeerLocks` */
function parse(value: unknown, now: number, lived: Lived): readonly Lock[] {
  const { clock, locks } = asRecord(value);
  if (!Array.isArray(locks)) throw new Error('it lacks its locks');
  return locks.flatMap((item: unknown) => {
    const { peer, locked_until: until, ends_ms: ends, next_lock_ms: next } = asRecord(item);
    if (typeof peer !== 'string' || typeof until !== 'number' || typeof next !== 'number')
      throw new Error('a lock lacks its peer or its time');
    // The wall clock, of an older version's file, may have been set back by years: no lock is longer than the one after it.
    const isKnown = clock === lived.id && typeof ends === 'number';
    const leftMs = Math.min(isKnown ? ends - lived.now() : until * 1000 - now, next);
    return leftMs > 0 ? [{ peer, leftMs, nextLockMs: next }] : [];
  });
}
