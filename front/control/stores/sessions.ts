import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import type { Principal } from '../../../shared/auth/principal.ts';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { putAside } from '../../../shared/files/put-aside.ts';
import { asRecord } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { dashboardSessions, pinVerifyAnswer } from '../../../shared/schemas/dashboard.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import { secretHash } from '../edge/credentials.ts';
import type { EndedCredentials } from './ended.ts';
import type { Lived } from './lived-time.ts';

const LIFE_S = 24 * 60 * 60;
const LIFE_MS = LIFE_S * 1000;
const MAX_SESSIONS = 32;
const ID_OF = 'session:';
/** How far the clock may have been set back since a session whose age only the wall clock tells was opened. */
const MAX_STEP_BACK_MS = 60_000;

interface Session {
  readonly hash: Buffer;
  /** Wall clock, ms. */
  readonly openedAt: number;
  readonly expiresAt: number;
  /** Lived, ms. */
  readonly deadline: number;
  /** The binding at the time when it was opened. */
  readonly binding: string;
  readonly principal: Principal;
  /** What it was opened on (`deviceName`); null: not known. */
  readonly device: string | null;
  /** When and from where it was last used, in this process. */
  seen: { readonly at: number; readonly ip: string } | null;
}

/** A session as it is shown to people. Times in seconds since 1970. */
type ShownSession = Omit<Made<typeof dashboardSessions>['sessions'][number], 'current'>;

interface SessionOptions {
  readonly file: string;
  readonly ended: EndedCredentials;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly lived: Lived;
  readonly log: Logger;
  /**
   * The state that sessions depend on, as one text (the PIN's fingerprint and the pairing). A session is valid only while this
   * is the same as when it was opened, so that a crash between a change and its revocation does not bring one back.
   */
  readonly binding: () => string;
}

type OpenedSession = Made<typeof pinVerifyAnswer>;

/**
 * Dashboard sessions, at most 32, each 24 h: in memory, and their hashes in `sessions.json` (0600), so that nobody is signed
 * out by a restart of svc-control: `{binding, clock, sessions: [{hash, opened_at, expires_at, ends_ms, device}]}`, times in seconds since
 * 1970; `ends_ms` is by the lived time `clock`, which alone ends a session.
 */
export class SessionStore {
  readonly #options: SessionOptions;
  /** Oldest first. */
  #sessions: readonly Session[] = [];
  readonly #writes = new Serial();
  #problem: string | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Restores the sessions of the former process. Call it after the PIN and the pairing are loaded. Never fails. */
  async start(): Promise<void> {
    const { file, log } = this.#options;
    try {
      const text = await readPrivate(file);
      if (text !== null) this.#sessions = this.#parse(JSON.parse(text));
    } catch (error) {
      // An invalid file gives no sessions; users sign in again.
      this.#problem = `${await putAside(file, error)} Everybody signs in again.`;
      log.warn(`sessions: ${this.#problem}`);
    }
  }

  /** What was wrong with the file at the start; null for nothing. */
  get problem(): string | null {
    return this.#problem;
  }

  async stop(): Promise<void> {
    await this.#writes.idle();
  }

  get size(): number {
    return this.#sessions.filter((session) => this.#isLive(session)).length;
  }

