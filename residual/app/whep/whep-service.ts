import { randomBytes } from 'node:crypto';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Calls } from '../../../shared/rpc/contract.ts';
import type { Trickled, VIDEO, ViewerOpened } from '../../../shared/rpc/video.ts';

interface WhepOptions {
  /** svc-video, with the viewers that it has told of. */
  readonly engine: {
    readonly viewers: readonly { readonly id: string; readonly owner: Principal }[];
    readonly calls: Pick<Calls<typeof VIDEO>, 'viewer_open' | 'viewers_end' | 'viewer_trickle'>;
  };
  readonly maxViewers: number;
  /** Throws ApiError E_NO_PIPELINE if there is no video. */
  readonly check: () => void;
  /** How many watch in another way. */
  readonly others: () => number;
}

interface OpenPlayback extends ViewerOpened {
  readonly id: string;
}

/**
 * The signalling of WHEP (draft-ietf-wish-whep): who may watch, and the owner of each playback. svc-video runs the playbacks
 * and reports each start and end before it answers; while svc-video is away there are none.
 */
export class WhepService {
  readonly #options: WhepOptions;
  /** Sessions that are being opened, with their owner, and whether the owner has ended since. */
  readonly #opening = new Map<string, { readonly owner: Principal; ended: boolean }>();

  constructor(options: WhepOptions) {
    this.#options = options;
  }

  /** Playbacks, with those that are being opened. */
  get count(): number {
    return new Set([...this.#options.engine.viewers.map(({ id }) => id), ...this.#opening.keys()]).size;
  }

  /** @throws ApiError E_NO_PIPELINE, E_VIEWERS, E_BAD_REQUEST */
  async open(offer: string, { kind, id: of, scopes }: Principal): Promise<OpenPlayback> {
    const owner = { kind, id: of, scopes }; // what one call of the fleet proved besides is over with it
    const { check, engine, maxViewers, others } = this.#options;
    check();
    if (this.count + others() >= maxViewers) throw tooMany(maxViewers);
    const id = randomBytes(16).toString('hex');
    const opening = { owner, ended: false };
    this.#opening.set(id, opening);
    try {
      const opened = await engine.calls.viewer_open({ id, owner, offer });
      if (opening.ended) {
        await engine.calls.viewers_end({ ids: [id], why: ENDED });
        throw new ApiError('E_UNAUTHENTICATED');
      }
      return { id, ...opened };
    } finally {
      this.#opening.delete(id);
    }
  }

  /**
   * Takes the client's further candidates, or begins ICE anew.
   * @param ifMatch the header, null without one
   * @throws ApiError E_NOT_FOUND, E_PRECONDITION, E_BAD_REQUEST, E_BUSY
   */
  async trickle(id: string, fragment: string, ifMatch: string | null, caller: Principal): Promise<Trickled> {
    this.#find(id, caller);
    return this.#options.engine.calls.viewer_trickle({ id, fragment, if_match: ifMatch });
  }

  /** @throws ApiError E_NOT_FOUND */
  async end(id: string, caller: Principal): Promise<void> {
    this.#find(id, caller);
    await this.#options.engine.calls.viewers_end({ ids: [id], why: 'ended by the client' });
  }

  /** Ends the playbacks of these principals. @returns the other viewers */
  async endOf(ids: ReadonlySet<string>): Promise<readonly Principal[]> {
    const { engine } = this.#options;
    for (const opening of this.#opening.values()) if (ids.has(opening.owner.id)) opening.ended = true;
    const ended = engine.viewers.filter(({ owner }) => ids.has(owner.id));
    if (ended.length > 0)
      await engine.calls.viewers_end({ ids: ended.map((viewer) => viewer.id), why: ENDED });
    return engine.viewers.map(({ owner }) => owner);
  }

  /** A token, and a caller of the fleet, see only their own sessions; others see all. */
  #find(id: string, caller: Principal): void {
    const found = this.#options.engine.viewers.find((viewer) => viewer.id === id);
    const bounded = caller.kind === 'token' || caller.kind === 'fleet';
    const foreign = bounded && found?.owner.id !== caller.id;
    if (found === undefined || foreign) throw new ApiError('E_NOT_FOUND', `No playback ${id}.`);
  }
}

/** @param max viewers of all kinds */
export function tooMany(max: number): ApiError {
  return new ApiError('E_VIEWERS', `${max} are watching already.`, {}, { 'retry-after': '10' });
}

const ENDED = 'its credential has ended';
