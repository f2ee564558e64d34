import { every } from '../../../shared/async/every.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { ParamsOf } from '../../../shared/rpc/contract.ts';
import type { VIDEO, ViewerStatus } from '../../../shared/rpc/video.ts';
import type { AccessUnit } from '../engine/picture.ts';
import { packetize, rtpTimestamp } from '../engine/rtp-h264.ts';
import type { Encode } from './adaptation.ts';
import { MainNeed } from './main-need.ts';
import { parseFragment } from './sdp.ts';
import type { Viewer, ViewerHooks } from './viewer.ts';

/** One set of hooks a viewer. */
export type OpenViewer = (offer: string, hooks: ViewerHooks) => Promise<Viewer>;

interface ViewersOptions {
  readonly open: OpenViewer;
  /** The next picture of that encode is to be a key frame. */
  readonly requestKey: (encode: Encode) => void;
  /** The rate of the small encode that the viewers need now, kbit/s; null while none needs it. */
  readonly onSmall: (kbps: number | null) => void;
  /** A viewer came or went. */
  readonly onChange: () => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

const LIMITS = {
  /** From the answer to the first connection. */
  connectMs: 10_000,
  /** A browser reports about every second; a silent one is dropped within ten. */
  silenceMs: 8000,
  /** As long as a dashboard session. */
  lifeMs: 24 * 3600 * 1000,
  watchMs: 500,
  /** How often the viewers' paths are looked at: as often as a browser reports. */
  adaptMs: 50,
} as const;

interface Session {
  readonly id: string;
  readonly owner: ViewerStatus['owner'];
  readonly viewer: Viewer;
  readonly openedAt: number;
  heardAt: number;
  /** Removes our listener from the connection that it was opened on. */
  readonly release: () => void;
}

/** The WebRTC playbacks: their owners, their time limits, and their pictures. */
export class Viewers {
  readonly #options: ViewersOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #need = new MainNeed();
  #watch: NodeJS.Timeout | null = null;
  #adapting: NodeJS.Timeout | null = null;

  constructor(options: ViewersOptions) {
    this.#options = options;
  }

  get watched(): boolean {
    return this.#sessions.size > 0;
  }

  get list(): readonly ViewerStatus[] {
    return [...this.#sessions.values()].map(({ id, owner, viewer }) => ({ id, owner, path: viewer.path }));
  }

  /**
   * @param connection aborted when the caller disconnects: then the playback could not be ended with its owner any more
   * @throws ApiError E_BAD_REQUEST
   */
  async open(
    { id, owner, offer }: ParamsOf<typeof VIDEO, 'viewer_open'>,
    connection: AbortSignal,
  ): Promise<{ readonly answer: string }> {
    const { now, open, requestKey, log } = this.#options;
    const hear = (): void => {
      const session = this.#sessions.get(id);
      if (session !== undefined) session.heardAt = now();
    };
    const viewer = await open(offer, {
      onKeyWanted: requestKey,
      needKbps: () => this.#need.kbps(now() * 1000),
      now,
      onConnected: () => {
        hear();
        requestKey('main');
      },
      onHeard: hear,
      onGone: (why) => this.#end(id, why),
    });
    if (connection.aborted || this.#sessions.has(id)) {
      await viewer.close();
      throw new ApiError('E_BAD_REQUEST', `There is a playback ${id} already.`);
    }
    const hungUp = (): void => this.#end(id, 'the node cannot end it any more');
    connection.addEventListener('abort', hungUp);
    const release = (): void => connection.removeEventListener('abort', hungUp);
    const at = now();
    this.#sessions.set(id, { id, owner, viewer, openedAt: at, heardAt: at, release });
    log.info(`whep: ${owner.kind} ${owner.id} watches, ${this.#sessions.size} in all`);
    this.#changed();
    return { answer: viewer.answer };
  }

  /**
   * Takes the client's further candidates.
   * @throws ApiError E_NOT_FOUND, E_BAD_REQUEST, E_INVALID_VALUE for an ICE restart
   */
  async trickle(id: string, fragment: string): Promise<void> {
    const viewer = this.#sessions.get(id)?.viewer;
    if (viewer === undefined) throw new ApiError('E_NOT_FOUND', `No playback ${id}.`);
    const { candidates, ufrag } = parseFragment(fragment);
    if (!viewer.isSameIce(ufrag))
      throw new ApiError(
        'E_INVALID_VALUE',
        'ICE restarts are not supported. End this session and send a new offer.',
      );
    for (const candidate of candidates) await viewer.addCandidate(candidate);
  }

  /** Ends those that exist. */
  end(ids: readonly string[], why: string): void {
    for (const id of ids) this.#end(id, why);
  }

  push(encode: Encode, unit: AccessUnit): void {
    if (encode === 'main') this.#need.push(unit);
    if (this.#sessions.size === 0) return;
    const parts = packetize(unit.data);
    const timestamp = rtpTimestamp(unit.at);
    for (const { viewer } of this.#sessions.values()) viewer.send(encode, parts, timestamp, unit.key);
  }

  stop(): void {
    this.end([...this.#sessions.keys()], 'the node stops');
  }

  #end(id: string, why: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    const { log } = this.#options;
    const { owner, viewer } = session;
    session.release();
    viewer.close().catch((error: unknown) => log.warn(`whep: closing: ${messageOf(error)}`));
    log.info(`whep: ${owner.kind} ${owner.id} is gone (${why}), ${this.#sessions.size} left`);
    this.#changed();
  }

  #changed(): void {
    const watched = this.#sessions.size > 0;
    this.#options.onChange();
    if (watched) {
      this.#watch ??= every(LIMITS.watchMs, 'whep', () => this.#dropGone());
      this.#adapting ??= every(LIMITS.adaptMs, 'whep paths', () => this.#adapt());
      return;
    }
    for (const timer of [this.#watch, this.#adapting]) if (timer !== null) clearInterval(timer);
    this.#watch = null;
    this.#adapting = null;
    this.#options.onSmall(null);
  }

  /** The thinnest path decides over the one small encode. */
  #adapt(): void {
    let small: number | null = null;
    for (const { viewer } of this.#sessions.values()) {
      viewer.adapt();
      const wanted = viewer.smallKbps;
      if (wanted !== null) small = Math.min(small ?? wanted, wanted);
    }
    this.#options.onSmall(small);
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