  /**
   * Opens a session; the 33rd ends the oldest. Resolves when it is on disk, or when writing failed, which is logged.
   * @param device for people (`deviceName`); null: not known
   */
  async open(device: string | null = null): Promise<OpenedSession> {
    const { now, lived } = this.#options;
    const secret = randomBytes(32).toString('base64url');
    const openedAt = now();
    const session = entry(secretHash(secret), openedAt, lived.now() + LIFE_MS, this.#binding(), device);
    this.#sessions = [...this.#sessions.filter((other) => this.#isLive(other)), session].slice(-MAX_SESSIONS);
    await this.#persist();
    return { session: secret, expires_at: session.expiresAt / 1000, ttl_seconds: LIFE_S };
  }

  /**
   * Ends the session of the principal with this id and opens another with what is left of its time, so that a session that moves lasts
   * no longer for it. @returns null if it is not valid
   */
  async move(id: string): Promise<OpenedSession | null> {
    const former = this.#sessions.find(({ principal }) => principal.id === id);
    if (former === undefined || !this.#isLive(former)) return null;
    const secret = randomBytes(32).toString('base64url');
    const { openedAt, deadline, binding, device } = former;
    const session = entry(secretHash(secret), openedAt, deadline, binding, device);
    this.#sessions = this.#sessions.map((other) => (other === former ? session : other));
    await this.#persist();
    const leftMs = session.deadline - this.#options.lived.now();
    return {
      session: secret,
      expires_at: session.expiresAt / 1000,
      ttl_seconds: Math.max(0, Math.ceil(leftMs / 1000)),
    };
  }

  /** The principal of a session; null if it is not valid. */
  check(value: string): Principal | null {
    if (this.#sessions.length === 0) return null;
    const offered = secretHash(value);
    let found: Session | null = null;
    // Compares with all of them, so that the time does not reveal which one matched.
    for (const session of this.#sessions) if (timingSafeEqual(offered, session.hash)) found = session;
    return found !== null && this.#isLive(found) ? found.principal : null;
  }

  /** Whether the session of the principal with this id is still valid; for connections that outlive their request. */
  holds(id: string): boolean {
    return this.#sessions.some((session) => session.principal.id === id && this.#isLive(session));
  }

  /** Notes a use of the session of the principal with this id, if it is one. */
  seen(id: string, ip: string): void {
    if (!id.startsWith(ID_OF)) return;
    for (const session of this.#sessions)
      if (session.principal.id === id) session.seen = { at: this.#options.now(), ip };
  }

  /** Oldest first. */
  list(): readonly ShownSession[] {
    return this.#sessions
      .filter((session) => this.#isLive(session))
      .map(({ principal, openedAt, expiresAt, seen, device }) => ({
        id: principal.id.slice(ID_OF.length),
        created_at: openedAt / 1000,
        expires_at: expiresAt / 1000,
        last_seen_at: seen === null ? null : seen.at / 1000,
        peer: seen?.ip ?? null,
        device,
      }));
  }

  /** Ends one session at once; resolves when the file is written, with false if there is no such session. */
  async end(id: string): Promise<boolean> {
    if (!this.holds(sessionId(id))) return false;
    this.#sessions = this.#sessions.filter(({ principal }) => principal.id !== sessionId(id));
    await this.#persist();
    return true;
  }

  /** Ends every session at once; resolves when the file is written. */
  async revokeAll(): Promise<void> {
    if (this.#sessions.length === 0) return; // nothing to write
    this.#sessions = [];
    await this.#persist();
  }

  #isLive(session: Session): boolean {
    const { lived, ended } = this.#options;
    const isPast = lived.now() >= session.deadline; // the clock may be set right meanwhile, by years
    const ending = {
      kind: 'session',
      id: session.hash.toString('hex'),
      expiresAt: session.expiresAt,
    } as const;
    return !ended.isOver(ending, isPast) && session.binding === this.#binding();
  }

  #binding(): string {
    return hash('sha256', this.#options.binding(), 'hex');
  }

  /** Writes one after the other, each with the sessions at that time. */
  async #persist(): Promise<void> {
    const { file, lived, log } = this.#options;
    await this.#writes.run(async () => {
      const live = this.#sessions.filter((session) => this.#isLive(session));
      const sessions = live.map(({ hash: digest, openedAt, expiresAt, deadline, device }) => ({
        hash: digest.toString('hex'),
        opened_at: openedAt / 1000,
        expires_at: expiresAt / 1000,
        ends_ms: deadline,
        device,
      }));
      try {
        await mkdir(dirname(file), { recursive: true });
        await writeAtomic(
          file,
          `${JSON.stringify({ binding: this.#binding(), clock: lived.id, sessions }, null, 2)}\n`,
          0o600,
        );
      } catch (error) {
        // The sessions in memory stay valid. An old file does no harm: after a change its binding does not match.
        log.error(`sessions: cannot write ${file}: ${messageOf(error)}`);
      }
    });
  }

  /** @throws Error if it does not have the format of this store */
  #parse(value: unknown): readonly Session[] {
    const { binding, clock, sessions } = asRecord(value);
    if (!Array.isArray(sessions) || typeof binding !== 'string')
      throw new Error('it lacks binding or sessions');
    if (binding !== this.#binding()) return [];
    const { now, lived } = this.#options;
    const wall = now();
    return sessions
      .slice(-MAX_SESSIONS)
      .flatMap((item: unknown) => {
        const { hash: digest, opened_at: opened, ends_ms: ends, device } = asRecord(item);
        if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/.test(digest) || typeof opened !== 'number')
          throw new Error('a session lacks its hash or its time');
        const openedAt = opened * 1000;
        // The end is computed from the start, so that no file can make a session longer than 24 h.
        const isKnown = clock === lived.id && typeof ends === 'number';
        // Of an older version, or the lived time was lost: the wall clock is all there is, and one that was set back revives nothing.
        if (!isKnown && openedAt > wall + MAX_STEP_BACK_MS) return [];
        const left = Math.min(isKnown ? ends - lived.now() : openedAt + LIFE_MS - wall, LIFE_MS);
        const known = typeof device === 'string' ? device : null;
        return [entry(Buffer.from(digest, 'hex'), openedAt, lived.now() + left, binding, known)];
      })
      .filter((session) => this.#isLive(session));
  }
}

function entry(
  digest: Buffer,
  openedAt: number,
  deadline: number,
  binding: string,
  device: string | null,
): Session {
  return {
    hash: digest,
    openedAt,
    expiresAt: openedAt + LIFE_MS,
    deadline,
    binding,
    device,
    principal: Object.freeze({
      kind: 'session',
      id: sessionId(digest.toString('hex', 0, 4)),
      scopes: null,
    }),
    seen: null,
  };
}

/** The id of the principal of a session. */
export function sessionId(id: string): string {
  return `${ID_OF}${id}`;
}
