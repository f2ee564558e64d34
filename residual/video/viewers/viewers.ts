import { createHash, randomBytes } from 'node:crypto';
import { every } from '../../../shared/async/every.ts';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { AccessUnit } from '../engine/picture.ts';
import { packetize, rtpTimestamp } from '../rtp-h264.ts';
import { parseFragment } from './sdp.ts';
import type { Viewer, ViewerHooks } from './viewer.ts';

export interface WhepOptions {
  readonly maxViewers: number;
  /** Throws ApiError E_NO_PIPELINE where there is nothing to watch. */
  readonly check: () => void;
  readonly open: (offer: string, hooks: ViewerHooks) => Promise<Viewer>;
  /** Whether anybody watches. */
  readonly onWatched: (watched: boolean) => void;
  readonly requestKey: () => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

export interface Opened {
  readonly id: string;
  readonly etag: string;
  readonly answer: string;
}

const LIMITS = {
  /** From the answer to the first connection. */
  connectMs: 10_000,
  /** A browser reports every second or so; one that vanished is dropped within ten. */
  silenceMs: 8000,
  /** As long as a dashboard session. */
  lifeMs: 24 * 3600 * 1000,
  watchMs: 500,
} as const;

interface Session {
  readonly id: string;
  readonly etag: string;
  readonly owner: Principal;
  readonly viewer: Viewer;
  readonly openedAt: number;
  heardAt: number;
}

/** The WHEP sessions (draft-ietf-wish-whep): who watches, until when, and the pictures for each of them. */
export class WhepService {
  readonly #options: WhepOptions;
  readonly #sessions = new Map<string, Session>();
  /** Who is about to watch, and whether he has ended meanwhile. */
  readonly #opening = new Set<{ readonly owner: Principal; ended: boolean }>();
  #watch: NodeJS.Timeout | null = null;

  constructor(options: WhepOptions) {
    this.#options = options;
  }

  get viewers(): number {
    return this.#sessions.size;
  }

  /** @throws ApiError E_NO_PIPELINE, E_VIEWERS, E_BAD_REQUEST */
  async open(offer: string, owner: Principal): Promise<Opened> {
    const { check, maxViewers, now, open, requestKey, log } = this.#options;
    check();
    if (this.#sessions.size + this.#opening.size >= maxViewers)
      throw new ApiError('E_VIEWERS', `${maxViewers} are watching already.`, {}, { 'retry-after': '10' });
    const id = randomBytes(16).toString('hex');
    const opening = { owner, ended: false };
    this.#opening.add(opening);
    try {
      const hear = (): void => {
        const session = this.#sessions.get(id);
        if (session !== undefined) session.heardAt = now();
      };
      const viewer = await open(offer, {
        onKeyWanted: requestKey,
        onConnected: () => {
          hear();
          requestKey();
        },
        onHeard: hear,
        onGone: (why) => this.#end(id, why),
      });
      if (opening.ended) {
        await viewer.close();
        throw new ApiError('E_UNAUTHENTICATED');
      }
      const etag = `"${createHash('sha256').update(id).digest('hex').slice(0, 16)}"`;
      const at = now();
      this.#sessions.set(id, { id, etag, owner, viewer, openedAt: at, heardAt: at });
      log.info(`whep: ${owner.kind} ${owner.id} watches, ${this.#sessions.size} in all`);
      this.#changed();
      return { id, etag, answer: viewer.answer };
    } finally {
      this.#opening.delete(opening);
    }
  }

  /**
   * Takes the client's further candidates.
   * @param ifMatch the header, null without one
   * @throws ApiError E_NOT_FOUND, E_PRECONDITION, E_BAD_REQUEST, E_INVALID_VALUE for an ICE restart
   */
  async trickle(id: string, fragment: string, ifMatch: string | null, caller: Principal): Promise<void> {
    const { etag, viewer } = this.#find(id, caller);
    if (ifMatch !== null && ifMatch !== '*' && ifMatch !== etag) throw new ApiError('E_PRECONDITION');
    const { candidates, ufrag } = parseFragment(fragment);
    if (ifMatch === '*' || !viewer.isSameIce(ufrag))
      throw new ApiError(
        'E_INVALID_VALUE',
        'ICE restarts are not supported. End this session and offer anew.',
      );
    for (const candidate of candidates) await viewer.addCandidate(candidate);
  }

  /** @throws ApiError E_NOT_FOUND */
  end(id: string, caller: Principal): void {
    this.#find(id, caller);
    this.#end(id, 'ended by the client');
  }

  /** Ends what these principals watch. @returns who else watches */
  endOf(ids: ReadonlySet<string>): readonly Principal[] {
    for (const { id, owner } of this.#sessions.values())
      if (ids.has(owner.id)) this.#end(id, 'its credential has ended');
    for (const opening of this.#opening) if (ids.has(opening.owner.id)) opening.ended = true;
    return [...this.#sessions.values()].map(({ owner }) => owner);
  }

  push(unit: AccessUnit): void {
    if (this.#sessions.size === 0) return;
    const parts = packetize(unit.data);
    const timestamp = rtpTimestamp(unit.at);
    for (const { viewer } of this.#sessions.values()) viewer.send(parts, timestamp, unit.key);
  }

  stop(): void {
    for (const id of this.#sessions.keys()) this.#end(id, 'the node stops');
  }

  /** A token sees only what it opened itself; for everybody else every session is the operator's. */
  #find(id: string, caller: Principal): Session {
    const session = this.#sessions.get(id);
    const foreign = caller.kind === 'token' && session?.owner.id !== caller.id;
    if (session === undefined || foreign) throw new ApiError('E_NOT_FOUND', `There is no playback ${id}.`);
    return session;
  }

  #end(id: string, why: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    const { log } = this.#options;
    session.viewer.close().catch((error: unknown) => log.warn(`whep: closing: ${messageOf(error)}`));
    log.info(`whep: ${session.owner.kind} ${session.owner.id} is gone (${why}), ${this.#sessions.size} left`);
    this.#changed();
  }

  #changed(): void {
    const watched = this.#sessions.size > 0;
    this.#options.onWatched(watched);
    if (watched && this.#watch === null) this.#watch = every(LIMITS.watchMs, 'whep', () => this.#dropGone());
    if (!watched && this.#watch !== null) {
      clearInterval(this.#watch);
      this.#watch = null;
    }
  }

  #dropGone(): void {
    const now = this.#options.now();
    for (const { id, viewer, openedAt, heardAt } of this.#sessions.values()) {
      if (!viewer.connected) {
        if (now - openedAt > LIMITS.connectMs) this.#end(id, 'it never connected');
      } else if (now - heardAt > LIMITS.silenceMs) this.#end(id, 'it fell silent');
      else if (now - openedAt > LIMITS.lifeMs) this.#end(id, 'its time is over');
    }
  }
}
